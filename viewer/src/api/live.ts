/** The daemon's event stream: what changed is asked for again, and shown with a short highlight. */

import type { QueryClient } from "@tanstack/react-query";
import * as v from "valibot";
import { useSyncExternalStore } from "react";
import { complain } from "../notices.ts";

const ids = v.object({ ids: v.optional(v.array(v.string()), []) });
const Progress = v.object({
  job: v.string(),
  done: v.number(),
  total: v.nullable(v.number()),
  text: v.optional(v.string(), ""),
  /** Why the job ended without having done its work. */
  error: v.optional(v.string()),
});
export type Progress = v.InferOutput<typeof Progress>;

export interface Live {
  connected: boolean;
  /** Jobs under way, by name. */
  progress: ReadonlyMap<string, Progress>;
  /** When each lately changed memory changed, in milliseconds of the page's clock. */
  changed: ReadonlyMap<string, number>;
}

let live: Live = { connected: true, progress: new Map(), changed: new Map() };
const listeners = new Set<() => void>();

function set(change: Partial<Live>): void {
  live = { ...live, ...change };
  for (const listener of [...listeners]) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useLive<T>(pick: (live: Live) => T): T {
  return useSyncExternalStore(subscribe, () => pick(live));
}

const HIGHLIGHT_MS = 2500;

export function useChangedLately(id: string): boolean {
  return useLive((now) => now.changed.has(id));
}

function highlight(changed: string[]): void {
  if (changed.length === 0 || changed.length > 200) return;
  const at = performance.now();
  const next = new Map(live.changed);
  for (const id of changed) next.set(id, at);
  set({ changed: next });
  setTimeout(() => {
    const left = new Map([...live.changed].filter(([, since]) => since > at));
    if (left.size !== live.changed.size) set({ changed: left });
  }, HIGHLIGHT_MS);
}

const DEPENDS: Record<string, string[]> = {
  memory: ["memories", "search", "nodes", "status", "temperature"],
  node: ["nodes", "edges", "memories", "memory", "status"],
  edge: ["edges"],
  status: ["status"],
  problem: ["status"],
  temperature: ["temperature", "nodes", "memories", "memory", "status"],
};
/** A burst of events (an import, a cooling cycle) is answered with one round of questions. */
const GATHER_MS = 250;

/** Follow the events of the daemon; answers how to stop. */
export function follow(queries: QueryClient): () => void {
  let source: EventSource | null = null;
  let again: ReturnType<typeof setTimeout> | undefined;
  let gathering: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;
  const due = new Map<string, unknown[]>();

  function ask(): void {
    gathering = undefined;
    for (const queryKey of due.values()) void queries.invalidateQueries({ queryKey });
    due.clear();
  }

  function gather(keys: unknown[][]): void {
    for (const key of keys) due.set(JSON.stringify(key), key);
    gathering ??= setTimeout(ask, GATHER_MS);
  }

  function hear(kind: string, text: string): void {
    let data: unknown;
    try {
      data = JSON.parse(text);
    } catch {
      return;
    }
    if (kind === "progress") {
      const step = v.safeParse(Progress, data);
      if (!step.success) return;
      const progress = new Map(live.progress);
      const { job, done, total, error } = step.output;
      if (error) complain(error);
      if (total !== null && done >= total) progress.delete(job);
      else progress.set(job, step.output);
      set({ progress });
      if (!progress.has(job)) gather([["status"], ["temperature"]]);
      return;
    }
    const named = v.safeParse(ids, data);
    const changed = named.success ? named.output.ids : [];
    const keys: unknown[][] = (DEPENDS[kind] ?? []).map((key) => [key]);
    if (kind === "memory") {
      for (const id of changed.slice(0, 50)) keys.push(["memory", id], ["turns", id]);
      if (changed.length > 50) keys.push(["memory"], ["turns"]);
      highlight(changed);
    }
    gather(keys);
  }

  function connect(): void {
    if (stopped) return;
    source = new EventSource("/api/events");
    source.onopen = () => {
      // Whatever happened while we were away was not heard.
      if (!live.connected) void queries.invalidateQueries();
      set({ connected: true });
    };
    source.onerror = () => {
      set({ connected: false, progress: new Map() });
      if (source?.readyState === EventSource.CLOSED) again = setTimeout(connect, 3000);
    };
    for (const kind of [...Object.keys(DEPENDS), "progress"]) {
      source.addEventListener(kind, (event) => hear(kind, String(event.data)));
    }
  }

  connect();
  return () => {
    stopped = true;
    clearTimeout(again);
    clearTimeout(gathering);
    source?.close();
  };
}
