/** A long list of memories of which only the pages in sight are asked for. */

import { useQueries } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import type { MemoryQuery, Order, SortKey } from "../api/client.ts";
import { memoriesQuery } from "../api/queries.ts";
import type { Memory } from "../api/shapes.ts";
import type { Filters } from "../route.ts";

const SORTS: readonly SortKey[] = ["date", "access", "temperature", "title", "topic", "keywords"];

export function queryOf(filters: Filters): MemoryQuery {
  const sort = SORTS.find((known) => known === filters.sort);
  const order: Order | undefined =
    filters.order === "asc" ? "asc" : filters.order === "desc" ? "desc" : undefined;
  const { keyword, from, to, source_model } = filters;
  return { sort: sort ?? "date", order: order ?? "desc", keyword, from, to, source_model };
}

export interface Rows {
  /** null until the first page is there. */
  total: number | null;
  row: (index: number) => Memory | undefined;
  /** Where a memory stands now; null when it is not among the rows that are here. */
  indexOf: (id: string) => number | null;
  /** Say which rows are in sight, so that their pages are asked for. */
  see: (first: number, last: number) => void;
  error: Error | null;
  retry: () => void;
}

export function useRows(node: string | null, query: MemoryQuery, perPage: number): Rows {
  const key = JSON.stringify([node, query]);
  const [seen, setSeen] = useState({ key, first: 1, last: 1 });
  const current = seen.key === key ? seen : { key, first: 1, last: 1 };

  const pages = useMemo(() => {
    const list = [1];
    for (let page = Math.max(2, current.first); page <= current.last; page += 1) list.push(page);
    return list;
  }, [current.first, current.last]);
  const answers = useQueries({
    queries: pages.map((page) => memoriesQuery(node, query, page, perPage)),
  });

  const total = answers.find((answer) => answer.data)?.data?.total ?? null;
  const failed = answers.find((answer) => answer.error && !answer.data);
  // An answer is new only when its time is: the array around the answers is new at every render.
  const version = answers.map((answer) => answer.dataUpdatedAt).join();
  const held = useMemo(() => {
    const map = new Map<number, Memory[]>();
    pages.forEach((page, at) => {
      const items = answers[at]?.data?.items;
      if (items) map.set(page, items);
    });
    return map;
  }, [pages, version, key]);

  const row = useCallback(
    (index: number) => held.get(Math.floor(index / perPage) + 1)?.[index % perPage],
    [held, perPage],
  );
  const indexOf = useCallback(
    (id: string) => {
      for (const [page, items] of held) {
        const at = items.findIndex((item) => item.id === id);
        if (at >= 0) return (page - 1) * perPage + at;
      }
      return null;
    },
    [held, perPage],
  );
  const see = useCallback(
    (first: number, last: number) => {
      const [a, b] = [Math.floor(first / perPage) + 1, Math.floor(last / perPage) + 1];
      setSeen((was) =>
        was.key === key && was.first === a && was.last === b ? was : { key, first: a, last: b },
      );
    },
    [key, perPage],
  );
  return { total, row, indexOf, see, error: failed?.error ?? null, retry: () => void failed?.refetch() };
}
