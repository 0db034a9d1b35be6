/** A stand-in for the daemon while the viewer is worked on: made-up memories, kept in RAM.
 *
 * `MOCK_SIZE` is the number of memories (240), `MOCK_DENSE=1` adds a topic of 500 nodes.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Plugin } from "vite";
import type { Memory, Node, Temperature } from "../src/api/shapes.ts";
import { makeUp, turnsOf } from "./made-up.ts";

const RANK: Temperature[] = ["hot", "warm", "cold", "deep-cold"];

class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly current?: unknown,
  ) {
    super(message);
  }
}

class Daemon {
  readonly world = makeUp(Number(process.env.MOCK_SIZE ?? 240), process.env.MOCK_DENSE === "1");
  readonly trash = new Map<string, Memory>();
  readonly watchers = new Set<ServerResponse>();
  agreed = false;

  constructor() {
    for (const node of this.world.nodes) this.recount(node);
  }

  recount(node: Node): void {
    const held = this.world.memories.filter((m) => m.focused_id === node.id || m.broad_id === node.id);
    const of = (t: Temperature) => held.filter((m) => m.temperature === t).length;
    node.counts = { memories: held.length, hot: of("hot"), warm: of("warm"), cold: of("cold"), deep_cold: of("deep-cold") };
    node.temperature = RANK.find((t) => of(t) > 0) ?? "cold";
    node.last_accessed = held.map((m) => m.last_accessed ?? "").sort().at(-1) || null;
    node.access_count = held.reduce((sum, m) => sum + m.access_count, 0);
  }

  tell(event: string, data: unknown): void {
    for (const response of this.watchers) response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  node(id: string | undefined): Node {
    const found = this.world.nodes.find((node) => node.id === id);
    if (!found) throw new Refusal(404, "not_found", "There is no such topic any more.");
    return found;
  }

  memory(id: string | undefined): Memory {
    const found = this.world.memories.find((memory) => memory.id === id);
    if (!found) throw new Refusal(404, "not_found", "There is no such memory any more.");
    return found;
  }

  named(edge: (typeof this.world.edges)[number]) {
    const source = this.node(edge.source);
    const target = this.node(edge.target);
    return { ...edge, source_name: source.name, target_name: target.name, source_path: source.path, target_path: target.path };
  }

  answer(method: string, parts: string[], query: URLSearchParams, body: Record<string, unknown>, version: string | undefined): unknown {
    const page = <T>(items: T[]) => {
      const at = Number(query.get("page") ?? 1);
      const size = Number(query.get("per_page") ?? 50);
      return { items: items.slice((at - 1) * size, at * size), total: items.length, page: at };
    };
    const fresh = <T extends { version: string }>(thing: T): T => {
      if (version === undefined) throw new Refusal(428, "version_needed", "Say which version you mean.");
      if (version !== thing.version) throw new Refusal(409, "changed", "It was changed elsewhere meanwhile.", thing);
      return thing;
    };
    const { world } = this;
    const [a, b, c, d] = parts;
    const route = `${method} ${a}${b ? `/${b}` : ""}`;

    if (route === "GET status") return this.status();
    if (route === "POST sync") return {};
    if (a === "temperature") return this.heat(method, b, c, query);
    if (route === "GET search") return this.search(query);
    if (a === "graph" && b === "edges") return this.edge(method, c, query, body, page);
    if (a === "graph" && (b === "broad" || b === "focused")) {
      if (!c && method === "GET") return page(world.nodes.filter((n) => n.kind === "broad"));
      if (d === "focused" && method === "GET") return page(world.nodes.filter((n) => n.parent === c));
      if (method === "POST" && d !== "open") {
        const parent = c ? this.node(c) : null;
        const name = String(body.name ?? "").trim();
        if (!name) throw new Refusal(400, "bad_request", "A topic needs a name.");
        if (world.nodes.some((n) => n.name.toLowerCase() === name.toLowerCase() && n.parent === (parent?.id ?? null))) throw new Refusal(409, "taken", `There is already a topic called “${name}”.`);
        const made: Node = { ...(world.nodes[0] as Node), id: `n-${Date.now().toString(16).slice(-8)}`, kind: parent ? "focused" : "broad", name, path: parent ? `${parent.path}/${name}` : name, description: String(body.description ?? ""), color: String(body.color ?? (parent ? "#8b5cf6" : "#6366f1")), parent: parent?.id ?? null, focused: 0, version: "1" };
        if (parent) parent.focused += 1;
        world.nodes.push(made);
        this.recount(made);
        this.tell("node", { ids: [made.id] });
        return made;
      }
      const node = this.node(c);
      if (method === "GET" || method === "POST") return node;
      fresh(node);
      if (method === "PATCH") {
        Object.assign(node, body, { version: String(Number(node.version) + 1) });
      } else {
        if (node.counts.memories > 0 && query.get("recursive") !== "true") throw new Refusal(409, "not_empty", "The topic still holds memories.");
        world.nodes = world.nodes.filter((n) => n.id !== c && n.parent !== c);
        world.memories = world.memories.filter((m) => m.focused_id !== c && m.broad_id !== c);
        world.edges = world.edges.filter((e) => world.nodes.some((n) => n.id === e.source) && world.nodes.some((n) => n.id === e.target));
      }
      this.tell("node", { ids: [c] });
      return node;
    }
    if (a === "memory" && b === "chunk") {
      if (d === "restore") {
        const back = this.trash.get(c ?? "");
        if (!back) throw new Refusal(404, "not_found", "It is not in the trash.");
        world.memories.push(back);
        this.tell("memory", { ids: [back.id], action: "changed" });
        return back;
      }
      const memory = this.memory(c);
      if (d === "transcript") {
        const turns = turnsOf(memory, query.get("q") ?? "");
        return { ...page(turns), first_match: turns.find((turn) => turn.matches > 0)?.index ?? null };
      }
      if (d === "open") {
        memory.access_count += 1;
        memory.temperature = "hot";
        memory.last_accessed = new Date().toISOString();
        return memory;
      }
      if (method === "GET") return memory;
      fresh(memory);
      if (method === "DELETE") {
        world.memories = world.memories.filter((m) => m !== memory);
        this.trash.set(memory.id, memory);
        this.tell("memory", { ids: [c], action: "removed" });
        return { id: c, trash: `.trash/${memory.path}` };
      }
      Object.assign(memory, body, { version: String(Number(memory.version) + 1) });
      if (typeof body.focused_id === "string") {
        const home = this.node(body.focused_id);
        const broad = this.node(home.parent ?? home.id);
        Object.assign(memory, { focused: home.name, broad: broad.name, broad_id: broad.id });
      }
      this.tell("memory", { ids: [c], action: "changed" });
      return memory;
    }
    if (a === "memory") return page(this.list(b, query));
    throw new Refusal(404, "not_found", `No such address: ${parts.join("/")}`);
  }

  list(node: string | undefined, query: URLSearchParams): Memory[] {
    const keyword = query.get("keyword")?.toLowerCase();
    const from = query.get("from");
    const to = query.get("to");
    const model = query.get("source_model");
    const found = this.world.memories.filter(
      (m) =>
        (!node || m.focused_id === node || m.broad_id === node) &&
        (!keyword || m.keywords.some((k) => k.toLowerCase() === keyword)) &&
        (!from || (m.created ?? "").slice(0, 10) >= from) &&
        (!to || (m.created ?? "").slice(0, 10) <= to) &&
        (!model || m.source_model === model),
    );
    const sort = query.get("sort") ?? "date";
    const key: Record<string, (m: Memory) => string> = {
      date: (m) => m.created ?? "",
      access: (m) => m.last_accessed ?? "",
      temperature: (m) => String(9 - RANK.indexOf(m.temperature)) + (m.last_accessed ?? ""),
      title: (m) => m.title.toLowerCase(),
      topic: (m) => `${m.broad}/${m.focused}`.toLowerCase(),
      keywords: (m) => m.keywords.join().toLowerCase(),
    };
    const by = key[sort];
    if (!by) throw new Refusal(400, "bad_request", `Cannot sort by ${sort}.`);
    const sign = query.get("order") === "asc" ? 1 : -1;
    return found.sort((x, y) => (by(x) < by(y) ? -sign : by(x) > by(y) ? sign : 0));
  }

  edge(method: string, id: string | undefined, query: URLSearchParams, body: Record<string, unknown>, page: <T>(items: T[]) => unknown): unknown {
    const { world } = this;
    if (method === "GET") {
      const touches = (n: string) => !id || n === id || this.node(n).parent === id;
      return page(world.edges.filter((e) => touches(e.source) || touches(e.target)).map((e) => this.named(e)));
    }
    const same = (e: (typeof world.edges)[number]) => e.source === query.get("source") && e.target === query.get("target") && e.relationship === query.get("relationship");
    if (method === "POST") world.edges.push({ source: String(body.source), target: String(body.target), relationship: String(body.relationship ?? "related_to"), weight: Number(body.weight ?? 1), derived: false });
    if (method === "PATCH") Object.assign(world.edges.find(same) ?? {}, body);
    if (method === "DELETE") world.edges = world.edges.filter((e) => !same(e));
    this.tell("edge", {});
    return {};
  }

  heat(method: string, what: string | undefined, node: string | undefined, query: URLSearchParams): unknown {
    const of = (t: Temperature) => this.world.memories.filter((m) => m.temperature === t).length;
    const counts = { hot: of("hot"), warm: of("warm"), cold: of("cold"), deep_cold: of("deep-cold") };
    if (what === "status") {
      const bytes = { hot: counts.hot * 60_000, warm: counts.warm * 52_000, cold: counts.cold * 17_000, deep_cold: counts.deep_cold * 15_000 };
      const planned = { compress: Math.ceil(counts.warm / 5), deepen: Math.ceil(counts.cold / 9), bytes: counts.warm * 7_000 };
      const last = this.agreed ? { at: new Date(Date.now() - 1_500_000).toISOString(), compressed: 3, deepened: 1, saved_bytes: 148_000, problem: null } : null;
      return { counts, bytes, agreed: this.agreed, cool: "auto", next_cycle: new Date(Date.now() + 1_900_000).toISOString(), last_cycle: last, planned };
    }
    if (what === "maintenance" && query.get("agree") === "true") this.agreed = true;
    if (method === "POST" && what === "warm") {
      for (const memory of this.world.memories) if (memory.focused_id === node || memory.broad_id === node) memory.temperature = "hot";
      this.recount(this.node(node));
      this.tell("temperature", {});
      return { warmed: 3, left: 0 };
    }
    return {};
  }

  search(query: URLSearchParams): unknown {
    const q = (query.get("q") ?? "").toLowerCase().trim();
    const words = q.split(/\s+/).filter(Boolean);
    const limit = Number(query.get("limit") ?? 10);
    const offset = Number(query.get("offset") ?? 0);
    const lit = (text: string) => words.reduce((t, w) => t.replaceAll(new RegExp(w.replaceAll(/\W/g, ""), "gi"), (f) => `\uE000${f}\uE001`), text);
    const hits = this.world.memories
      .map((m) => {
        const text = `${m.title} ${m.keywords.join(" ")} ${m.summary} ${m.focused}`.toLowerCase();
        const exact = words.every((w) => m.title.toLowerCase().includes(w) || m.keywords.join(" ").includes(w));
        const score = words.filter((w) => text.includes(w)).length / (words.length || 1);
        return { m, exact, score: score * (exact ? 1 : 0.7) };
      })
      .filter((hit) => hit.score > 0.3)
      .sort((x, y) => y.score - x.score);
    return {
      results: hits.slice(offset, offset + limit).map(({ m, exact, score }, i) => ({
        id: m.id, title: m.title, broad: m.broad, focused: m.focused, path: m.path, created: m.created, score,
        stage: exact ? "exact" : i % 3 ? "text" : "meaning", snippet: lit(m.summary.slice(0, 220)),
        passages: [{ text: lit(m.summary.slice(0, 300)), start: 0, end: 300, source: "note", score }],
        temperature: m.temperature, stale: false, obsidian_url: m.obsidian_url,
      })),
      total: hits.length,
      took_ms: 6.4,
      stages: ["exact", "text"],
    };
  }

  status(): unknown {
    const { memories, nodes } = this.world;
    const of = (t: Temperature) => memories.filter((m) => m.temperature === t).length;
    const indexing = process.env.MOCK_INDEXING === "1";
    return {
      state: indexing ? "indexing" : "ready",
      counts: { broad: nodes.filter((n) => n.kind === "broad").length, focused: nodes.filter((n) => n.kind === "focused").length, memories: memories.length, hot: of("hot"), warm: of("warm"), cold: of("cold"), deep_cold: of("deep-cold") },
      index: { keyword_behind: indexing ? 812 : 0, vector_behind: indexing ? 4120 : 0 },
      problems: memories.length ? [
        { path: "Work/Roadmap/Plan.md", problem: "The frontmatter does not parse (line 3: a colon in a value that is not quoted). Put the value in quotes; until then its text is searchable, and the note is never written to." },
        { path: "Home/Garden/Figs (conflicted copy).md", problem: "A copy made by a sync tool. Compare it with “Figs.md”, keep one, delete the other." },
      ] : [],
      failure: null,
      notices: [],
      embedder: { name: "wordllama", ready: true },
      summarizer: { name: "extractive", ready: true },
      sync: { enabled: true, state: "up to date", last: new Date(Date.now() - 400_000).toISOString(), problem: null },
      vault: "/home/ada/Neurigraph",
      version: "0.1.0",
    };
  }
}

async function read(request: IncomingMessage): Promise<Record<string, unknown>> {
  let text = "";
  for await (const piece of request) text += String(piece);
  return text ? (JSON.parse(text) as Record<string, unknown>) : {};
}

async function serve(daemon: Daemon, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? "/", "http://mock");
  const parts = url.pathname.split("/").filter(Boolean).slice(1).map(decodeURIComponent);
  if (parts[0] === "events") {
    response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
    response.write(": hello\n\n");
    daemon.watchers.add(response);
    request.on("close", () => daemon.watchers.delete(response));
    return;
  }
  const version = request.headers["if-match"]?.replaceAll('"', "");
  let status = 200;
  let answer: unknown;
  try {
    answer = daemon.answer(request.method ?? "GET", parts, url.searchParams, await read(request), version);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    status = error.status;
    answer = { error: { code: error.code, message: error.message, current: error.current } };
  }
  response.writeHead(status, { "Content-Type": "application/json" });
  response.end(JSON.stringify(answer));
}

const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export function mockDaemon(): Plugin {
  const daemon = new Daemon();
  const answer = (request: IncomingMessage, response: ServerResponse, next: () => void) => {
    if (request.url?.startsWith("/api/")) void serve(daemon, request, response);
    else next();
  };
  return {
    name: "mock-daemon",
    configureServer: (server) => {
      server.middlewares.use(answer);
    },
    // `vite preview` shows the built pages under the policy that the daemon sends.
    configurePreviewServer: (server) => {
      server.middlewares.use((request, response, next) => {
        response.setHeader("Content-Security-Policy", POLICY);
        answer(request, response, next);
      });
    },
  };
}
