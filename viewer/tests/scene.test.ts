import { expect, test } from "vitest";
import type { NamedEdge, Node } from "../src/api/shapes.ts";
import { neighbours, topicScene, topicsScene, towards } from "../src/views/graph/scene.ts";

function node(id: string, path: string, memories = 1): Node {
  const [broad = "", focused] = path.split("/");
  return {
    id,
    kind: focused ? "focused" : "broad",
    name: focused ?? broad,
    path,
    description: "",
    color: "#6366f1",
    private: false,
    parent: focused ? `b-${broad}` : null,
    focused: 0,
    counts: { memories, hot: 0, warm: memories, cold: 0, deep_cold: 0 },
    temperature: "warm",
    last_accessed: null,
    access_count: 0,
    version: "1",
  };
}

function edge(source: Node, target: Node, relationship = "related_to", weight = 0.5): NamedEdge {
  return {
    source: source.id,
    target: target.id,
    relationship,
    weight,
    derived: false,
    source_name: source.name,
    target_name: target.name,
    source_path: source.path,
    target_path: target.path,
  };
}

const home = node("b-Home", "Home", 40);
const work = node("b-Work", "Work", 4);
const garden = node("f-garden", "Home/Garden");
const roof = node("f-roof", "Home/Roof");
const hiring = node("f-hiring", "Work/Hiring");

test("broad topics are joined once, however many of their focused topics are", () => {
  const scene = topicsScene(
    [home, work],
    [edge(garden, hiring), edge(hiring, roof), edge(garden, roof)],
  );
  expect(scene.links).toHaveLength(1);
  expect(scene.links[0]).toMatchObject({ label: "2 links", directed: false });
});

test("the more memories, the larger the node", () => {
  const [large, small] = topicsScene([home, work], []).nodes;
  expect(large?.r).toBeGreaterThan(small?.r ?? Infinity);
});

test("ends in other topics stand at the rim, with their topic's name and place", () => {
  const scene = topicScene(home, [garden, roof], [edge(garden, hiring)], [home, work]);
  const rim = scene.nodes.find(({ foreign }) => foreign);
  expect(rim).toMatchObject({ name: "Work › Hiring", href: "/topic/b-Work/f-hiring" });
  expect(scene.nodes).toHaveLength(3);
});

test("several links between two nodes bend apart, also when they run both ways", () => {
  const edges = [edge(garden, roof), edge(roof, garden), edge(garden, roof, "see_also")];
  const bends = topicScene(home, [garden, roof], edges, [home]).links.map((link) =>
    link.source === garden.id ? link.bend : -link.bend,
  );
  expect(new Set(bends).size).toBe(3);
});

test("an edge whose end is nowhere is left out", () => {
  const lost = { ...edge(garden, roof), target: "f-gone", target_path: "" };
  expect(topicScene(home, [garden], [lost], [home]).links).toEqual([]);
});

test("a node's neighbours are lit in both directions", () => {
  const near = neighbours(topicScene(home, [garden, roof], [edge(garden, roof)], [home]));
  expect([...(near.get(roof.id) ?? [])].sort()).toEqual([garden.id, roof.id].sort());
});

test("an arrow key leads to the nearest node that way, or nowhere", () => {
  const { nodes } = topicScene(home, [garden, roof], [], [home]);
  const [a, b] = nodes;
  if (!a || !b) throw new Error("two nodes were made");
  Object.assign(a, { x: 0, y: 0 });
  Object.assign(b, { x: 50, y: 10 });
  expect(towards(a, nodes, 1, 0)).toBe(b);
  expect(towards(a, nodes, -1, 0)).toBeNull();
});
