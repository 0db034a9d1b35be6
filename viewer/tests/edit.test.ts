import * as v from "valibot";
import { expect, test } from "vitest";
import { Memory } from "../src/api/shapes.ts";
import { changesOf, draftOf } from "../src/views/memory-edit.tsx";
import memory from "./answers/memory.json";

const begun = draftOf(v.parse(Memory, memory));

test("an edit sends only what was changed", () => {
  expect(changesOf(begun, begun)).toEqual({});
  expect(changesOf({ ...begun, title: " New title " }, begun)).toEqual({ title: "New title" });
});

test("keywords are a list, each once, without blanks", () => {
  const change = changesOf({ ...begun, keywords: "one,, two ,one\nthree" }, begun);
  expect(change).toEqual({ keywords: ["one", "two", "three"] });
});

test("a summary that was emptied is sent as empty", () => {
  expect(changesOf({ ...begun, summary: "" }, { ...begun, summary: "x" })).toEqual({ summary: "" });
});
