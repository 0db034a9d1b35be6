/** Every view's own URL: what the address says, and how to go elsewhere. */

import { useMemo, useSyncExternalStore } from "react";

export type View = "graph" | "feed" | "table" | "tree";
export type ListView = Exclude<View, "graph">;
export const VIEWS: readonly View[] = ["graph", "feed", "table", "tree"];

/** Which memories a page is about: all, a broad topic's, or a focused topic's. */
export type Place =
  | { at: "all" }
  | { at: "broad"; broad: string }
  | { at: "focused"; broad: string; focused: string };

export type Route =
  | { page: "place"; place: Place; view: View | null; filters: Filters }
  | { page: "memory"; id: string; q: string; edit: boolean }
  | { page: "search"; q: string; scope: string }
  | { page: "status" }
  | { page: "lost" };

export interface Filters {
  sort: string;
  order: string;
  keyword: string;
  from: string;
  to: string;
  source_model: string;
}

export const NO_FILTERS: Filters = {
  sort: "",
  order: "",
  keyword: "",
  from: "",
  to: "",
  source_model: "",
};

const FILTERS = Object.keys(NO_FILTERS) as (keyof Filters)[];

export function parse(path: string, search: string): Route {
  const query = new URLSearchParams(search);
  const parts = path.split("/").filter(Boolean).map(decoded);
  const filters = { ...NO_FILTERS };
  for (const key of FILTERS) filters[key] = query.get(key) ?? "";
  const view = VIEWS.find((known) => known === query.get("view")) ?? null;
  const [first, second, third] = parts;
  if (first === undefined) return { page: "place", place: { at: "all" }, view, filters };
  if (first === "topic" && second && parts.length <= 3) {
    const place: Place = third
      ? { at: "focused", broad: second, focused: third }
      : { at: "broad", broad: second };
    return { page: "place", place, view, filters };
  }
  if (first === "memory" && second && parts.length === 2) {
    return { page: "memory", id: second, q: query.get("q") ?? "", edit: query.has("edit") };
  }
  if (first === "search" && parts.length === 1) {
    return { page: "search", q: query.get("q") ?? "", scope: query.get("scope") ?? "" };
  }
  if (first === "status" && parts.length === 1) return { page: "status" };
  return { page: "lost" };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function placePath(place: Place): string {
  const id = encodeURIComponent;
  if (place.at === "all") return "/";
  if (place.at === "broad") return `/topic/${id(place.broad)}`;
  return `/topic/${id(place.broad)}/${id(place.focused)}`;
}

function withQuery(path: string, pairs: Record<string, string | null | undefined>): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(pairs)) if (value) query.set(key, value);
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}

export const urls = {
  place: (place: Place, view?: View | null, filters: Partial<Filters> = {}) =>
    withQuery(placePath(place), { view, ...filters }),
  memory: (id: string, q = "") => withQuery(`/memory/${encodeURIComponent(id)}`, { q }),
  search: (q: string, scope = "") => withQuery("/search", { q, scope }),
  status: () => "/status",
};

const listeners = new Set<() => void>();

let came: "back" | "forward" = "forward";

/** Whether the present page was reached by the browser's back or forward: then it is as it was left. */
export const cameBack = () => came === "back";

function pop(): void {
  came = "back";
  announce();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (listeners.size === 1) window.addEventListener("popstate", pop);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) window.removeEventListener("popstate", pop);
  };
}

function announce(): void {
  for (const listener of [...listeners]) listener();
}

/** Go to a URL of the viewer's own. `replace` leaves no step in the history. */
export function go(url: string, options: { replace?: boolean } = {}): void {
  if (url === location.pathname + location.search) return;
  came = "forward";
  if (options.replace) history.replaceState(history.state, "", url);
  else history.pushState({ inside: true }, "", url);
  announce();
}

/** One step back when the step before was ours, else to `otherwise`. */
export function back(otherwise: string): void {
  const state = history.state as { inside?: boolean } | null;
  if (state?.inside) history.back();
  else go(otherwise);
}

const here = () => location.pathname + location.search;

/** The present route; a component that uses it is drawn again when it changes. */
export function useRoute(): Route {
  const url = useSyncExternalStore(subscribe, here);
  return useMemo(() => {
    const [path = "/", search = ""] = url.split(/\?(.*)/s);
    return parse(path, search);
  }, [url]);
}
