/** A topic in detail: what it is, how warm, what it is joined to, and what can be done with it. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ArrowLeft, ArrowRight, Ellipsis, EyeOff, Flame, Link2, Palette, Pencil, Trash2, X } from "lucide-react";
import { useMemo, useState, type ReactNode } from "react";
import { api } from "../api/client.ts";
import { broadQuery, edgesQuery, memoriesQuery, refresh } from "../api/queries.ts";
import type { NamedEdge, Node } from "../api/shapes.ts";
import { Button, IconButton } from "../components/button.tsx";
import { Link } from "../components/link.tsx";
import { MenuButton } from "../components/menu.tsx";
import { Bar } from "../components/states.tsx";
import { TemperatureMark } from "../components/temperature.tsx";
import { complain, say } from "../notices.ts";
import { urls, type Place } from "../route.ts";
import { count, lastOpened, memories, momentOf } from "../words.ts";
import { AddEdge, DeleteTopic, EditEdge, EditTopic } from "./node-dialogs.tsx";

type Doing = "edit" | "connect" | "delete" | NamedEdge | null;
const SAMPLE = 100;
const KEYWORDS = 12;
/** Connections shown at first; a topic may have thousands. */
const A_TIME = 20;

export function NodePanel({ node }: { node: Node }) {
  const queries = useQueryClient();
  const [doing, setDoing] = useState<Doing>(null);
  const stop = () => setDoing(null);

  async function warm() {
    try {
      const { warmed, left } = await api.warm(node.id);
      const still = left > 0 ? ` ${memories(left)} stay cold for now.` : "";
      say(warmed > 0 ? `${memories(warmed)} warmed.${still}` : `Nothing in it was cold.${still}`);
      refresh(queries, "memories");
    } catch (error) {
      complain(error);
    }
  }

  return (
    <div className="space-y-5">
      <div>
        <div className="flex items-center gap-2.5">
          <span aria-hidden className="size-3.5 shrink-0 rounded-full" style={{ background: node.color }} />
          <h2 className="min-w-0 grow text-[17px] font-semibold break-words">{node.name}</h2>
          <MenuButton
            label={`What to do with “${node.name}”`}
            icon={Ellipsis}
            entries={[
              { label: "Rename", icon: Pencil, run: () => setDoing("edit") },
              { label: "Recolour", icon: Palette, run: () => setDoing("edit") },
              { label: "Delete", icon: Trash2, danger: true, run: () => setDoing("delete") },
            ]}
          />
        </div>
        {node.description && <p className="mt-1.5 text-ink-soft">{node.description}</p>}
        <p className="mt-2">
          <TemperatureMark value={node.temperature} />
        </p>
        <p className="text-[14px] text-ink-quiet tabular-nums">
          {memories(node.counts.memories)}
          {node.kind === "broad" && ` in ${count(node.focused, "topic")}`}
          <br />
          <span title={momentOf(node.last_accessed)}>{lastOpened(node.last_accessed)}</span>
        </p>
        {node.private && (
          <p className="mt-1 flex items-center gap-1.5 text-[14px] text-ink-quiet">
            <EyeOff aria-hidden size={14} /> Private: no AI is shown it
          </p>
        )}
      </div>
      <div className="flex flex-wrap gap-2">
        <Button icon={Flame} onClick={() => void warm()}>
          Warm
        </Button>
        <Button icon={Link2} onClick={() => setDoing("connect")}>
          Connect
        </Button>
      </div>
      <NodeKeywords node={node} />
      <Edges node={node} onEdit={setDoing} />
      {doing === "edit" && <EditTopic node={node} onClose={stop} />}
      {doing === "connect" && <AddEdge node={node} onClose={stop} />}
      {doing === "delete" && <DeleteTopic node={node} onClose={stop} />}
      {doing !== null && typeof doing === "object" && <EditEdge edge={doing} onClose={stop} />}
    </div>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section>
      <h3 className="mb-1.5 text-[13px] font-semibold text-ink-quiet">{title}</h3>
      {children}
    </section>
  );
}

