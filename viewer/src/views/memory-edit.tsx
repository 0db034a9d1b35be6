/** Editing a memory in place. A change made elsewhere meanwhile is shown, never overwritten unseen. */

import { useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent, type KeyboardEvent } from "react";
import { api, changedElsewhere, type MemoryChange } from "../api/client.ts";
import { place, refresh } from "../api/queries.ts";
import type { Memory } from "../api/shapes.ts";
import { Button } from "../components/button.tsx";
import { Field, fieldClass } from "../components/dialog.tsx";
import { say } from "../notices.ts";

type Draft = Record<"title" | "summary" | "keywords" | "decisions" | "open_questions", string>;
type Part = keyof Draft;

const PARTS: [part: Part, label: string][] = [
  ["title", "Title"],
  ["summary", "Summary"],
  ["keywords", "Keywords"],
  ["decisions", "Decisions"],
  ["open_questions", "Open questions"],
];

export function draftOf(memory: Memory): Draft {
  const { title, summary, keywords, decisions, open_questions } = memory;
  return { title, summary, keywords: keywords.join(", "), decisions, open_questions };
}

const words = (text: string) => [
  ...new Set(
    text
      .split(/[,\n]/)
      .map((word) => word.trim())
      .filter(Boolean),
  ),
];

/** What the draft changes of what it began from. */
export function changesOf(draft: Draft, begun: Draft): MemoryChange {
  const change: MemoryChange = {};
  for (const [part] of PARTS) {
    if (draft[part] === begun[part]) continue;
    if (part === "keywords") change.keywords = words(draft.keywords);
    else change[part] = draft[part].trim();
  }
  return change;
}

export function MemoryEdit({ memory, onDone }: { memory: Memory; onDone: () => void }) {
  const queries = useQueryClient();
  const [begun, setBegun] = useState(() => draftOf(memory));
  const [draft, setDraft] = useState(begun);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const now = draftOf(memory);
  // Only what was changed here and there at once needs a person's eye; the rest is taken over.
  const clashes = PARTS.filter(([part]) => now[part] !== begun[part] && draft[part] !== now[part]);

  function takeTheirs(part: Part) {
    setDraft({ ...draft, [part]: now[part] });
    setBegun({ ...begun, [part]: now[part] });
  }

  async function save(event?: FormEvent) {
    event?.preventDefault();
    const untouched = { ...draft };
    for (const [part] of PARTS) if (draft[part] === begun[part]) untouched[part] = now[part];
    const change = changesOf(untouched, now);
    if (Object.keys(change).length === 0) {
      onDone();
      return;
    }
    if (change.title === "") {
      setError("A memory needs a title.");
      return;
    }
    setBusy(true);
    setError("");
    try {
      const made = await api.changeMemory(memory, change);
      place(queries, made);
      refresh(queries, "memories");
      say("Saved.");
      onDone();
    } catch (failed) {
      const current = changedElsewhere(failed);
      if (current) {
        // The card is drawn again from what is there now, and shows the differences.
        place(queries, current);
        setError("It was changed elsewhere meanwhile. Have a look, then save again.");
      } else setError(failed instanceof Error ? failed.message : String(failed));
    } finally {
      setBusy(false);
    }
  }

  function press(event: KeyboardEvent) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      void save();
    } else if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      onDone();
    }
  }

  const field = (part: Part) => ({
    value: draft[part],
    onChange: (event: { target: { value: string } }) =>
      setDraft({ ...draft, [part]: event.target.value }),
    className: fieldClass,
  });
  return (
    <form onSubmit={(event) => void save(event)} onKeyDown={press} className="space-y-3">
      {PARTS.map(([part, label]) => (
        <div key={part}>
          <Field label={label} {...(part === "keywords" ? { hint: "Separated by commas" } : {})}>
            {part === "title" || part === "keywords" ? (
              <input {...field(part)} autoFocus={part === "title"} />
            ) : (
              <textarea {...field(part)} rows={part === "summary" ? 6 : 2} />
            )}
          </Field>
          {clashes.some(([clash]) => clash === part) && (
            <div className="mt-1 rounded-lg bg-danger-soft px-3 py-2 text-[14px]">
              <p className="font-medium text-danger">Changed elsewhere meanwhile. It now says:</p>
              <p className="mt-1 max-h-32 overflow-y-auto whitespace-pre-line text-ink">
                {now[part] || "(nothing)"}
              </p>
              <Button className="mt-2" onClick={() => takeTheirs(part)}>
                Take this one
              </Button>
            </div>
          )}
        </div>
      ))}
      {error && (
        <p role="alert" className="text-danger">
          {error}
        </p>
      )}
      <div className="flex justify-end gap-2">
        <Button tone="quiet" onClick={onDone}>
          Cancel
        </Button>
        <Button tone="accent" type="submit" disabled={busy}>
          {clashes.length ? "Save mine" : "Save"}
        </Button>
      </div>
    </form>
  );
}
