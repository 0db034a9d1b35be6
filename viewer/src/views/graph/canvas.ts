/** The force graph itself: laid out by force-graph, drawn by `paint.ts`, moved by hand or key. */

import { forceCollide, forceX, forceY } from "d3-force-3d";
import ForceGraph from "force-graph";
import { keep, kept } from "../../kept.ts";
import * as paint from "./paint.ts";
import { neighbours, shapeOf, type Scene, type SceneLink, type SceneNode } from "./scene.ts";

export interface Listener {
  hover: (node: SceneNode | null) => void;
  enter: (node: SceneNode) => void;
  /** After each drawn frame: where the hovered node is, in pixels of the canvas. */
  moved: (at: { x: number; y: number; r: number } | null) => void;
}

const ENTER_MS = 280;
const FIT_MS = 450;
/** A lone node should not fill the page. */
const CLOSEST = 1.35;
/** From which zoom arrows and links' labels are drawn: where links are few, nearly always. */
const NEAR = { few: { arrows: 0.8, labels: 0.6 }, many: { arrows: 1.35, labels: 1.1 } };
const FEW_LINKS = 80;

/** Where nodes stood last, so that a graph looks the same when one comes back to it. */
const stood = new Map<string, { x: number; y: number }>();

type Pins = Record<string, [x: number, y: number]>;

function readPins(name: string): Pins {
  try {
    const read: unknown = JSON.parse(kept(`pins.${name}`) ?? "{}");
    return read && typeof read === "object" ? (read as Pins) : {};
  } catch {
    return {};
  }
}

export class GraphCanvas {
  readonly #graph: ForceGraph<SceneNode, SceneLink>;
  readonly #element: HTMLElement;
  readonly #still: boolean;
  #scene: Scene = { nodes: [], links: [] };
  #seen: paint.Box = { left: -Infinity, top: -Infinity, right: Infinity, bottom: Infinity };
  #far = 0;
  #near = NEAR.few;
  #shape = "";
  #place = "";
  #neighbours = new Map<string, Set<string>>();
  #lit: paint.Lit;
  #touched = false;
  #leaving: ReturnType<typeof setTimeout> | undefined;

