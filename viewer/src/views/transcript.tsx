/** A conversation as it was held: loaded by the page, drawn by the window, matches to walk through. */

import { useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { ChevronDown, ChevronUp } from "lucide-react";
import { memo, useCallback, useEffect, useLayoutEffect, useRef, useState, type MouseEvent, type RefObject } from "react";
import { TURNS_A_PAGE, turnsQuery } from "../api/queries.ts";
import type { Turn } from "../api/shapes.ts";
import { Button, IconButton } from "../components/button.tsx";
import { Bar, Failed } from "../components/states.tsx";
import { count, turnTime } from "../words.ts";

interface Props {
  id: string;
  /** Words to mark and to jump to. */
  q: string;
  /** The page's own scroller; without one the transcript scrolls inside itself. */
  scroller?: RefObject<HTMLElement | null>;
}

const GUESS = 120;
const pageOf = (turn: number) => Math.floor(turn / TURNS_A_PAGE) + 1;

export function Transcript({ id, q, scroller }: Props) {
  const queries = useQueryClient();
  const own = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const outer = scroller ?? own;
  const [pages, setPages] = useState<[number, number]>([1, 1]);
  const [margin, setMargin] = useState(0);
  const [match, setMatch] = useState<number | null>(null);
  const first = useQuery(turnsQuery(id, q, 1));
  const total = first.data?.total ?? 0;
  const wanted: number[] = [];
  for (let page = pages[0]; page <= pages[1]; page += 1) wanted.push(page);
  const answers = useQueries({ queries: wanted.map((page) => turnsQuery(id, q, page)) });
  const turn = (index: number): Turn | undefined => {
    const page = pageOf(index);
    const answer = page === 1 ? first.data : answers[page - pages[0]]?.data;
    return answer?.items[index % TURNS_A_PAGE];
  };

  const list = useVirtualizer({
    count: total,
    getScrollElement: () => outer.current,
    estimateSize: () => GUESS,
    overscan: 5,
    scrollMargin: scroller ? margin : 0,
  });
  const items = list.getVirtualItems();
  const [from, to] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0];
  useEffect(() => {
    const [a, b] = [pageOf(from), pageOf(to)];
    setPages((was) => (was[0] === a && was[1] === b ? was : [a, b]));
  }, [from, to]);

  // Where the conversation begins within a page that scrolls as a whole.
  useLayoutEffect(() => {
    const element = body.current;
    const page = scroller?.current;
    if (!element || !page) return;
    const measure = () => {
      const top = element.getBoundingClientRect().top - page.getBoundingClientRect().top;
      setMargin(Math.round(top + page.scrollTop));
    };
    measure();
    const sizes = new ResizeObserver(measure);
    for (const child of page.children) sizes.observe(child);
    return () => sizes.disconnect();
  }, [scroller, total]);

  const reveal = useCallback(
    (index: number) => {
      setMatch(index);
      list.scrollToIndex(index, { align: "start" });
      // Turns above are measured as they come by, so the place is corrected once they are.
      const settle = (left: number) => {
        const found = body.current?.querySelector(`[data-index="${index}"] mark`);
        if (found) found.scrollIntoView({ block: "center" });
        else if (left > 0) {
          list.scrollToIndex(index, { align: "start" });
          setTimeout(settle, 60, left - 1);
        }
      };
      setTimeout(settle, 30, 30);
    },
    [list],
  );

  const start = first.data?.first_match ?? null;
  const jumped = useRef("");
  useEffect(() => {
    if (start === null || jumped.current === q) return;
    jumped.current = q;
    reveal(start);
  }, [start, q, reveal]);

  /** The next turn with a match in a direction, asking for pages that are not here yet. */
  async function walk(step: 1 | -1) {
    let index = (match ?? (step === 1 ? -1 : total)) + step;
    while (index >= 0 && index < total) {
      const page = await queries.fetchQuery(turnsQuery(id, q, pageOf(index)));
      const on = page.items;
      const offset = (pageOf(index) - 1) * TURNS_A_PAGE;
      for (; index >= offset && index < offset + on.length; index += step) {
        if ((on[index - offset]?.matches ?? 0) > 0) {
          reveal(index);
          return;
        }
      }
      if (on.length === 0) return;
    }
  }

  if (first.error) return <Failed error={first.error} retry={() => void first.refetch()} />;
  if (!first.data) {
    return (
      <div className="space-y-3 py-4" aria-busy>
        <Bar className="h-3 w-3/4" />
        <Bar className="h-3 w-full" />
        <Bar className="h-3 w-1/2" />
      </div>
    );
  }
  if (total === 0) return <p className="py-4 text-ink-quiet">The conversation is empty.</p>;

  const rows = (
    <div ref={body} onClick={follow} className="relative" style={{ height: list.getTotalSize() }}>
      {items.map(({ index, start: top }) => (
        <div
          key={index}
          ref={list.measureElement}
          data-index={index}
          className="absolute inset-x-0 top-0"
          style={{ transform: `translateY(${top - list.options.scrollMargin}px)` }}
        >
          <TurnRow turn={turn(index)} before={turn(index - 1)?.when ?? ""} lit={match === index} />
        </div>
      ))}
    </div>
  );
  return (
    <section aria-label="Conversation">
      <div className="sticky top-0 z-10 flex items-center gap-1 bg-surface py-1.5 text-[13px] text-ink-quiet">
        <span className="mr-auto tabular-nums">{count(total, "turn")}</span>
        {start !== null && (
          <>
            <span>Matches</span>
            <IconButton label="Previous match" icon={ChevronUp} onClick={() => void walk(-1)} />
            <IconButton label="Next match" icon={ChevronDown} onClick={() => void walk(1)} />
          </>
        )}
        {q && start === null && <span>The words are not in the conversation itself</span>}
      </div>
      {scroller ? (
        rows
      ) : (
        <div
          ref={own}
          tabIndex={0}
          role="group"
          aria-label="Conversation, scrollable"
          className="-mx-1 max-h-[70dvh] overflow-y-auto overscroll-contain px-1"
        >
          {rows}
        </div>
      )}
    </section>
  );
}

