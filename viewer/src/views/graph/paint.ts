/** How nodes, links and labels are drawn on the graph's canvas. */

import type { Temperature } from "../../api/shapes.ts";
import { LOOKS, TEMPERATURES } from "../../components/temperature.tsx";
import { endId, type SceneLink, type SceneNode } from "./scene.ts";

export interface Palette {
  page: string;
  ink: string;
  quiet: string;
  line: string;
  accent: string;
  temperature: Record<Temperature, string>;
}

/** The page's colours as canvas understands them (it knows no `light-dark()`). */
export function paletteOf(element: HTMLElement): Palette {
  const probe = document.createElement("span");
  probe.hidden = true;
  element.append(probe);
  const read = (variable: string) => {
    probe.style.color = `var(${variable})`;
    return getComputedStyle(probe).color;
  };
  const temperature = Object.fromEntries(
    TEMPERATURES.map((name) => [name, read(LOOKS[name].variable)]),
  ) as Record<Temperature, string>;
  const palette = {
    page: read("--page"),
    ink: read("--ink"),
    quiet: read("--ink-quiet"),
    line: read("--line-strong"),
    accent: read("--accent"),
    temperature,
  };
  probe.remove();
  return palette;
}

/** Rings differ in their stroke as well as in colour: the hotter, the more of it. */
export const RINGS: Record<Temperature, { width: number; dash: number[] }> = {
  hot: { width: 2.75, dash: [] },
  warm: { width: 1.5, dash: [] },
  cold: { width: 1.5, dash: [5, 4] },
  "deep-cold": { width: 1.5, dash: [1.5, 4] },
};

export interface Lit {
  palette: Palette;
  /** The node under the pointer or the keyboard's focus. */
  hovered: string | null;
  /** The hovered node and its neighbours; null while nothing is hovered. */
  near: ReadonlySet<string> | null;
  selected: string | null;
}

const FADED = 0.14;

export function paintNode(node: SceneNode, pen: CanvasRenderingContext2D, scale: number, lit: Lit): void {
  const { x = 0, y = 0, r } = node;
  const { palette } = lit;
  pen.globalAlpha = lit.near && !lit.near.has(node.id) ? FADED : 1;
  pen.beginPath();
  pen.arc(x, y, r, 0, 2 * Math.PI);
  if (node.foreign) {
    pen.fillStyle = palette.page;
    pen.fill();
    pen.lineWidth = 1.5 / scale;
    pen.strokeStyle = node.color;
    pen.stroke();
  } else {
    // The page behind, so that no link shines through a faded node.
    pen.fillStyle = node.color;
    pen.fill();
    const ring = RINGS[node.temperature];
    pen.beginPath();
    // A ring keeps its width on screen; on small, far nodes it would else be all there is.
    const thin = Math.min(scale, Math.max(0.4, scale * 0.6));
    pen.arc(x, y, r + 3, 0, 2 * Math.PI);
    pen.lineWidth = (ring.width * thin) / scale;
    pen.setLineDash(ring.dash.map((length) => (length * thin) / scale));
    pen.strokeStyle = palette.temperature[node.temperature];
    pen.stroke();
    pen.setLineDash([]);
  }
  if (lit.selected === node.id || lit.hovered === node.id) {
    pen.beginPath();
    pen.arc(x, y, r + (node.foreign ? 3 : 6), 0, 2 * Math.PI);
    pen.lineWidth = 2 / scale;
    pen.strokeStyle = palette.accent;
    pen.stroke();
  }
  pen.globalAlpha = 1;
}

export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

const overlaps = (a: Box, b: Box) =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

const LABEL_PX = 13;
const FOREIGN_PX = 12;
const FACE = 'system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif';
const widths = new Map<string, number>();

function widthOf(text: string, px: number, pen: CanvasRenderingContext2D, scale: number): number {
  const key = `${px} ${text}`;
  let width = widths.get(key);
  if (width === undefined) {
    width = pen.measureText(text).width * scale;
    if (widths.size > 5000) widths.clear();
    widths.set(key, width);
  }
  return width / scale;
}

const rank = (node: SceneNode, lit: Lit) =>
  (node.id === lit.hovered ? 1e6 : 0) +
  (node.id === lit.selected ? 1e5 : 0) +
  (lit.near?.has(node.id) ? 1e4 : 0) +
  (node.foreign ? 0 : 100) +
  node.r;

/** The largest first; a label that would lie on one already drawn is left out until there is room.
 * Answers the boxes that are taken, by labels and by nodes. */
