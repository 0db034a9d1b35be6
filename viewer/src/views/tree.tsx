/** Broad topics, focused topics and their memories as one tree. */

import { useQueries, useQuery } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { ChevronRight, FileText } from "lucide-react";
import { useCallback, useMemo, useRef, useState, type KeyboardEvent } from "react";
import type { MemoryQuery } from "../api/client.ts";
import { broadQuery, focusedQuery, memoriesQuery, nodeQuery } from "../api/queries.ts";
import type { Memory, Node } from "../api/shapes.ts";
import { focusSoon } from "../components/keys.tsx";
import { Bar, Failed } from "../components/states.tsx";
import { TemperatureMark } from "../components/temperature.tsx";
import { go, NO_FILTERS, urls, type Place } from "../route.ts";
import { dateOf, memories } from "../words.ts";
import { Nothing } from "./feed.tsx";
import { parentOf, treeRows, type TreeRow } from "./tree-rows.ts";

const PER_PAGE = 100;
const ROW = 36;
const NEWEST: MemoryQuery = { sort: "date", order: "desc" };

const opened = new Map<string, ReadonlySet<string>>();

function useRoots(place: Place) {
  const broad = useQuery({ ...broadQuery, enabled: place.at === "all" });
  const within = useQuery({
    ...focusedQuery(place.at === "all" ? "" : place.broad),
    enabled: place.at === "broad",
  });
  const one = useQuery({
    ...nodeQuery("focused", place.at === "focused" ? place.focused : ""),
    enabled: place.at === "focused",
  });
  const node = one.data;
  const single = useMemo(() => (node ? [node] : undefined), [node]);
  if (place.at === "all") return { roots: broad.data, query: broad };
  if (place.at === "broad") return { roots: within.data, query: within };
  return { roots: single, query: one };
}

