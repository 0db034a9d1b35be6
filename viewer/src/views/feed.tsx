/** The memories of a place as cards, newest first unless asked otherwise. */

import { useVirtualizer } from "@tanstack/react-virtual";
import { Feather, SearchX } from "lucide-react";
import { useEffect, useLayoutEffect, useMemo, useRef, useState, type KeyboardEvent } from "react";
import { focusSoon } from "../components/keys.tsx";
import { Bar, Blank, Connect, Failed } from "../components/states.tsx";
import { Button } from "../components/button.tsx";
import { go, NO_FILTERS, urls, type Filters, type Place } from "../route.ts";
import { FilterBar, narrowed } from "./filter-bar.tsx";
import { MemoryCard } from "./memory-card.tsx";
import { queryOf, useRows } from "./rows.ts";
import { found, leave } from "./scrolled.ts";

const PER_PAGE = 50;
const GUESS = 210;
const GAP = 12;

interface Props {
  node: string | null;
  place: Place;
  filters: Filters;
}

export function Feed({ node, place, filters }: Props) {
  const query = useMemo(() => queryOf(filters), [filters]);
  const rows = useRows(node, query, PER_PAGE);
  const [before] = useState(found);
  const [open, setOpen] = useState<ReadonlySet<string>>(before?.open ?? new Set());
  const [active, setActive] = useState(0);
  const scroller = useRef<HTMLDivElement>(null);
  const anchor = useRef<{ id: string; index: number; into: number } | null>(null);
  const count = rows.total ?? 0;

  const list = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => GUESS,
    getItemKey: rows.keyOf,
    overscan: 4,
    gap: GAP,
    paddingStart: 4,
    paddingEnd: 48,
    initialOffset: before?.offset ?? 0,
    initialMeasurementsCache: before?.measured ?? [],
    useFlushSync: false,
  });
  const items = list.getVirtualItems();
  const first = items[0]?.index ?? 0;
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (count > 0) rows.see(first, last);
  }, [rows.see, first, last, count]);

  // A memory that comes or goes above must not move what is being read.
  useLayoutEffect(() => {
    const kept = anchor.current;
    if (!kept || (list.scrollOffset ?? 0) < 8) return;
    const index = rows.indexOf(kept.id);
    if (index === null || index === kept.index) return;
    const start = list.measurementsCache[index]?.start;
    if (start === undefined) return;
    kept.index = index;
    list.scrollToOffset(start + kept.into);
  }, [rows.indexOf]);
  function remember() {
    // The list's own word for it: asking the element would lay the page out once more.
    const top = list.scrollOffset ?? 0;
    const at = list.getVirtualItems().find((item) => item.end > top);
    const memory = at && rows.row(at.index);
    anchor.current = memory && at ? { id: memory.id, index: at.index, into: top - at.start } : null;
  }

  const opened = useRef(open);
  opened.current = open;
  const url = useRef(location.pathname + location.search);
  url.current = urls.place(place, new URLSearchParams(location.search).has("view") ? "feed" : null, filters);
  useEffect(
    () => () => {
      const { scrollOffset, measurementsCache: measured } = list;
      leave(url.current, { offset: scrollOffset ?? 0, measured, open: opened.current });
    },
    [list],
  );

  function focus(index: number) {
    setActive(index);
    list.scrollToIndex(index, { align: "auto" });
    focusSoon(() =>
      scroller.current?.querySelector<HTMLElement>(`[data-index="${index}"] > article`),
    );
  }

  function press(event: KeyboardEvent) {
    if (!(event.target instanceof HTMLElement) || event.target.tagName !== "ARTICLE") return;
    const moves: Record<string, number> = { ArrowDown: active + 1, ArrowUp: active - 1, Home: 0, End: count - 1 };
    const next = moves[event.key];
    if (next !== undefined) {
      event.preventDefault();
      focus(Math.max(0, Math.min(count - 1, next)));
    } else if (event.key === "Enter") {
      event.preventDefault();
      const memory = rows.row(active);
      if (memory) toggle(memory.id, !open.has(memory.id));
    } else if (event.key === "Escape") {
      const memory = rows.row(active);
      if (!memory || !open.has(memory.id)) return;
      event.preventDefault();
      toggle(memory.id, false);
    }
  }

  function toggle(id: string, show: boolean) {
    const next = new Set(open);
    if (show) next.add(id);
    else next.delete(id);
    setOpen(next);
  }

  const change = (next: Filters) => go(urls.place(place, "feed", next), { replace: true });
  return (
    <div className="flex min-h-0 grow flex-col">
      <FilterBar filters={filters} total={rows.total} change={change} row={rows.row} />
      <div ref={scroller} onScroll={remember} className="feed min-h-0 grow overflow-y-auto px-3 sm:px-6">
        {rows.error ? (
          <Failed error={rows.error} retry={rows.retry} />
        ) : rows.total === null ? (
          <div className="mx-auto max-w-3xl space-y-3 pt-1">
            {[0, 1, 2, 3].map((at) => (
              <CardSkeleton key={at} />
            ))}
          </div>
        ) : count === 0 ? (
          <Nothing place={place} filters={filters} clear={() => change(NO_FILTERS)} />
        ) : (
          <div
            role="feed"
            aria-label="Memories"
            aria-busy={false}
            className="relative mx-auto max-w-3xl"
            style={{ height: list.getTotalSize() }}
            onKeyDown={press}
          >
            {items.map(({ index, key, start }) => {
              const memory = rows.row(index);
              return (
                <div
                  key={key}
                  ref={list.measureElement}
                  data-index={index}
                  className="absolute inset-x-0 top-0"
                  style={{ transform: `translateY(${start}px)` }}
                >
                  {memory ? (
                    <MemoryCard
                      memory={memory}
                      place={place}
                      open={open.has(memory.id)}
                      onOpen={toggle}
                      position={[index + 1, count]}
                      tabIndex={index === Math.min(active, count - 1) ? 0 : -1}
                      onFocus={() => setActive(index)}
                      onKeyword={(keyword) => change({ ...filters, keyword })}
                    />
                  ) : (
                    <CardSkeleton />
                  )}
                </div>
              );
            })}
          </div>
        )}
      </div>
    </div>
  );
}

function CardSkeleton() {
  return (
    <div className="h-[198px] rounded-2xl border border-line bg-surface p-5">
      <Bar className="h-3 w-32" />
      <Bar className="mt-3 h-4 w-2/3" />
      <Bar className="mt-4 h-3 w-full" />
      <Bar className="mt-2 h-3 w-full" />
      <Bar className="mt-2 h-3 w-1/2" />
    </div>
  );
}

export function Nothing({ place, filters, clear }: { place: Place; filters: Filters; clear: () => void }) {
  if (narrowed(filters)) {
    return (
      <Blank icon={SearchX} title="No memory fits these filters">
        <Button onClick={clear}>Clear the filters</Button>
      </Blank>
    );
  }
  if (place.at === "all") {
    return (
      <Blank icon={Feather} title="Your memory is empty so far">
        <Connect />
      </Blank>
    );
  }
  return (
    <Blank icon={Feather} title="No memories here yet">
      <p>
        The first comes about when an AI saves a conversation on this topic, or when you put a note
        into its folder.
      </p>
    </Blank>
  );
}
