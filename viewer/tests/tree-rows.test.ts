import { expect, test } from "vitest";
import type { Node } from "../src/api/shapes.ts";
import { parentOf, treeRows } from "../src/views/tree-rows.ts";

const node = (id: string, kind: Node["kind"], memories = 0) =>
  ({ id, kind, name: id, counts: { memories } }) as Node;

const roots = [node("a", "broad"), node("b", "broad")];
const inner = [node("a1", "focused", 3), node("a2", "focused")];

test("only what is open has rows", () => {
  expect(treeRows(roots, new Set(), () => inner).map(({ key }) => key)).toEqual(["a", "b"]);
  const rows = treeRows(roots, new Set(["a", "a1"]), () => inner);
  expect(rows.map(({ key }) => key)).toEqual(["a", "a1", "a1 0", "a1 1", "a1 2", "a2", "b"]);
  expect(rows.map(({ depth }) => depth)).toEqual([0, 1, 2, 2, 2, 1, 0]);
});

test("a branch that is still being asked for waits in its place", () => {
  const rows = treeRows(roots, new Set(["a"]), () => undefined);
  expect(rows.map(({ kind }) => kind)).toEqual(["node", "waiting", "node"]);
});

test("the left arrow leads to the parent", () => {
  const rows = treeRows(roots, new Set(["a", "a1"]), () => inner);
  expect([parentOf(rows, 4), parentOf(rows, 1), parentOf(rows, 0)]).toEqual([1, 0, 0]);
});