/** The words that its newest memories have most often. */
function NodeKeywords({ node }: { node: Node }) {
  const { data } = useQuery(memoriesQuery(node.id, { sort: "date", order: "desc" }, 1, SAMPLE));
  const place: Place = node.parent
    ? { at: "focused", broad: node.parent, focused: node.id }
    : { at: "broad", broad: node.id };
  const words = useMemo(() => {
    const counts = new Map<string, number>();
    for (const memory of data?.items ?? []) {
      for (const keyword of memory.keywords) counts.set(keyword, (counts.get(keyword) ?? 0) + 1);
    }
    return [...counts].sort((a, b) => b[1] - a[1]).slice(0, KEYWORDS);
  }, [data]);
  if (words.length === 0) return null;
  return (
    <Part title="Keywords">
      <ul className="flex flex-wrap gap-1.5">
        {words.map(([keyword]) => (
          <li key={keyword}>
            <Link
              href={urls.place(place, "feed", { keyword })}
              className="rounded-full bg-sunken px-2.5 py-0.5 text-[13px] text-ink-soft hover:bg-accent-soft hover:text-accent"
            >
              {keyword}
            </Link>
          </li>
        ))}
      </ul>
    </Part>
  );
}

function Edges({ node, onEdit }: { node: Node; onEdit: (edge: NamedEdge) => void }) {
  const queries = useQueryClient();
  const broad = useQuery(broadQuery);
  const { data: edges, error } = useQuery(edgesQuery(node.id));
  const [shown, setShown] = useState(A_TIME);

  function placeOf(id: string, path: string): Place | null {
    const topic = broad.data?.find(({ path: name }) => name === path.split("/")[0]);
    if (!topic) return null;
    return topic.id === id
      ? { at: "broad", broad: id }
      : { at: "focused", broad: topic.id, focused: id };
  }

  async function remove(edge: NamedEdge) {
    const { source, target, relationship, weight } = edge;
    try {
      await api.deleteEdge(edge);
      refresh(queries, "edges");
      const undo = () =>
        void api
          .makeEdge({ source, target, relationship, weight })
          .then(() => refresh(queries, "edges"), complain);
      say("The connection is gone.", { label: "Undo", run: undo });
    } catch (failed) {
      complain(failed);
    }
  }

  return (
    <Part title={edges?.length ? count(edges.length, "connection") : "Connections"}>
      {error && <p className="text-danger">{error.message}</p>}
      {!edges && !error && <Bar className="h-3 w-40" />}
      {edges?.length === 0 && <p className="text-[14px] text-ink-quiet">Not joined to anything yet.</p>}
      <ul className="-mx-2">
        {edges?.slice(0, shown).map((edge) => {
          const outward = edge.source === node.id || node.kind === "broad";
          const other = outward ? edge.target : edge.source;
          const place = placeOf(other, outward ? edge.target_path : edge.source_path);
          const name = outward ? edge.target_name : edge.source_name;
          const Arrow = outward ? ArrowRight : ArrowLeft;
          const between = node.kind === "broad" && edge.source !== node.id ? `${edge.source_name} ` : "";
          return (
            <li
              key={`${edge.source} ${edge.relationship} ${edge.target}`}
              className="group flex items-center gap-1.5 rounded-lg px-2 py-1 text-[14px] hover:bg-sunken"
            >
              <span className="min-w-0 grow">
                <span className="flex items-center gap-1.5">
                  {between && <span className="truncate text-ink-soft">{between}</span>}
                  <Arrow aria-label={outward ? "to" : "from"} size={13} className="shrink-0 text-ink-quiet" />
                  {place ? (
                    <Link href={urls.place(place)} className="truncate rounded hover:underline">
                      {name}
                    </Link>
                  ) : (
                    <span className="truncate">{name}</span>
                  )}
                </span>
                <span className="block text-[13px] text-ink-quiet tabular-nums">
                  {edge.relationship.replaceAll("_", " ")} · {edge.weight.toFixed(1)}
                  {edge.derived && " · found in text"}
                </span>
              </span>
              {!edge.derived && (
                <span className="flex shrink-0">
                  <IconButton label={`Change the connection to ${name}`} icon={Pencil} className="!size-7" onClick={() => onEdit(edge)} />
                  <IconButton label={`Remove the connection to ${name}`} icon={X} className="!size-7" onClick={() => void remove(edge)} />
                </span>
              )}
            </li>
          );
        })}
      </ul>
      {edges && edges.length > shown && (
        <Button tone="quiet" className="-ml-3" onClick={() => setShown(shown + 5 * A_TIME)}>
          Show more
        </Button>
      )}
    </Part>
  );
}
