/** What a graph shows: nodes and links made from topics and edges. Pure. */

import type { NamedEdge, Node, Temperature } from "../../api/shapes.ts";
import { urls, type Place } from "../../route.ts";

export interface SceneNode {
  id: string;
  name: string;
  color: string;
  /** Radius at zoom 1. */
  r: number;
  temperature: Temperature;
  /** Of another topic than the one shown. */
  foreign: boolean;
  href: string;
  node: Node | null;
  x?: number;
  y?: number;
  fx?: number;
  fy?: number;
}

export interface SceneLink {
  id: string;
  source: string | SceneNode;
  target: string | SceneNode;
  label: string;
  weight: number;
  derived: boolean;
  /** Drawn with an arrow; links between whole topics run both ways. */
  directed: boolean;
  /** How far it bends, as a share of its length: several links between two nodes lie apart. */
  bend: number;
}

export interface Scene {
  nodes: SceneNode[];
  links: SceneLink[];
}

const topicOf = (path: string) => path.split("/")[0] ?? "";

function radii(nodes: readonly Node[], least: number, most: number): (node: Node) => number {
  const largest = Math.max(1, ...nodes.map((node) => node.counts.memories));
  return (node) => least + (most - least) * Math.sqrt(node.counts.memories / largest);
}

function shown(node: Node, r: number, place: Place): SceneNode {
  const { id, name, color, temperature } = node;
  return { id, name, color, temperature, r, foreign: false, href: urls.place(place), node };
}

/** The broad topics, joined where any of their focused nodes are. */
export function topicsScene(broad: readonly Node[], edges: readonly NamedEdge[]): Scene {
  const radius = radii(broad, 9, 26);
  const byName = new Map(broad.map((node) => [node.path, node]));
  const sums = new Map<string, { link: SceneLink; count: number }>();
  for (const edge of edges) {
    const a = byName.get(topicOf(edge.source_path));
    const b = byName.get(topicOf(edge.target_path));
    if (!a || !b || a === b) continue;
    const [source, target] = [a.id, b.id].sort() as [string, string];
    const id = `${source} ${target}`;
    const known = sums.get(id);
    if (known) {
      known.count += 1;
      known.link.weight = Math.min(1, known.link.weight + edge.weight / 4);
      known.link.derived &&= edge.derived;
      known.link.label = `${known.count} links`;
    } else {
      const { derived } = edge;
      const weight = edge.weight / 3;
      const link = { id, source, target, label: "1 link", weight, derived, directed: false, bend: 0 };
      sums.set(id, { link, count: 1 });
    }
  }
  return {
    nodes: broad.map((node) => shown(node, radius(node), { at: "broad", broad: node.id })),
    links: [...sums.values()].map(({ link }) => link),
  };
}

/** A topic's focused nodes, their edges, and the ends of those edges in other topics. */
export function topicScene(
  topic: Node,
  focused: readonly Node[],
  edges: readonly NamedEdge[],
  broad: readonly Node[],
): Scene {
  const radius = radii(focused, 7, 20);
  const inside = (id: string): Place => ({ at: "focused", broad: topic.id, focused: id });
  const nodes = new Map(
    focused.map((node) => [node.id, shown(node, radius(node), inside(node.id))]),
  );
  const topics = new Map(broad.map((node) => [node.path, node]));

  function end(id: string, name: string, path: string): boolean {
    if (nodes.has(id)) return true;
    if (id === topic.id) {
      nodes.set(id, shown(topic, 12, { at: "broad", broad: id }));
      return true;
    }
    const home = topics.get(topicOf(path));
    if (!home) return false;
    const whole = home.id === id;
    const place: Place = whole
      ? { at: "broad", broad: id }
      : { at: "focused", broad: home.id, focused: id };
    nodes.set(id, {
      id,
      name: whole ? name : `${home.name} › ${name}`,
      color: home.color,
      r: 5,
      temperature: "cold",
      foreign: true,
      href: urls.place(place),
      node: null,
    });
    return true;
  }

  const links: SceneLink[] = [];
  for (const edge of edges) {
    const known =
      end(edge.source, edge.source_name, edge.source_path) &&
      end(edge.target, edge.target_name, edge.target_path);
    if (!known) continue;
    const { source, target, relationship, weight, derived } = edge;
    const id = `${source} ${relationship} ${target}`;
    const label = relationship.replaceAll("_", " ");
    links.push({ id, source, target, label, weight, derived, directed: true, bend: 0 });
  }
  bendApart(links);
  return { nodes: [...nodes.values()], links };
}

function bendApart(links: SceneLink[]): void {
  const pairs = new Map<string, SceneLink[]>();
  for (const link of links) {
    const pair = [endId(link.source), endId(link.target)].sort().join(" ");
    pairs.set(pair, [...(pairs.get(pair) ?? []), link]);
  }
  for (const group of pairs.values()) {
    const first = group[0] && endId(group[0].source);
    group.forEach((link, at) => {
      // A bend is to the right of a link's own direction, so one that runs back needs the opposite.
      const side = endId(link.source) === first ? 1 : -1;
      link.bend = side * (at - (group.length - 1) / 2) * 0.22;
    });
  }
}

export const endId = (end: string | SceneNode) => (typeof end === "string" ? end : end.id);

/** Every node's neighbours, itself included. */
export function neighbours(scene: Scene): Map<string, Set<string>> {
  const near = new Map(scene.nodes.map((node) => [node.id, new Set([node.id])]));
  for (const link of scene.links) {
    const [a, b] = [endId(link.source), endId(link.target)];
    near.get(a)?.add(b);
    near.get(b)?.add(a);
  }
  return near;
}

/** The nearest node in the direction of an arrow key, for moving through the graph by keys. */
export function towards(
  from: SceneNode,
  nodes: readonly SceneNode[],
  dx: number,
  dy: number,
): SceneNode | null {
  let best: SceneNode | null = null;
  let least = Infinity;
  for (const node of nodes) {
    if (node === from) continue;
    const x = (node.x ?? 0) - (from.x ?? 0);
    const y = (node.y ?? 0) - (from.y ?? 0);
    const along = x * dx + y * dy;
    const across = Math.abs(x * dy - y * dx);
    if (along <= 0 || across > along * 2) continue;
    const cost = along + across * 2;
    if (cost < least) [best, least] = [node, cost];
  }
  return best;
}

/** What tells one scene's shape from another's; anything else changes in place. */
export function shapeOf(scene: Scene): string {
  return [...scene.nodes.map((n) => n.id), ...scene.links.map((l) => l.id)].sort().join("|");
}
