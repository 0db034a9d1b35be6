/** Small preferences that the browser keeps: which view, which panel is open, where nodes stand. */

import { useSyncExternalStore } from "react";

const listeners = new Set<() => void>();
const PREFIX = "neurigraph.";

export function kept(name: string): string | null {
  try {
    return localStorage.getItem(PREFIX + name);
  } catch {
    // Storage is refused in some private windows; the viewer then simply does not remember.
    return null;
  }
}

export function keep(name: string, value: string): void {
  try {
    localStorage.setItem(PREFIX + name, value);
  } catch {
    return;
  }
  for (const listener of [...listeners]) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useKept(name: string, otherwise: string): [string, (value: string) => void] {
  const value = useSyncExternalStore(subscribe, () => kept(name)) ?? otherwise;
  return [value, (next) => keep(name, next)];
}

function watch(query: string) {
  const list = window.matchMedia(query);
  return (listener: () => void) => {
    list.addEventListener("change", listener);
    return () => list.removeEventListener("change", listener);
  };
}

const media = new Map<string, ReturnType<typeof watch>>();

export function useMedia(query: string): boolean {
  let subscribeTo = media.get(query);
  if (!subscribeTo) media.set(query, (subscribeTo = watch(query)));
  return useSyncExternalStore(subscribeTo, () => window.matchMedia(query).matches);
}

export const usePhone = () => useMedia("(max-width: 700px)");
export const useWide = () => useMedia("(min-width: 1080px)");
export const useReducedMotion = () => useMedia("(prefers-reduced-motion: reduce)");
export const useDark = () => useMedia("(prefers-color-scheme: dark)");
