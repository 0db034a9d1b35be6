/** The tree as a flat list of rows: what is open, and how deep each row stands. Pure. */

import type { Node } from "../api/shapes.ts";

export type TreeRow =
  | { kind: "node"; key: string; node: Node; depth: number; open: boolean; at: number; of: number }
  | { kind: "memory"; key: string; home: Node; depth: number; at: number; of: number }
  | { kind: "waiting"; key: string; depth: number };

/** `within` answers the focused nodes of a broad one, or undefined while they are not known. */
export function treeRows(
  roots: readonly Node[],
  open: ReadonlySet<string>,
  within: (broad: string) => readonly Node[] | undefined,
): TreeRow[] {
  const rows: TreeRow[] = [];
  function add(nodes: readonly Node[], depth: number): void {
    nodes.forEach((node, at) => {
      const opened = open.has(node.id);
      rows.push({ kind: "node", key: node.id, node, depth, open: opened, at, of: nodes.length });
      if (!opened) return;
      if (node.kind === "broad") {
        const inner = within(node.id);
        if (inner) add(inner, depth + 1);
        else rows.push({ kind: "waiting", key: `${node.id} …`, depth: depth + 1 });
        return;
      }
      const of = node.counts.memories;
      for (let index = 0; index < of; index += 1) {
        const key = `${node.id} ${index}`;
        rows.push({ kind: "memory", key, home: node, depth: depth + 1, at: index, of });
      }
    });
  }
  add(roots, 0);
  return rows;
}

/** Where the row above in the tree is: the parent, for the left arrow. */
export function parentOf(rows: readonly TreeRow[], index: number): number {
  const depth = rows[index]?.depth ?? 0;
  for (let at = index - 1; at >= 0; at -= 1) if ((rows[at]?.depth ?? 0) < depth) return at;
  return index;
}
