/** The memories of a place as a table: sorted by its headings, walked with the arrow keys. */

import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown, ArrowUp } from "lucide-react";
import { useEffect, useMemo, useRef, useState, type KeyboardEvent } from "react";
import type { SortKey } from "../api/client.ts";
import { useChangedLately } from "../api/live.ts";
import type { Memory } from "../api/shapes.ts";
import { focusSoon } from "../components/keys.tsx";
import { Link } from "../components/link.tsx";
import { Bar, Failed } from "../components/states.tsx";
import { TemperatureMark } from "../components/temperature.tsx";
import { usePhone } from "../kept.ts";
import { go, NO_FILTERS, urls, type Filters, type Place } from "../route.ts";
import { dateOf, momentOf } from "../words.ts";
import { Nothing } from "./feed.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { queryOf, useRows } from "./rows.ts";
import { found, leave } from "./scrolled.ts";

const PER_PAGE = 100;
const ROW = 44;

interface Column {
  sort: SortKey;
  word: string;
  width: string;
  /** How it is sorted at the first press. */
  first: "asc" | "desc";
}

/** What a phone has room for; the rest is one tap away. */
const NARROW: ReadonlySet<SortKey> = new Set<SortKey>(["date", "title", "temperature"]);

const COLUMNS: Column[] = [
  { sort: "date", word: "Date", width: "w-28", first: "desc" },
  { sort: "topic", word: "Topic", width: "w-56", first: "asc" },
  { sort: "title", word: "Summary", width: "", first: "asc" },
  { sort: "keywords", word: "Keywords", width: "w-60", first: "asc" },
  { sort: "temperature", word: "Temperature", width: "w-36", first: "desc" },
];

interface Props {
  node: string | null;
  place: Place;
  filters: Filters;
}

export function Table({ node, place, filters }: Props) {
  const query = useMemo(() => queryOf(filters), [filters]);
  const rows = useRows(node, query, PER_PAGE);
  const scroller = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState(0);
  const [before] = useState(found);
  const count = rows.total ?? 0;
  const phone = usePhone();
  const columns = phone ? COLUMNS.filter(({ sort }) => NARROW.has(sort)) : COLUMNS;
  const list = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 12,
    initialOffset: before?.offset ?? 0,
    scrollPaddingStart: 40,
  });
  const items = list.getVirtualItems();
  const first = items[0]?.index ?? 0;
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (count > 0) rows.see(first, last);
  }, [rows.see, first, last, count]);

  const url = location.pathname + location.search;
  useEffect(
    () => () => leave(url, { offset: list.scrollOffset ?? 0, measured: [], open: new Set() }),
    [url, list],
  );

  const change = (next: Filters) => go(urls.place(place, "table", next), { replace: true });

  function sortBy({ sort, first: direction }: Column) {
    const same = query.sort === sort;
    const order = same ? (query.order === "asc" ? "desc" : "asc") : direction;
    change({ ...filters, sort, order });
    list.scrollToOffset(0);
  }

  function press(event: KeyboardEvent) {
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? ROW) / ROW) - 2);
    const moves: Record<string, number> = {
      ArrowDown: active + 1,
      ArrowUp: active - 1,
      PageDown: active + page,
      PageUp: active - page,
      Home: 0,
      End: count - 1,
    };
    const next = moves[event.key];
    if (next !== undefined) {
      event.preventDefault();
      const index = Math.max(0, Math.min(count - 1, next));
      setActive(index);
      list.scrollToIndex(index);
      focusSoon(() => scroller.current?.querySelector<HTMLElement>(`tr[data-index="${index}"]`));
    } else if (event.key === "Enter" && event.target instanceof HTMLTableRowElement) {
      const memory = rows.row(active);
      if (memory) go(urls.memory(memory.id));
    }
  }

  const above = items[0]?.start ?? 0;
  const below = Math.max(0, list.getTotalSize() - (items.at(-1)?.end ?? 0));
  return (
    <div className="flex min-h-0 grow flex-col">
      <FilterBar filters={filters} total={rows.total} change={change} row={rows.row} sortless />
      <div ref={scroller} tabIndex={-1} className="min-h-0 grow overflow-auto px-3 sm:px-6">
        {rows.error ? (
          <Failed error={rows.error} retry={rows.retry} />
        ) : rows.total === 0 ? (
          <Nothing place={place} filters={filters} clear={() => change(NO_FILTERS)} />
        ) : (
          <table
            aria-rowcount={count + 1}
            className={`w-full table-fixed border-separate border-spacing-0 text-[14px] ${phone ? "" : "min-w-[56rem]"}`}
          >
            <caption className="sr-only">Memories, sorted by {query.sort}</caption>
            <thead>
              <tr>
                {columns.map((column) => {
                  const sorted = query.sort === column.sort;
                  const Arrow = query.order === "asc" ? ArrowUp : ArrowDown;
                  return (
                    <th
                      key={column.sort}
                      scope="col"
                      aria-sort={sorted ? (query.order === "asc" ? "ascending" : "descending") : "none"}
                      className={`sticky top-0 z-10 border-b border-line-strong bg-page p-0 text-left font-medium ${phone ? (column.sort === "temperature" ? "w-12" : column.sort === "date" ? "w-20" : "") : column.width}`}
                    >
                      <button
                        type="button"
                        onClick={() => sortBy(column)}
                        className={`flex h-9 w-full items-center gap-1 px-2 hover:text-ink ${sorted ? "text-ink" : "text-ink-quiet"}`}
                      >
                        <span className={phone && column.sort === "temperature" ? "sr-only" : ""}>
                          {column.word}
                        </span>
                        {sorted && <Arrow aria-hidden size={14} />}
                      </button>
                    </th>
                  );
                })}
              </tr>
            </thead>
            <tbody onKeyDown={press}>
              {above > 0 && (
                <tr aria-hidden style={{ height: above }}>
                  <td colSpan={columns.length} />
                </tr>
              )}
              {items.map(({ index, key }) => {
                const memory = rows.row(index);
                return memory ? (
                  <Row
                    key={key}
                    memory={memory}
                    index={index}
                    narrow={phone}
                    tabIndex={index === Math.min(active, count - 1) ? 0 : -1}
                    onFocus={() => setActive(index)}
                  />
                ) : (
                  <tr key={key} data-index={index} className="h-11">
                    <td colSpan={columns.length} className="border-b border-line px-2">
                      <Bar className="h-3 w-full" />
                    </td>
                  </tr>
                );
              })}
              {below > 0 && (
                <tr aria-hidden style={{ height: below }}>
                  <td colSpan={columns.length} />
                </tr>
              )}
            </tbody>
          </table>
        )}
      </div>
    </div>
  );
}

