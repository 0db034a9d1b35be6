import { expect, test } from "vitest";
import { NO_FILTERS, parse, urls } from "../src/route.ts";

function read(url: string) {
  const [path = "", search = ""] = url.split("?");
  return parse(path, search);
}

test("every place has an address that reads back as itself", () => {
  for (const place of [
    { at: "all" },
    { at: "broad", broad: "n-1234abcd" },
    { at: "focused", broad: "n-1", focused: "n-2/ä" },
  ] as const) {
    expect(read(urls.place(place, "table"))).toMatchObject({ page: "place", place, view: "table" });
  }
});

test("a filtered list keeps its filters in the address", () => {
  const filters = { ...NO_FILTERS, keyword: "blood pressure", from: "2026-01-01" };
  expect(read(urls.place({ at: "all" }, "feed", filters))).toMatchObject({ filters });
});

test("a memory's link carries the words that found it", () => {
  expect(read(urls.memory("m-1", "a&b"))).toEqual({
    page: "memory",
    id: "m-1",
    q: "a&b",
    edit: false,
  });
});

test("an address that is nothing of ours is said to be lost", () => {
  expect(read("/nowhere")).toEqual({ page: "lost" });
  expect(read("/topic/%E0%A4%A/x")).toMatchObject({ page: "place" });
});
