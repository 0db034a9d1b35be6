/** A long list of memories of which only the pages in sight are asked for. */

import { useQueries } from "@tanstack/react-query";
import { useCallback, useMemo, useRef, useState } from "react";
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
  /** A memory's id where its row is known, else the row's number; no two rows have the same. */
  keyOf: (index: number) => string | number;
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
  // What was once here stays known when it is scrolled out of sight: rows that forgot their
  // heights would make the list jump, and ask for other rows, and forget again.
  const known = useRef({ key, pages: new Map<number, Memory[]>() });
  if (known.current.key !== key) known.current = { key, pages: new Map() };
  // An answer is new only when its time is: the array around the answers is new at every render.
  const version = answers.map((answer) => answer.dataUpdatedAt).join();
  const held = useMemo(() => {
    const now = known.current.pages;
    for (const page of now.keys()) if ((page - 1) * perPage >= (total ?? Infinity)) now.delete(page);
    const fresh: number[] = [];
    pages.forEach((page, at) => {
      const items = answers[at]?.data?.items;
      if (!items) return;
      now.set(page, items);
      fresh.push(page);
    });
    // A page out of sight may still list a memory that has moved to one in sight since.
    const places = new Map<string, number>();
    for (const page of [...fresh, ...now.keys()]) {
      now.get(page)?.forEach(({ id }, at) => {
        if (!places.has(id)) places.set(id, (page - 1) * perPage + at);
      });
    }
    return { pages: new Map(now), places };
  }, [pages, version, key, total, perPage]);

  const row = useCallback(
    (index: number) => held.pages.get(Math.floor(index / perPage) + 1)?.[index % perPage],
    [held, perPage],
  );
  const indexOf = useCallback((id: string) => held.places.get(id) ?? null, [held]);
  const keyOf = useCallback(
    (index: number) => {
      const id = row(index)?.id;
      return id !== undefined && held.places.get(id) === index ? id : index;
    },
    [held, row],
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
  return { total, row, indexOf, keyOf, see, error: failed?.error ?? null, retry: () => void failed?.refetch() };
}