interface RowProps {
  memory: Memory;
  index: number;
  narrow: boolean;
  tabIndex: number;
  onFocus: () => void;
}

const cell = "border-b border-line px-2 overflow-hidden text-ellipsis whitespace-nowrap";

function Row({ memory, index, narrow, tabIndex, onFocus }: RowProps) {
  const changed = useChangedLately(memory.id);
  return (
    <tr
      data-index={index}
      aria-rowindex={index + 2}
      tabIndex={tabIndex}
      onFocus={onFocus}
      onClick={(event) => {
        const onLink = event.target instanceof Element && event.target.closest("a");
        if (!onLink && getSelection()?.isCollapsed) go(urls.memory(memory.id));
      }}
      className={`h-11 cursor-pointer -outline-offset-2 hover:bg-sunken ${changed ? "flash" : ""}`}
    >
      <td className={`${cell} text-ink-quiet tabular-nums`} title={momentOf(memory.created)}>
        {dateOf(memory.created)}
      </td>
      {!narrow && (
        <td className={`${cell} text-ink-soft`} title={`${memory.broad} › ${memory.focused}`}>
          {memory.broad} <span className="text-ink-quiet">›</span> {memory.focused}
        </td>
      )}
      <td className={cell} title={memory.summary.slice(0, 400)}>
        <Link href={urls.memory(memory.id)} tabIndex={-1} className="font-medium hover:underline">
          {memory.title}
        </Link>
        <span className="ml-2 text-ink-quiet">{memory.summary.slice(0, 160)}</span>
      </td>
      {!narrow && <td className={`${cell} text-ink-soft`}>{memory.keywords.join(", ")}</td>}
      <td className={cell}>
        <TemperatureMark value={memory.temperature} wordless={narrow} />
      </td>
    </tr>
  );
}
