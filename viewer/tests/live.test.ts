import { QueryClient } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { follow } from "../src/api/live.ts";

class Stream extends EventTarget {
  static readonly CLOSED = 2;
  static open: Stream[] = [];
  readyState = 1;
  onopen: (() => void) | null = null;
  onerror: (() => void) | null = null;
  constructor() {
    super();
    Stream.open.push(this);
  }
  say(kind: string, data: unknown) {
    const text = typeof data === "string" ? data : JSON.stringify(data);
    this.dispatchEvent(new MessageEvent(kind, { data: text }));
  }
  close() {
    this.readyState = 2;
  }
}

let queries: QueryClient;
let asked: string[];
let stop: () => void;

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("EventSource", Stream);
  Stream.open = [];
  queries = new QueryClient();
  asked = [];
  vi.spyOn(queries, "invalidateQueries").mockImplementation(async (filters) => {
    asked.push(JSON.stringify(filters?.queryKey ?? "everything"));
  });
  stop = follow(queries);
});

afterEach(() => {
  stop();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("a burst of events is answered with one round of questions", () => {
  for (let at = 0; at < 40; at += 1) {
    Stream.open[0]?.say("memory", { ids: ["m-1"], action: "changed" });
  }
  expect(asked).toEqual([]);
  vi.advanceTimersByTime(300);
  expect(asked.filter((key) => key === '["memories"]')).toHaveLength(1);
  expect(asked).toContain('["memory","m-1"]');
});

test("an event that cannot be read is passed over", () => {
  Stream.open[0]?.say("memory", "{not json");
  Stream.open[0]?.say("progress", { job: 3 });
  vi.advanceTimersByTime(300);
  expect(asked.filter((key) => !key.includes("memor"))).toEqual([]);
});

test("after a broken connection everything is asked for again", () => {
  const stream = Stream.open[0];
  stream?.onerror?.();
  stream?.onopen?.();
  expect(asked).toEqual(['"everything"']);
});

test("a stream that was refused is tried again", () => {
  const stream = Stream.open[0];
  stream?.close();
  stream?.onerror?.();
  vi.advanceTimersByTime(3100);
  expect(Stream.open).toHaveLength(2);
});
