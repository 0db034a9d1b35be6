/** Making, changing, connecting and deleting topics. */

import { useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent, type ReactNode } from "react";
import { api, ApiError, type NodeChange } from "../api/client.ts";
import { refresh } from "../api/queries.ts";
import type { NamedEdge, Node } from "../api/shapes.ts";
import { Button } from "../components/button.tsx";
import { Dialog, Field, fieldClass } from "../components/dialog.tsx";
import { say } from "../notices.ts";
import { TopicPicker } from "../components/topic-picker.tsx";
import { go, urls } from "../route.ts";
import { memories } from "../words.ts";

/** Colours that tell topics apart on both pages, light and dark. */
const COLORS = [
  "#6366f1", "#8b5cf6", "#ab4aba", "#e54666", "#e5484d", "#f76b15",
  "#d09e00", "#30a46c", "#0d9488", "#0091ff", "#8d6e63", "#7c8594",
];

interface FormProps {
  send: () => Promise<void>;
  label: string;
  danger?: boolean;
  ready?: boolean;
  onClose: () => void;
  children: ReactNode;
}

/** A form that says what went wrong and stays open until it worked. */
function Form({ send, label, danger = false, ready = true, onClose, children }: FormProps) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState("");
  async function submit(event: FormEvent) {
    event.preventDefault();
    setBusy(true);
    setError("");
    try {
      await send();
      onClose();
    } catch (failed) {
      setError(failed instanceof Error ? failed.message : String(failed));
      setBusy(false);
    }
  }
  return (
    <form onSubmit={(event) => void submit(event)} className="space-y-4">
      {children}
      {error && (
        <p role="alert" className="text-danger">
          {error}
        </p>
      )}
      <div className="flex justify-end gap-2 pt-1">
        <Button tone="quiet" onClick={onClose}>
          Cancel
        </Button>
        <Button tone={danger ? "danger" : "accent"} type="submit" disabled={busy || !ready}>
          {label}
        </Button>
      </div>
    </form>
  );
}

function ColorField({ value, onChange }: { value: string; onChange: (color: string) => void }) {
  const known = COLORS.includes(value.toLowerCase());
  return (
    <fieldset>
      <legend className="mb-1.5 text-[13px] font-medium text-ink-soft">Colour</legend>
      <div className="flex flex-wrap items-center gap-2">
        {COLORS.map((color) => (
          <label key={color} className="grid size-7 cursor-pointer place-items-center rounded-full has-checked:ring-2 has-checked:ring-accent has-focus-visible:ring-2 has-focus-visible:ring-accent">
            <input
              type="radio"
              name="color"
              className="sr-only"
              aria-label={color}
              checked={value.toLowerCase() === color}
              onChange={() => onChange(color)}
            />
            <span className="size-5 rounded-full" style={{ background: color }} />
          </label>
        ))}
        <label className={`flex items-center gap-1.5 rounded-full pl-1 text-[13px] text-ink-quiet ${known ? "" : "text-accent"}`}>
          <input type="color" value={/^#[0-9a-f]{6}$/i.test(value) ? value : "#6366f1"} onChange={(event) => onChange(event.target.value)} className="h-7 w-8 cursor-pointer rounded" />
          Other
        </label>
      </div>
    </fieldset>
  );
}

export function NewTopic({ parent, onClose }: { parent: Node | null; onClose: () => void }) {
  const queries = useQueryClient();
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const [color, setColor] = useState(parent ? "#8b5cf6" : "#6366f1");
  async function send() {
    const body = { name: name.trim(), description: description.trim(), color };
    const made = parent ? await api.makeFocused(parent.id, body) : await api.makeBroad(body);
    refresh(queries, "nodes");
    say(`“${made.name}” is there.`);
  }
  return (
    <Dialog title={parent ? `New topic within ${parent.name}` : "New topic"} open onClose={onClose}>
      <Form send={send} label="Make it" ready={name.trim() !== ""} onClose={onClose}>
        <Field label="Name">
          <input autoFocus value={name} onChange={(event) => setName(event.target.value)} className={fieldClass} />
        </Field>
        <Field label="Description">
          <input value={description} onChange={(event) => setDescription(event.target.value)} className={fieldClass} />
        </Field>
        <ColorField value={color} onChange={setColor} />
      </Form>
    </Dialog>
  );
}

const sameWords = (a: Node, b: Node) =>
  a.name === b.name &&
  a.description === b.description &&
  a.color === b.color &&
  a.private === b.private;

export function EditTopic({ node, onClose }: { node: Node; onClose: () => void }) {
  const queries = useQueryClient();
  // What the form began from: a change made elsewhere meanwhile must not be undone unseen.
  const [begun, setBegun] = useState(node);
  const [name, setName] = useState(node.name);
  const [description, setDescription] = useState(node.description);
  const [color, setColor] = useState(node.color);
  const [hidden, setHidden] = useState(node.private);
  async function send() {
    const change: NodeChange = {};
    if (name.trim() !== begun.name) change.name = name.trim();
    if (description.trim() !== begun.description) change.description = description.trim();
    if (color !== begun.color) change.color = color;
    if (hidden !== begun.private) change.private = hidden;
    if (Object.keys(change).length === 0) return;
    const done = (made: Node) => {
      queries.setQueryData(["nodes", "one", made.kind, made.id], made);
      refresh(queries, "nodes", "edges", "memories");
    };
    try {
      done(await api.changeNode(begun, change));
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 409) throw error;
      const now = await api.node(node.kind, node.id);
      queries.setQueryData(["nodes", "one", node.kind, node.id], now);
      if (now.version === begun.version) throw error;
      if (sameWords(now, begun)) {
        // Only something else about it changed, such as a connection.
        done(await api.changeNode(now, change));
        return;
      }
      setBegun(now);
      throw new Error(
        `It was changed elsewhere meanwhile: it is now called “${now.name}”${now.description ? `, described as “${now.description}”` : ""}. Save again to put yours in its place.`,
      );
    }
  }
  return (
    <Dialog title={`Change “${node.name}”`} open onClose={onClose}>
      <Form send={send} label="Save" ready={name.trim() !== ""} onClose={onClose}>
        <Field label="Name" hint="Renaming moves its folder; every link to it follows.">
          <input autoFocus value={name} onChange={(event) => setName(event.target.value)} className={fieldClass} />
        </Field>
        <Field label="Description">
          <textarea rows={2} value={description} onChange={(event) => setDescription(event.target.value)} className={fieldClass} />
        </Field>
        <ColorField value={color} onChange={setColor} />
        <label className="flex items-start gap-2.5">
          <input type="checkbox" checked={hidden} onChange={(event) => setHidden(event.target.checked)} className="mt-1 accent-(--accent-fill)" />
          <span>
            Private
            <span className="block text-[13px] text-ink-quiet">No AI is shown it, nor anything in it.</span>
          </span>
        </label>
      </Form>
    </Dialog>
  );
}

