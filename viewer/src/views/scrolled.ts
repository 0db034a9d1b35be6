/** How a list was left, by address, so that coming back finds it the same. */

import type { VirtualItem } from "@tanstack/react-virtual";
import { cameBack } from "../route.ts";

interface Left {
  offset: number;
  measured: VirtualItem[];
  open: ReadonlySet<string>;
}

const left = new Map<string, Left>();
const address = () => location.pathname + location.search;

export function leave(url: string, state: Left): void {
  left.delete(url);
  left.set(url, state);
  if (left.size > 30) left.delete(left.keys().next().value ?? "");
}

export function found(): Left | null {
  return cameBack() ? (left.get(address()) ?? null) : null;
}