export function Tree({ place }: { place: Place }) {
  const { roots, query } = useRoots(place);
  const name = place.at === "all" ? "all" : place.at === "broad" ? place.broad : place.focused;
  const [open, setOpen] = useState<ReadonlySet<string>>(
    () => opened.get(name) ?? new Set(place.at === "focused" ? [place.focused] : []),
  );
  const [active, setActive] = useState(0);
  const scroller = useRef<HTMLDivElement>(null);

  const openBroad = (place.at === "all" ? (roots ?? []) : []).filter((node) => open.has(node.id));
  const inner = useQueries({ queries: openBroad.map((node) => focusedQuery(node.id)) });
  const version = inner.map((answer) => answer.dataUpdatedAt).join();
  const rows = useMemo(() => {
    const known = new Map(openBroad.map((node, at) => [node.id, inner[at]?.data]));
    return treeRows(roots ?? [], open, (broad) => known.get(broad));
  }, [roots, open, version]);

  const keyOf = useCallback((index: number) => rows[index]?.key ?? index, [rows]);
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    getItemKey: keyOf,
    overscan: 12,
  });
  const items = list.getVirtualItems();

  // Only the pages of memories that are in sight are asked for.
  const needed = new Map<string, { node: string; page: number }>();
  for (const { index } of items) {
    const row = rows[index];
    if (row?.kind !== "memory") continue;
    const page = Math.floor(row.at / PER_PAGE) + 1;
    needed.set(`${row.home.id} ${page}`, { node: row.home.id, page });
  }
  const asked = [...needed.entries()];
  const pages = useQueries({
    queries: asked.map(([, { node, page }]) => memoriesQuery(node, NEWEST, page, PER_PAGE)),
  });
  const memoryOf = (row: TreeRow): Memory | undefined => {
    if (row.kind !== "memory") return undefined;
    const page = Math.floor(row.at / PER_PAGE) + 1;
    const at = asked.findIndex(([key]) => key === `${row.home.id} ${page}`);
    return pages[at]?.data?.items[row.at % PER_PAGE];
  };

  function toggle(node: Node, show: boolean) {
    const next = new Set(open);
    if (show) next.add(node.id);
    else next.delete(node.id);
    opened.set(name, next);
    setOpen(next);
  }

  function focus(index: number) {
    const at = Math.max(0, Math.min(rows.length - 1, index));
    setActive(at);
    list.scrollToIndex(at);
    focusSoon(() => scroller.current?.querySelector<HTMLElement>(`[data-index="${at}"]`));
  }

  function enter(row: TreeRow) {
    if (row.kind === "node") toggle(row.node, !row.open);
    const memory = memoryOf(row);
    if (memory) go(urls.memory(memory.id));
  }

  function press(event: KeyboardEvent) {
    const row = rows[active];
    if (!row) return;
    const run: Record<string, () => void> = {
      ArrowDown: () => focus(active + 1),
      ArrowUp: () => focus(active - 1),
      Home: () => focus(0),
      End: () => focus(rows.length - 1),
      Enter: () => enter(row),
      " ": () => enter(row),
      ArrowRight: () => {
        if (row.kind !== "node") return;
        if (row.open) focus(active + 1);
        else toggle(row.node, true);
      },
      ArrowLeft: () => {
        if (row.kind === "node" && row.open) toggle(row.node, false);
        else focus(parentOf(rows, active));
      },
    };
    const act = run[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  if (query.error) return <Failed error={query.error} retry={() => void query.refetch()} />;
  if (roots && rows.length === 0) {
    return <Nothing place={place} filters={NO_FILTERS} clear={() => undefined} />;
  }
  return (
    <div ref={scroller} tabIndex={-1} className="min-h-0 grow overflow-y-auto px-3 py-3 sm:px-6">
      <div
        role="tree"
        aria-label="Topics and memories"
        className="relative mx-auto max-w-4xl"
        style={{ height: list.getTotalSize() }}
        onKeyDown={press}
      >
        {items.map(({ index, key, start }) => {
          const row = rows[index];
          if (!row) return null;
          return (
            <div
              key={key}
              data-index={index}
              role="treeitem"
              aria-level={row.depth + 1}
              aria-expanded={row.kind === "node" ? row.open : undefined}
              aria-selected={index === active}
              aria-setsize={row.kind === "waiting" ? 1 : row.of}
              aria-posinset={row.kind === "waiting" ? 1 : row.at + 1}
              tabIndex={index === Math.min(active, rows.length - 1) ? 0 : -1}
              onFocus={() => setActive(index)}
              onClick={() => enter(row)}
              className="absolute inset-x-0 top-0 flex h-9 cursor-pointer items-center gap-2 rounded-lg pr-3 -outline-offset-2 hover:bg-sunken"
              style={{ transform: `translateY(${start}px)`, paddingLeft: 8 + row.depth * 24 }}
            >
              <RowBody row={row} memory={memoryOf(row)} />
            </div>
          );
        })}
      </div>
    </div>
  );
}

function RowBody({ row, memory }: { row: TreeRow; memory: Memory | undefined }) {
  if (row.kind === "waiting") return <Bar className="h-3 w-40" />;
  if (row.kind === "node") {
    const { node } = row;
    return (
      <>
        <ChevronRight
          aria-hidden
          size={15}
          className={`shrink-0 text-ink-quiet transition-transform ${row.open ? "rotate-90" : ""}`}
        />
        <span aria-hidden className="size-2.5 shrink-0 rounded-full" style={{ background: node.color }} />
        <span className={`truncate ${node.kind === "broad" ? "font-semibold" : "font-medium"}`}>{node.name}</span>
        <span className="ml-auto shrink-0 text-[13px] text-ink-quiet tabular-nums">
          {memories(node.counts.memories)}
        </span>
        <span className="flex w-6 shrink-0 items-center sm:w-24">
          <span className="sm:hidden">
            <TemperatureMark value={node.temperature} wordless />
          </span>
          <span className="hidden sm:inline">
            <TemperatureMark value={node.temperature} />
          </span>
        </span>
      </>
    );
  }
  if (!memory) return <Bar className="h-3 w-72" />;
  return (
    <>
      <FileText aria-hidden size={15} className="shrink-0 text-ink-quiet" />
      <span className="truncate">{memory.title}</span>
      <span className="ml-auto shrink-0 text-[13px] text-ink-quiet tabular-nums">{dateOf(memory.created)}</span>
      <span className="flex w-6 shrink-0 items-center sm:w-24">
        <span className="sm:hidden">
          <TemperatureMark value={memory.temperature} wordless />
        </span>
        <span className="hidden sm:inline">
          <TemperatureMark value={memory.temperature} />
        </span>
      </span>
    </>
  );
}
