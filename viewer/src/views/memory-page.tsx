/** One memory on a page of its own: where a link or a search result leads. */

import { useQuery } from "@tanstack/react-query";
import { ChevronRight } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { useChangedLately } from "../api/live.ts";
import { memoryQuery } from "../api/queries.ts";
import { useKeys } from "../components/keys.tsx";
import { Link } from "../components/link.tsx";
import { Bar, Failed } from "../components/states.tsx";
import { back, go, urls } from "../route.ts";
import { Actions, Artifacts, Facts, Keywords, Sections, Summary } from "./memory-card.tsx";
import { useMemoryActions } from "./memory-actions.ts";
import { MemoryEdit } from "./memory-edit.tsx";
import { Transcript } from "./transcript.tsx";

export function MemoryPage({ id, q }: { id: string; q: string }) {
  const { data: memory, error, refetch } = useQuery(memoryQuery(id));
  const [editing, setEditing] = useState(false);
  const scroller = useRef<HTMLDivElement>(null);
  const { opened } = useMemoryActions();
  const changed = useChangedLately(id);
  const wordless = memory?.has_transcript === false;
  useEffect(() => {
    // Where there is a conversation, asking for its first page is the opening.
    if (wordless) void opened(id);
  }, [wordless, id]);
  const title = memory?.title;
  useEffect(() => {
    if (title) document.title = `${title} · Neurigraph`;
  }, [title]);
  const home = memory
    ? urls.place({ at: "focused", broad: memory.broad_id, focused: memory.focused_id })
    : "/";
  useKeys(
    useMemo(
      () => ({
        Escape: () => back(home),
        g: () => go("/?view=graph"),
        f: () => go(`${home}?view=feed`),
        t: () => go(`${home}?view=table`),
        r: () => go(`${home}?view=tree`),
        e: () => setEditing(true),
      }),
      [home],
    ),
  );

  if (error) return <Failed page error={error} retry={() => void refetch()} />;
  return (
    <div ref={scroller} className="reading min-h-0 grow overflow-y-auto px-3 py-4 sm:px-6">
      <div className="mx-auto max-w-3xl rounded-2xl border border-line bg-surface px-4 pt-3 pb-6 sm:px-8 sm:pt-5">
        {!memory ? (
          <div className="space-y-4 py-4" aria-busy>
            <Bar className="h-3 w-48" />
            <Bar className="h-6 w-2/3" />
            <Bar className="h-3 w-full" />
            <Bar className="h-3 w-full" />
          </div>
        ) : (
          <div className={`rounded-xl ${changed ? "flash" : ""}`}>
            <nav aria-label="Where it is kept" className="mb-2">
              <ol className="flex flex-wrap items-center text-[14px] text-ink-soft">
                {(
                  [
                    ["All topics", "/"],
                    [memory.broad, urls.place({ at: "broad", broad: memory.broad_id })],
                    [memory.focused, home],
                  ] as const
                ).map(([name, href], at) => (
                  <li key={href} className="flex items-center">
                    {at > 0 && <ChevronRight aria-hidden size={14} className="mx-1 text-ink-quiet" />}
                    <Link href={href} className="rounded hover:text-ink hover:underline">
                      {name}
                    </Link>
                  </li>
                ))}
              </ol>
            </nav>
            {editing ? (
              <MemoryEdit memory={memory} onDone={() => setEditing(false)} />
            ) : (
              <>
                <div className="flex items-start gap-3">
                  <h1 className="grow text-[22px] leading-snug font-semibold tracking-tight text-balance">
                    {memory.title}
                  </h1>
                  <Actions memory={memory} onEdit={() => setEditing(true)} leaving />
                </div>
                <div className="mt-1.5">
                  <Facts memory={memory} place={{ at: "focused", broad: "", focused: "" }} />
                </div>
                <div className="mt-2">
                  <Summary memory={memory} full />
                </div>
                <Sections memory={memory} />
                <div className="mt-3 flex flex-wrap items-center gap-1.5">
                  <Keywords
                    memory={memory}
                    onKeyword={(keyword) => go(urls.place({ at: "all" }, "feed", { keyword }))}
                  />
                  <Artifacts memory={memory} />
                </div>
              </>
            )}
            {memory.has_transcript && (
              <div className="mt-4 border-t border-line pt-1">
                <Transcript id={id} q={q} scroller={scroller} />
              </div>
            )}
          </div>
        )}
      </div>
    </div>
  );
}