  constructor(element: HTMLElement, listener: Listener, still: boolean) {
    this.#element = element;
    this.#still = still;
    this.#lit = { palette: paint.paletteOf(element), hovered: null, near: null, selected: null };
    const graph = new ForceGraph<SceneNode, SceneLink>(element);
    this.#graph = graph;
    const zoomed = (from: number) => graph.zoom() >= from;
    graph
      .nodeId("id")
      .nodeLabel(() => "")
      .nodeCanvasObject((node, pen, scale) => paint.paintNode(node, pen, scale, this.#lit))
      .nodePointerAreaPaint((node, color, pen) => {
        pen.fillStyle = color;
        pen.beginPath();
        pen.arc(node.x ?? 0, node.y ?? 0, node.r + 5, 0, 2 * Math.PI);
        pen.fill();
      })
      .linkColor((link) => paint.linkColor(link, this.#lit))
      .linkVisibility((link) => paint.inView(link, this.#seen))
      .linkWidth((link) => paint.linkWidth(link, graph.zoom(), this.#far))
      .linkCurvature((link) => link.bend)
      .linkLineDash((link) => paint.linkDash(link, graph.zoom(), this.#far))
      .linkDirectionalArrowLength((link) => (link.directed && zoomed(this.#near.arrows) ? 5 : 0))
      .linkDirectionalArrowRelPos(1)
      // Only where arrows end hangs on these: at the ring.
      .nodeRelSize(1)
      .nodeVal((node) => (node.r + (node.foreign ? 2 : 5)) ** 2)
      // Links are not for pointing at; drawing them for it would double the work of a frame.
      .linkPointerAreaPaint(() => undefined)
      .enablePointerInteraction(true)
      .minZoom(0.08)
      .maxZoom(8)
      .d3AlphaDecay(0.04)
      .d3VelocityDecay(0.35)
      .cooldownTime(still ? 0 : 1700)
      .onNodeHover((node) => {
        this.light(node?.id ?? null);
        listener.hover(node);
      })
      .onNodeClick((node) => listener.enter(node))
      .onNodeDrag(() => {
        this.#touched = true;
        graph.cooldownTicks(Infinity);
      })
      .onNodeDragEnd((node) => this.#pin(node))
      .onRenderFramePre(() => {
        this.#seen = this.#view();
      })
      .onRenderFramePost((pen, scale) => {
        const view = this.#seen;
        const taken = paint.paintLabels(this.#scene.nodes, pen, scale, view, this.#lit);
        if (scale >= this.#near.labels || this.#lit.hovered !== null) {
          paint.paintLinkLabels(this.#scene.links, pen, scale, view, taken, this.#lit);
        }
        listener.moved(this.#whereabouts());
      })
      .onEngineStop(() => {
        for (const { id, x = 0, y = 0 } of this.#scene.nodes) stood.set(id, { x, y });
        if (!this.#touched) this.#fit(this.#still ? 0 : FIT_MS);
      });
    graph.d3Force("charge")?.strength((node: SceneNode) => -140 - node.r * 16);
    graph.d3Force("charge")?.distanceMax(600);
    graph
      .d3Force("link")
      ?.distance(({ source, target }: SceneLink) => 90 + reach(source) + reach(target));
    graph.d3Force("center", null);
    graph.d3Force("x", forceX<SceneNode>().strength((node) => (node.foreign ? 0 : 0.06)));
    graph.d3Force("y", forceY<SceneNode>().strength((node) => (node.foreign ? 0 : 0.08)));
    graph.d3Force("collide", forceCollide<SceneNode>((node) => node.r + 14));
    element.addEventListener("wheel", this.#touch, { passive: true });
    element.addEventListener("pointerdown", this.#touch);
  }

  readonly #touch = () => {
    this.#touched = true;
  };

  /** Show a scene. Nodes that were there stay where they are; `place` names the graph for pins. */
  show(scene: Scene, place: string): void {
    const shape = shapeOf(scene);
    const moved = place !== this.#place;
    if (!moved && shape === this.#shape) {
      const known = new Map(this.#scene.nodes.map((node) => [node.id, node]));
      for (const node of scene.nodes) Object.assign(known.get(node.id) ?? {}, node);
      const links = new Map(this.#scene.links.map((link) => [link.id, link]));
      for (const { id, weight, derived, label } of scene.links) {
        Object.assign(links.get(id) ?? {}, { weight, derived, label });
      }
      this.#redraw();
      return;
    }
    const pins = readPins(place);
    let fresh = 0;
    for (const node of scene.nodes) {
      const at = stood.get(node.id);
      if (at && !node.foreign) Object.assign(node, at);
      else fresh += 1;
      const pin = pins[node.id];
      if (pin) [node.fx, node.fy] = [node.x, node.y] = pin;
    }
    this.#scene = scene;
    this.#shape = shape;
    this.#place = place;
    this.#neighbours = neighbours(scene);
    this.#far = paint.farOf(scene.links.length);
    this.#near = scene.links.length <= FEW_LINKS ? NEAR.few : NEAR.many;
    this.light(null);
    if (moved) this.#touched = false;
    const graph = this.#graph;
    const many = scene.nodes.length > 200;
    graph.cooldownTicks(fresh === 0 ? 0 : Infinity);
    graph.warmupTicks(fresh === 0 ? 0 : this.#still ? 240 : many ? 60 : 90);
    graph.graphData(scene);
    if (moved) {
      clearTimeout(this.#leaving);
      this.#element.classList.remove("leaving");
      // Laid out by now but not yet drawn: start a little farther off and come closer.
      requestAnimationFrame(() => {
        this.#fit(0);
        if (this.#still) return;
        const end = graph.zoom();
        graph.zoom(end * 0.7);
        graph.zoom(end, FIT_MS);
      });
    }
  }

  #pin(node: SceneNode): void {
    [node.fx, node.fy] = [node.x, node.y];
    const pins = readPins(this.#place);
    pins[node.id] = [Math.round(node.x ?? 0), Math.round(node.y ?? 0)];
    keep(`pins.${this.#place}`, JSON.stringify(pins));
  }

  #view() {
    const { left, top } = { left: 0, top: 0 };
    const a = this.#graph.screen2GraphCoords(left, top);
    const b = this.#graph.screen2GraphCoords(this.#graph.width(), this.#graph.height());
    return { left: a.x, top: a.y, right: b.x, bottom: b.y };
  }

  #whereabouts() {
    const node = this.#scene.nodes.find(({ id }) => id === this.#lit.hovered);
    if (!node) return null;
    const at = this.#graph.graph2ScreenCoords(node.x ?? 0, node.y ?? 0);
    return { ...at, r: node.r * this.#graph.zoom() };
  }

  #fit(ms: number): void {
    const graph = this.#graph;
    const { nodes } = this.#scene;
    if (nodes.length === 0) return;
    const [xs, ys] = [nodes.map((n) => n.x ?? 0), nodes.map((n) => n.y ?? 0)];
    const pad = Math.min(90, graph.width() / 8);
    const [left, right] = [Math.min(...xs), Math.max(...xs)];
    const [top, bottom] = [Math.min(...ys), Math.max(...ys)];
    const scale = Math.min(
      (graph.width() - 2 * pad) / (right - left + 60),
      (graph.height() - 2 * pad) / (bottom - top + 60),
      CLOSEST,
    );
    graph.centerAt((left + right) / 2, (top + bottom) / 2 + 10 / scale, ms);
    graph.zoom(Math.max(scale, 0.1), ms);
  }

  fit(): void {
    this.#fit(this.#still ? 0 : FIT_MS);
  }

  zoom(factor: number): void {
    this.#touched = true;
    this.#graph.zoom(this.#graph.zoom() * factor, this.#still ? 0 : 200);
  }

  /** Light a node and its neighbours up and let the rest fade; null for none. */
  light(id: string | null): void {
    this.#lit = { ...this.#lit, hovered: id, near: id ? (this.#neighbours.get(id) ?? null) : null };
    this.#redraw();
  }

  select(id: string | null): void {
    this.#lit = { ...this.#lit, selected: id };
    this.#redraw();
  }

  /** Bring a node into view, for those who move by keys. */
  reveal(id: string): void {
    const node = this.#scene.nodes.find((known) => known.id === id);
    if (!node) return;
    const { x, y } = this.#graph.graph2ScreenCoords(node.x ?? 0, node.y ?? 0);
    const inside = x > 40 && y > 40 && x < this.#graph.width() - 40 && y < this.#graph.height() - 60;
    if (!inside) this.#graph.centerAt(node.x, node.y, this.#still ? 0 : 250);
  }

  nodes(): readonly SceneNode[] {
    return this.#scene.nodes;
  }

  recolor(): void {
    this.#lit = { ...this.#lit, palette: paint.paletteOf(this.#element) };
    this.#redraw();
  }

  resize(width: number, height: number): void {
    this.#graph.width(width).height(height);
    if (!this.#touched) this.#fit(0);
  }

  /** Fly into a node, then do what entering it means. */
  enter(node: SceneNode, then: () => void): void {
    if (this.#still) {
      then();
      return;
    }
    this.#graph.centerAt(node.x, node.y, ENTER_MS);
    this.#graph.zoom(Math.min(8, this.#graph.zoom() * 3.5), ENTER_MS);
    this.#element.classList.add("leaving");
    setTimeout(then, ENTER_MS - 20);
    // Should the next graph fail to load, this one must not stay invisible.
    this.#leaving = setTimeout(() => this.#element.classList.remove("leaving"), 3000);
  }

  #redraw(): void {
    // Setting any property asks for a new frame, also when the layout is at rest.
    this.#graph.linkColor(this.#graph.linkColor());
  }

  close(): void {
    clearTimeout(this.#leaving);
    this.#element.removeEventListener("wheel", this.#touch);
    this.#element.removeEventListener("pointerdown", this.#touch);
    for (const { id, x = 0, y = 0 } of this.#scene.nodes) stood.set(id, { x, y });
    this.#graph._destructor();
    this.#element.replaceChildren();
  }
}

/** Nodes of other topics keep a little away. */
const reach = (end: string | SceneNode) =>
  typeof end === "string" ? 0 : end.foreign ? 40 : end.r;