/** Links in a conversation lead out of the viewer, never into it. */
function follow(event: MouseEvent) {
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (!link || link.origin === location.origin) return;
  event.preventDefault();
  window.open(link.href, "_blank", "noopener,noreferrer");
}

interface TurnProps {
  turn: Turn | undefined;
  /** When the turn before was, as written: the same day is not said twice. */
  before: string;
  lit: boolean;
}

const TurnRow = memo(function TurnRow({ turn, before, lit }: TurnProps) {
  const text = useRef<HTMLDivElement>(null);
  const [tall, setTall] = useState(false);
  const [whole, setWhole] = useState(false);
  const html = turn?.html;
  useLayoutEffect(() => {
    const element = text.current;
    if (!element) return;
    setTall(element.scrollHeight > window.innerHeight * 0.9);
    // What scrolls inside itself must be reachable by keys.
    for (const wide of element.querySelectorAll<HTMLElement>("pre, table")) {
      if (wide.scrollWidth > wide.clientWidth) wide.tabIndex = 0;
    }
  }, [html]);
  if (!turn) {
    return (
      <div className="space-y-2 py-4" style={{ height: GUESS }}>
        <Bar className="h-3 w-24" />
        <Bar className="h-3 w-full" />
        <Bar className="h-3 w-2/3" />
      </div>
    );
  }
  const folded = tall && !whole && !lit;
  return (
    <div className={`turn turn-${turn.role} ${lit ? "turn-lit" : ""}`}>
      <p className="turn-who">
        <span>{turn.speaker || (turn.role === "user" ? "You" : "Assistant")}</span>
        {turn.when && <time title={turn.when}>{turnTime(turn.when, before)}</time>}
      </p>
      <div className="min-w-0">
        {/* Safe: the daemon renders turns with raw HTML shown as text. */}
        <div
          ref={text}
          className={`prose ${folded ? "max-h-[60dvh] overflow-hidden [mask-image:linear-gradient(#000_75%,transparent)]" : ""}`}
          dangerouslySetInnerHTML={{ __html: turn.html }}
        />
        {tall && !lit && (
          <Button tone="quiet" className="mt-1 -ml-3" aria-expanded={whole} onClick={() => setWhole(!whole)}>
            {whole ? "Fold this turn" : "Show the whole turn"}
          </Button>
        )}
      </div>
    </div>
  );
});
