/** How a list is ordered and narrowed: one quiet line, with the fields behind a button. */

import { SlidersHorizontal, X } from "lucide-react";
import { useId, useMemo, useState } from "react";
import type { Memory } from "../api/shapes.ts";
import { Button } from "../components/button.tsx";
import { NO_FILTERS, type Filters } from "../route.ts";
import { memories } from "../words.ts";

const ORDERS: [value: string, word: string][] = [
  ["date.desc", "Newest first"],
  ["date.asc", "Oldest first"],
  ["access.desc", "Last opened first"],
  ["temperature.desc", "Hottest first"],
  ["temperature.asc", "Coldest first"],
];

export const narrowed = (filters: Filters) =>
  Boolean(filters.keyword || filters.from || filters.to || filters.source_model);

interface Props {
  filters: Filters;
  total: number | null;
  change: (filters: Filters) => void;
  row: (index: number) => Memory | undefined;
  /** The table sorts by its headings instead. */
  sortless?: boolean;
}

const small =
  "h-8 rounded-lg border border-line-strong bg-surface px-2.5 text-[14px] text-ink placeholder:text-ink-quiet";

export function FilterBar({ filters, total, change, row, sortless = false }: Props) {
  const [open, setOpen] = useState(false);
  const set = (part: Partial<Filters>) => change({ ...filters, ...part });
  const id = useId();
  const known = useMemo(() => {
    const models = new Set<string>();
    const keywords = new Set<string>();
    for (let at = 0; at < Math.min(total ?? 0, 50); at += 1) {
      const memory = row(at);
      if (memory?.source_model) models.add(memory.source_model);
      for (const keyword of memory?.keywords ?? []) keywords.add(keyword);
    }
    return { models: [...models].sort(), keywords: [...keywords].sort() };
  }, [row, total]);
  const chips: [part: Partial<Filters>, text: string][] = [];
  if (filters.keyword) chips.push([{ keyword: "" }, filters.keyword]);
  if (filters.from) chips.push([{ from: "" }, `from ${filters.from}`]);
  if (filters.to) chips.push([{ to: "" }, `until ${filters.to}`]);
  if (filters.source_model) chips.push([{ source_model: "" }, filters.source_model]);
  if (total === 0 && chips.length === 0) return null;
  const order = `${filters.sort || "date"}.${filters.order || "desc"}`;

  return (
    <div className="shrink-0 px-3 sm:px-6">
      <div className={`mx-auto flex flex-wrap items-center gap-2 py-2 ${sortless ? "" : "max-w-3xl"}`}>
        <p role="status" className="mr-auto text-[14px] text-ink-quiet tabular-nums">
          {total === null ? "…" : memories(total)}
        </p>
        {chips.map(([part, text]) => (
          <button
            key={text}
            type="button"
            onClick={() => set(part)}
            className="inline-flex h-7 items-center gap-1 rounded-full bg-accent-soft pr-2 pl-3 text-[13px] text-accent"
          >
            <span className="sr-only">Remove the filter </span>
            {text}
            <X aria-hidden size={13} />
          </button>
        ))}
        {chips.length > 1 && (
          <Button tone="quiet" onClick={() => change({ ...NO_FILTERS, sort: filters.sort, order: filters.order })}>
            Clear all
          </Button>
        )}
        <Button tone="quiet" icon={SlidersHorizontal} aria-expanded={open} onClick={() => setOpen(!open)}>
          Filter
        </Button>
        {!sortless && (
          <select
            aria-label="Order"
            value={ORDERS.some(([value]) => value === order) ? order : "date.desc"}
            onChange={(event) => {
              const [sort = "", direction = ""] = event.target.value.split(".");
              set({ sort, order: direction });
            }}
            className={small}
          >
            {ORDERS.map(([value, word]) => (
              <option key={value} value={value}>
                {word}
              </option>
            ))}
          </select>
        )}
      </div>
      {open && (
        <div className={`mx-auto flex flex-wrap gap-3 pb-3 ${sortless ? "" : "max-w-3xl"}`}>
          <Narrow label="Keyword">
            <input
              list={`${id}-keywords`}
              defaultValue={filters.keyword}
              key={filters.keyword}
              onKeyDown={(event) => event.key === "Enter" && event.currentTarget.blur()}
              onBlur={(event) => set({ keyword: event.target.value.trim() })}
              className={`${small} w-36`}
            />
            <datalist id={`${id}-keywords`}>
              {known.keywords.map((keyword) => (
                <option key={keyword} value={keyword} />
              ))}
            </datalist>
          </Narrow>
          <Narrow label="Source">
            <input
              list={`${id}-models`}
              defaultValue={filters.source_model}
              key={filters.source_model}
              onKeyDown={(event) => event.key === "Enter" && event.currentTarget.blur()}
              onBlur={(event) => set({ source_model: event.target.value.trim() })}
              className={`${small} w-28`}
            />
            <datalist id={`${id}-models`}>
              {known.models.map((model) => (
                <option key={model} value={model} />
              ))}
            </datalist>
          </Narrow>
          <Narrow label="From">
            <input type="date" max={filters.to || undefined} value={filters.from} onChange={(event) => set({ from: event.target.value })} className={small} />
          </Narrow>
          <Narrow label="Until">
            <input type="date" min={filters.from || undefined} value={filters.to} onChange={(event) => set({ to: event.target.value })} className={small} />
          </Narrow>
        </div>
      )}
    </div>
  );
}

function Narrow({ label, children }: { label: string; children: React.ReactNode }) {
  return (
    <label className="flex items-center gap-2 text-[13px] text-ink-quiet">
      {label}
      {children}
    </label>
  );
}
