/** One function a route of the daemon's REST API; every answer is checked against its shape. */

import * as v from "valibot";
import {
  Deleted,
  Failure,
  HeldMemory,
  Memory,
  NamedEdge,
  Node,
  pageOf,
  SearchAnswer,
  Status,
  TemperatureStatus,
  TurnPage,
  Warmed,
  type Edge,
} from "./shapes.ts";

/** What went wrong, in words for a person. `status` is 0 when the daemon could not be reached. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly current: unknown = undefined,
  ) {
    super(message);
    this.name = "ApiError";
  }
}

/** Somebody changed the memory or node meanwhile; `memory` is what it is now, when it is a memory. */
export function changedElsewhere(error: unknown): Memory | null {
  if (!(error instanceof ApiError) || error.status !== 409) return null;
  const current = v.safeParse(Memory, error.current);
  return current.success ? current.output : null;
}

type Query = Record<string, string | number | boolean | null | undefined>;

interface Options {
  method?: string;
  query?: Query | undefined;
  body?: unknown;
  version?: string;
  signal?: AbortSignal | undefined;
}

function address(path: string, query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== "") search.set(key, String(value));
  }
  const text = search.toString();
  return text ? `${path}?${text}` : path;
}

async function failure(response: Response): Promise<ApiError> {
  const said = v.safeParse(Failure, await response.json().catch(() => null));
  if (said.success) {
    const { code, message, current } = said.output.error;
    return new ApiError(response.status, code, message, current);
  }
  return new ApiError(response.status, "unexpected", `The daemon answered ${response.status}.`);
}

