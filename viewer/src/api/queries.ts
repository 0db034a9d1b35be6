/** What the views ask for, kept by key, so that two views of one thing share one answer. */

import {
  keepPreviousData,
  queryOptions,
  type QueryClient,
  type QueryKey,
} from "@tanstack/react-query";
import { api, type MemoryQuery, type NodeKind } from "./client.ts";
import type { Memory, Page } from "./shapes.ts";

const WHOLE = 500;

/** Every item of a paged list, asked for in the largest pages. */
async function everything<T>(ask: (page: number) => Promise<Page<T>>): Promise<T[]> {
  const first = await ask(1);
  const items = [...first.items];
  for (let page = 2; items.length < first.total; page += 1) {
    const more = await ask(page);
    if (more.items.length === 0) break;
    items.push(...more.items);
  }
  return items;
}

export const statusQuery = queryOptions({
  queryKey: ["status"],
  queryFn: ({ signal }) => api.status(signal),
});

export const temperatureQuery = queryOptions({
  queryKey: ["temperature"],
  queryFn: ({ signal }) => api.temperature(signal),
});

export const secretsQuery = queryOptions({
  queryKey: ["memories", "secrets"],
  queryFn: ({ signal }) => everything((page) => api.secrets({ page, per_page: WHOLE }, signal)),
});

export const broadQuery = queryOptions({
  queryKey: ["nodes", "broad"],
  queryFn: ({ signal }) =>
    everything((page) => api.broadNodes({ page, per_page: WHOLE }, signal)),
});

export const focusedQuery = (broad: string) =>
  queryOptions({
    queryKey: ["nodes", "focused", broad],
    queryFn: ({ signal }) =>
      everything((page) => api.focusedNodes(broad, { page, per_page: WHOLE }, signal)),
  });

export const nodeQuery = (kind: NodeKind, id: string) =>
  queryOptions({
    queryKey: ["nodes", "one", kind, id],
    queryFn: ({ signal }) => api.node(kind, id, signal),
  });

/** The edges that touch a node (a broad one: or its focused nodes); with null, all edges. */
export const edgesQuery = (node: string | null) =>
  queryOptions({
    queryKey: ["edges", node],
    queryFn: ({ signal }) =>
      everything((page) => {
        const query = { page, per_page: WHOLE };
        return node === null ? api.edges(query, signal) : api.edgesOf(node, query, signal);
      }),
  });

export const memoriesQuery = (
  node: string | null,
  query: MemoryQuery,
  page: number,
  per_page: number,
) =>
  queryOptions({
    queryKey: ["memories", node, query, per_page, page],
    queryFn: ({ signal }) => api.memories(node, { ...query, page, per_page }, signal),
  });

export const memoryQuery = (id: string) =>
  queryOptions({ queryKey: ["memory", id], queryFn: ({ signal }) => api.memory(id, signal) });

export const TURNS_A_PAGE = 50;

export const turnsQuery = (id: string, q: string, page: number) =>
  queryOptions({
    queryKey: ["turns", id, q, page],
    queryFn: ({ signal }) => api.turns(id, { q, page, per_page: TURNS_A_PAGE }, signal),
    gcTime: 60_000,
  });

export const searchQuery = (q: string, scope: string, limit: number, offset = 0) =>
  queryOptions({
    queryKey: ["search", q, scope, limit, offset],
    queryFn: ({ signal }) => api.search({ q, scope, limit, offset }, signal),
    enabled: q.trim() !== "",
    placeholderData: keepPreviousData,
    gcTime: 30_000,
  });

/** Put a memory as the daemon just answered it in every list that shows it. */
export function place(queries: QueryClient, memory: Memory): void {
  queries.setQueryData(["memory", memory.id], memory);
  queries.setQueriesData<Page<Memory>>({ queryKey: ["memories"] }, (page) => {
    if (!page?.items.some((item) => item.id === memory.id)) return page;
    return { ...page, items: page.items.map((item) => (item.id === memory.id ? memory : item)) };
  });
}

/** Take a memory out of every list, before the lists are asked for again. */
export function take(queries: QueryClient, id: string): void {
  queries.setQueriesData<Page<Memory>>({ queryKey: ["memories"] }, (page) => {
    if (!page?.items.some((item) => item.id === id)) return page;
    return {
      ...page,
      total: page.total - 1,
      items: page.items.filter((item) => item.id !== id),
    };
  });
}

/** Ask again for whatever hangs on memories, on topics, or on edges. */
export function refresh(queries: QueryClient, ...what: ("memories" | "nodes" | "edges")[]): void {
  const keys: Record<(typeof what)[number], QueryKey[]> = {
    memories: [["memories"], ["memory"], ["search"], ["nodes"], ["status"], ["temperature"]],
    nodes: [["nodes"], ["status"]],
    edges: [["edges"]],
  };
  const due = new Map(what.flatMap((name) => keys[name]).map((key) => [String(key), key]));
  for (const queryKey of due.values()) void queries.invalidateQueries({ queryKey });
}