export function paintLabels(
  nodes: readonly SceneNode[],
  pen: CanvasRenderingContext2D,
  scale: number,
  view: Box,
  lit: Lit,
): Box[] {
  const placed: Box[] = [];
  const discs: Box[] = [];
  const inView = nodes.filter(
    ({ x = 0, y = 0 }) => x > view.left && x < view.right && y > view.top && y < view.bottom,
  );
  inView.sort((a, b) => rank(b, lit) - rank(a, lit));
  pen.textAlign = "center";
  pen.textBaseline = "top";
  pen.lineJoin = "round";
  for (const node of inView) {
    const dim = lit.near !== null && !lit.near.has(node.id);
    if (dim) continue;
    const reach = node.r * 0.8;
    const at = { x: node.x ?? 0, y: node.y ?? 0 };
    discs.push({ left: at.x - reach, right: at.x + reach, top: at.y - reach, bottom: at.y + reach });
    const px = node.foreign ? FOREIGN_PX : LABEL_PX;
    pen.font = `${node.foreign ? 400 : 500} ${px / scale}px ${FACE}`;
    const half = widthOf(node.name, px, pen, scale) / 2;
    const { x = 0, y = 0 } = node;
    const top = y + node.r + (node.foreign ? 4 / scale : 5 + 4 / scale);
    const box = { left: x - half, right: x + half, top, bottom: top + (px + 3) / scale };
    if (node.id !== lit.hovered && placed.some((other) => overlaps(box, other))) continue;
    placed.push(box);
    pen.lineWidth = 4 / scale;
    pen.strokeStyle = lit.palette.page;
    pen.strokeText(node.name, x, top);
    pen.fillStyle = node.foreign ? lit.palette.quiet : lit.palette.ink;
    pen.fillText(node.name, x, top);
  }
  return [...placed, ...discs];
}

export const linkLit = (link: SceneLink, lit: Lit) =>
  lit.hovered !== null && (endId(link.source) === lit.hovered || endId(link.target) === lit.hovered);

export function linkColor(link: SceneLink, lit: Lit): string {
  const { palette } = lit;
  if (lit.hovered === null) return palette.line;
  return linkLit(link, lit) ? palette.accent : withAlpha(palette.line, 0.25);
}

const alphas = new Map<string, string>();

function withAlpha(color: string, alpha: number): string {
  const key = `${color} ${alpha}`;
  let made = alphas.get(key);
  if (!made) {
    made = `color-mix(in srgb, ${color} ${alpha * 100}%, transparent)`;
    alphas.set(key, made);
  }
  return made;
}

/** In pixels on screen. From afar links are hairlines: thick ones would be one grey mass, and a
 * thousand of them cost more than a frame has. */
export function linkWidth(link: SceneLink, scale: number, far: number): number {
  if (scale < far) return 0.4 + link.weight * 0.6;
  return (0.6 + link.weight * 3) * Math.min(1, scale);
}

/** Dashes from afar cannot be told from lines. */
export const linkDash = (link: SceneLink, scale: number, far: number) =>
  link.derived && scale >= far ? [4, 4] : null;

/** Below which zoom a scene is seen from afar. */
export const farOf = (links: number) => (links > 600 ? 1.15 : 0.55);

/** Whether any of a link may be in view; a bent one by its bend's reach too. */
export function inView({ source, target, bend }: SceneLink, view: Box): boolean {
  if (typeof source === "string" || typeof target === "string") return true;
  const [ax, ay, bx, by] = [source.x ?? 0, source.y ?? 0, target.x ?? 0, target.y ?? 0];
  const slack = bend ? Math.abs(bend) * (Math.abs(bx - ax) + Math.abs(by - ay)) : 0;
  return (
    Math.max(ax, bx) + slack > view.left &&
    Math.min(ax, bx) - slack < view.right &&
    Math.max(ay, by) + slack > view.top &&
    Math.min(ay, by) - slack < view.bottom
  );
}

const LINK_PX = 11.5;

/** What the links say, along them, where neither a node's label nor a node is in the way. */
export function paintLinkLabels(
  links: readonly SceneLink[],
  pen: CanvasRenderingContext2D,
  scale: number,
  view: Box,
  taken: Box[],
  lit: Lit,
): void {
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.lineJoin = "round";
  pen.font = `400 ${LINK_PX / scale}px ${FACE}`;
  for (const link of links) {
    const bright = linkLit(link, lit);
    const { source, target } = link;
    if (typeof source === "string" || typeof target === "string") continue;
    if (lit.hovered === null ? !link.directed : !bright) continue;
    const [ax, ay, bx, by] = [source.x ?? 0, source.y ?? 0, target.x ?? 0, target.y ?? 0];
    // The middle of what is to be seen of the link, between the rims of its nodes.
    const length = Math.hypot(bx - ax, by - ay) || 1;
    const share = (length + source.r - target.r) / 2 / length;
    const x = ax + (bx - ax) * share + ((by - ay) * link.bend) / 2;
    const y = ay + (by - ay) * share - ((bx - ax) * link.bend) / 2;
    if (x < view.left || x > view.right || y < view.top || y > view.bottom) continue;
    const text = bright && link.directed ? `${link.label} ${link.weight.toFixed(1)}` : link.label;
    const width = widthOf(text, LINK_PX, pen, scale);
    if (length - source.r - target.r < width + 14 / scale) continue;
    let angle = Math.atan2(by - ay, bx - ax);
    if (angle > Math.PI / 2) angle -= Math.PI;
    if (angle < -Math.PI / 2) angle += Math.PI;
    const half = (Math.abs(Math.cos(angle)) * width) / 2;
    const rise = (Math.abs(Math.sin(angle)) * width) / 2 + LINK_PX / scale / 2;
    const box = { left: x - half, right: x + half, top: y - rise, bottom: y + rise };
    if (taken.some((other) => overlaps(box, other))) continue;
    taken.push(box);
    pen.save();
    pen.translate(x, y);
    pen.rotate(angle);
    pen.lineWidth = 3.5 / scale;
    pen.strokeStyle = lit.palette.page;
    pen.strokeText(text, 0, 0);
    pen.fillStyle = bright ? lit.palette.accent : lit.palette.quiet;
    pen.fillText(text, 0, 0);
    pen.restore();
  }
}