async function call(path: string, options: Options = {}): Promise<Response> {
  const headers: Record<string, string> = { Accept: "application/json" };
  if (options.body !== undefined) headers["Content-Type"] = "application/json";
  if (options.version !== undefined) headers["If-Match"] = `"${options.version}"`;
  let response: Response;
  try {
    response = await fetch(address(path, options.query), {
      method: options.method ?? "GET",
      headers,
      body: options.body === undefined ? null : JSON.stringify(options.body),
      signal: options.signal ?? null,
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(
      0,
      "unreachable",
      "The daemon does not answer. Start it with `neurigraph up`, then try again.",
    );
  }
  if (!response.ok) throw await failure(response);
  return response;
}

async function ask<S extends v.GenericSchema>(
  shape: S,
  path: string,
  options: Options = {},
): Promise<v.InferOutput<S>> {
  const response = await call(path, options);
  const answer = v.safeParse(shape, await response.json().catch(() => null));
  if (answer.success) return answer.output;
  const where = v.getDotPath(answer.issues[0]) ?? "the answer";
  throw new ApiError(
    response.status,
    "unreadable",
    `The daemon's answer was not understood (${where}). Viewer and daemon may be of different versions: reload the page.`,
  );
}

const id = encodeURIComponent;
const Nodes = pageOf(Node);
const Edges = pageOf(NamedEdge);
const Memories = pageOf(Memory);
const HeldMemories = pageOf(HeldMemory);

export interface Paging {
  page?: number;
  per_page?: number;
}

export type SortKey = "date" | "access" | "temperature" | "title" | "topic" | "keywords";
export type Order = "asc" | "desc";

/** How a list of memories is ordered and narrowed. Dates are `YYYY-MM-DD`, both days included. */
export interface MemoryQuery {
  sort?: SortKey | undefined;
  order?: Order | undefined;
  keyword?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
  source_model?: string | undefined;
}

export interface NodeChange {
  name?: string;
  description?: string;
  color?: string;
  private?: boolean;
}

export interface MemoryChange {
  title?: string;
  summary?: string;
  keywords?: string[];
  decisions?: string;
  open_questions?: string;
  pinned?: boolean;
  private?: boolean;
  focused_id?: string;
  /** A person's yes to let git have what looks like a password. */
  secrets_ok?: boolean;
}

export type EdgeName = Pick<Edge, "source" | "target" | "relationship">;
export type NodeKind = Node["kind"];

export const api = {
  status: (signal?: AbortSignal) => ask(Status, "/api/status", { signal }),

  broadNodes: (query: Paging, signal?: AbortSignal) =>
    ask(Nodes, "/api/graph/broad", { query: { ...query }, signal }),
  focusedNodes: (broad: string, query: Paging, signal?: AbortSignal) =>
    ask(Nodes, `/api/graph/broad/${id(broad)}/focused`, { query: { ...query }, signal }),
  node: (kind: NodeKind, node: string, signal?: AbortSignal) =>
    ask(Node, `/api/graph/${kind}/${id(node)}`, { signal }),
  makeBroad: (body: { name: string; description?: string; color?: string }) =>
    ask(Node, "/api/graph/broad", { method: "POST", body }),
  makeFocused: (broad: string, body: { name: string; description?: string; color?: string }) =>
    ask(Node, `/api/graph/broad/${id(broad)}/focused`, { method: "POST", body }),
  changeNode: (node: Node, body: NodeChange) =>
    ask(Node, `/api/graph/${node.kind}/${id(node.id)}`, {
      method: "PATCH",
      body,
      version: node.version,
    }),
  deleteNode: async (node: Node, recursive: boolean) => {
    await call(`/api/graph/${node.kind}/${id(node.id)}`, {
      method: "DELETE",
      query: recursive ? { recursive } : {},
      version: node.version,
    });
  },
  /** Entering a focused node: it counts as opening, and its neighbours warm. */
  openNode: (node: string) => ask(Node, `/api/graph/focused/${id(node)}/open`, { method: "POST" }),

  edges: (query: Paging, signal?: AbortSignal) =>
    ask(Edges, "/api/graph/edges", { query: { ...query }, signal }),
  edgesOf: (node: string, query: Paging, signal?: AbortSignal) =>
    ask(Edges, `/api/graph/edges/${id(node)}`, { query: { ...query }, signal }),
  makeEdge: async (body: EdgeName & { weight?: number }) => {
    await call("/api/graph/edges", { method: "POST", body });
  },
  changeEdge: async (
    { source, target, relationship }: EdgeName,
    body: { weight?: number; relationship?: string },
  ) => {
    const query = { source, target, relationship };
    await call("/api/graph/edges", { method: "PATCH", query, body });
  },
  deleteEdge: async ({ source, target, relationship }: EdgeName) => {
    const query = { source, target, relationship };
    await call("/api/graph/edges", { method: "DELETE", query });
  },

  /** All memories, or those of one node. */
  memories: (node: string | null, query: MemoryQuery & Paging, signal?: AbortSignal) =>
    ask(Memories, node ? `/api/memory/${id(node)}` : "/api/memory", { query: { ...query }, signal }),
  memory: (memory: string, signal?: AbortSignal) =>
    ask(Memory, `/api/memory/chunk/${id(memory)}`, { signal }),
  changeMemory: (memory: Pick<Memory, "id" | "version">, body: MemoryChange) =>
    ask(Memory, `/api/memory/chunk/${id(memory.id)}`, {
      method: "PATCH",
      body,
      version: memory.version,
    }),
  deleteMemory: (memory: Pick<Memory, "id" | "version">) =>
    ask(Deleted, `/api/memory/chunk/${id(memory.id)}`, {
      method: "DELETE",
      version: memory.version,
    }),
  restoreMemory: (memory: string) =>
    ask(Memory, `/api/memory/chunk/${id(memory)}/restore`, { method: "POST" }),
  openMemory: (memory: string) =>
    ask(Memory, `/api/memory/chunk/${id(memory)}/open`, { method: "POST" }),
  turns: (memory: string, query: Paging & { q?: string }, signal?: AbortSignal) =>
    ask(TurnPage, `/api/memory/chunk/${id(memory)}/transcript`, {
      query: { format: "turns", ...query },
      signal,
    }),
  artifactUrl: (memory: string, name: string) =>
    `/api/memory/chunk/${id(memory)}/artifacts/${id(name)}`,

  search: (
    query: { q: string; scope?: string; limit?: number; offset?: number },
    signal?: AbortSignal,
  ) => ask(SearchAnswer, "/api/search", { query: { ...query }, signal }),

  secrets: (query: Paging, signal?: AbortSignal) =>
    ask(HeldMemories, "/api/secrets", { query: { ...query }, signal }),
  /** Say yes: git may have this memory, whatever looks secret in it. */
  releaseSecrets: async (memory: string) => {
    const { id, version } = await api.memory(memory);
    return api.changeMemory({ id, version }, { secrets_ok: true });
  },

  temperature: (signal?: AbortSignal) => ask(TemperatureStatus, "/api/temperature/status", { signal }),
  /** Run a cooling cycle now; `agree` gives the first yes along with it. */
  cool: async (agree: boolean) => {
    const query = agree ? { dry_run: false, agree } : { dry_run: false };
    await call("/api/temperature/maintenance", { method: "POST", query });
  },
  warm: (node: string) =>
    ask(Warmed, `/api/temperature/warm/${id(node)}`, { method: "POST" }),
  sync: async () => {
    await call("/api/sync", { method: "POST" });
  },
};
