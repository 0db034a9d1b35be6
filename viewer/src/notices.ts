/** What is said in passing, wherever it is said from; `components/toast.tsx` shows it. */

import { useSyncExternalStore } from "react";

export interface Notice {
  id: number;
  text: string;
  action?: { label: string; run: () => void } | undefined;
  urgent: boolean;
}

let notices: readonly Notice[] = [];
let next = 1;
const listeners = new Set<() => void>();

function set(changed: readonly Notice[]): void {
  notices = changed;
  for (const listener of [...listeners]) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const drop = (id: number) => set(notices.filter((notice) => notice.id !== id));

/** Say something in passing; with `action`, offer to take it back. */
export function say(text: string, action?: Notice["action"]): void {
  set([...notices.slice(-2), { id: next++, text, action, urgent: false }]);
}

/** Say that something went wrong. */
export function complain(error: unknown): void {
  const text = error instanceof Error ? error.message : String(error);
  set([...notices.slice(-2), { id: next++, text, urgent: true }]);
}

export const useNotices = () => useSyncExternalStore(subscribe, () => notices);