export function DeleteTopic({ node, onClose }: { node: Node; onClose: () => void }) {
  const queries = useQueryClient();
  const held = node.counts.memories > 0 || node.focused > 0;
  async function send() {
    await api.deleteNode(await api.node(node.kind, node.id), held);
    refresh(queries, "nodes", "edges", "memories");
    say(`“${node.name}” is in the vault’s trash.`);
    go(node.parent ? urls.place({ at: "broad", broad: node.parent }) : "/");
  }
  return (
    <Dialog title={`Delete “${node.name}”?`} open onClose={onClose}>
      <Form send={send} label="Delete it" danger onClose={onClose}>
        <p className="text-ink-soft">
          {held ? `Its ${memories(node.counts.memories)} go with it. ` : "It is empty. "}
          The folder moves to .trash in the vault, from where it can be put back by hand.
        </p>
      </Form>
    </Dialog>
  );
}

const RELATIONSHIPS = ["related_to", "depends_on", "see_also"];

function EdgeFields(props: { kind: string; weight: number; onKind: (kind: string) => void; onWeight: (weight: number) => void }) {
  return (
    <>
      <Field label="Relationship">
        <input list="relationships" value={props.kind} onChange={(event) => props.onKind(event.target.value)} className={fieldClass} />
        <datalist id="relationships">
          {RELATIONSHIPS.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      </Field>
      <Field label={`Weight: ${props.weight.toFixed(1)}`} hint="Above 0.5, opening one also decompresses the other.">
        <input type="range" min={0} max={1} step={0.1} value={props.weight} onChange={(event) => props.onWeight(Number(event.target.value))} className="w-full accent-(--accent-fill)" />
      </Field>
    </>
  );
}

export function AddEdge({ node, onClose }: { node: Node; onClose: () => void }) {
  const queries = useQueryClient();
  const [target, setTarget] = useState<{ id: string; label: string } | null>(null);
  const [kind, setKind] = useState("related_to");
  const [weight, setWeight] = useState(1);
  const [self] = useState([node.id]);
  async function send() {
    if (!target) return;
    await api.makeEdge({ source: node.id, target: target.id, relationship: kind.trim(), weight });
    refresh(queries, "edges");
  }
  return (
    <Dialog title={`Connect “${node.name}”`} open onClose={onClose}>
      {target ? (
        <Form send={send} label="Connect" ready={kind.trim() !== ""} onClose={onClose}>
          <p>
            <span className="text-ink-quiet">to</span> {target.label}
            <Button tone="quiet" onClick={() => setTarget(null)}>
              Another
            </Button>
          </p>
          <EdgeFields kind={kind} weight={weight} onKind={setKind} onWeight={setWeight} />
        </Form>
      ) : (
        <TopicPicker label="Topic to connect to" without={self} broadToo={node.kind === "broad"} onPick={(id, label) => setTarget({ id, label })} />
      )}
    </Dialog>
  );
}

export function EditEdge({ edge, onClose }: { edge: NamedEdge; onClose: () => void }) {
  const queries = useQueryClient();
  const [kind, setKind] = useState(edge.relationship);
  const [weight, setWeight] = useState(edge.weight);
  async function send() {
    const change: { weight?: number; relationship?: string } = {};
    if (weight !== edge.weight) change.weight = weight;
    if (kind.trim() !== edge.relationship) change.relationship = kind.trim();
    if (Object.keys(change).length > 0) await api.changeEdge(edge, change);
    refresh(queries, "edges");
  }
  return (
    <Dialog title={`${edge.source_name} → ${edge.target_name}`} open onClose={onClose}>
      <Form send={send} label="Save" ready={kind.trim() !== ""} onClose={onClose}>
        <EdgeFields kind={kind} weight={weight} onKind={setKind} onWeight={setWeight} />
      </Form>
    </Dialog>
  );
}
