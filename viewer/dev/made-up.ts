/** Believable, made-up memories for `npm run dev`. Seeded, so that every start shows the same. */

import type { Edge, Memory, Node, Temperature, Turn } from "../src/api/shapes.ts";

type Topic = [name: string, color: string, description: string, focused: Record<string, string[]>];

const TOPICS: Topic[] = [
  ["Medical", "#e5484d", "Health, doctors, medication", {
    Medications: ["Lisinopril: dose change", "Ibuprofen and blood pressure", "Refill schedule for autumn", "Side effects worth watching"],
    Conditions: ["Reading the blood pressure diary", "What the cardiologist said", "Migraine triggers, second look"],
    Diet: ["A week of low-salt dinners", "Potassium in everyday food", "Breakfast that keeps until noon"],
    Appointments: ["Questions for Dr. Okafor", "Preparing the yearly check-up"],
  }],
  ["Work", "#0091ff", "The job: projects, people, plans", {
    "Billing service": ["Idempotency keys for refunds", "Why the retry queue stalled", "Splitting the invoice table", "Postmortem of the March outage"],
    Hiring: ["Interview loop for backend engineers", "Feedback that helps a candidate"],
    "Team rituals": ["Shorter stand-ups, better notes", "A retro format that is not a chore"],
    Roadmap: ["What to drop in Q3", "Sequencing the ledger migration"],
  }],
  ["Home", "#30a46c", "The flat, the garden, repairs", {
    Garden: ["Tomatoes on a north balcony", "Compost without the smell", "When to prune the fig"],
    Renovation: ["Lime plaster in the bathroom", "Quotes from three electricians", "A quieter extractor fan"],
    "Solar panels": ["Sizing the battery", "Feed-in tariff, worked through"],
  }],
  ["Travel", "#f76b15", "Trips behind and ahead", {
    Japan: ["Two weeks from Kyoto to Kanazawa", "Rail pass or single tickets", "Onsen etiquette, 温泉の入り方"],
    Portugal: ["Walking the Rota Vicentina", "Where the bus does not go"],
    Packing: ["One bag for ten days"],
  }],
  ["Programming", "#6366f1", "Languages, tools, side projects", {
    Rust: ["Lifetimes in a parser, explained twice", "Cow<str> where it pays", "Async traits without boxing", "Reading a flamegraph"],
    Python: ["Type-safe settings with pydantic", "asyncio cancellation that cleans up", "Profiling an import that takes 4 s"],
    SQLite: ["FTS5 ranking for short notes", "WAL mode on a network share", "Partial indexes in practice"],
    Homelab: ["Backups that restore", "Wireguard between two flats"],
    TypeScript: ["Discriminated unions for UI state", "Branded ids"],
  }],
  ["Reading", "#ab4aba", "Books, papers, notes on them", {
    Philosophy: ["Iris Murdoch on attention", "Is the extended mind a metaphor?"],
    Novels: ["The narrator in Middlemarch", "Notes on Perec's rooms"],
    Papers: ["Retrieval practice, forty years on", "Sleep and memory consolidation"],
  }],
  ["Finance", "#0d9488", "Money: taxes, savings, insurance", {
    Taxes: ["Home office deduction", "Freelance income abroad"],
    Insurance: ["Comparing liability policies"],
    Savings: ["An index fund ladder", "How much cash is enough"],
  }],
  ["Music", "#e54666", "Practice and theory", {
    Piano: ["Voicing in the left hand", "A practice plan for Schubert D 899", "Wrist pain after octaves"],
    Theory: ["Neapolitan chords by ear"],
  }],
  ["Inbox", "#8d8d8d", "What fits nowhere yet", { General: ["A name for the cat", "Gift ideas for Noor"] }],
];

const KEYWORDS = "blood pressure,dose,reminder,schedule,refund,ledger,postmortem,compost,battery,tariff,rail pass,itinerary,borrow checker,profiling,index,backup,tax,policy,voicing,practice,attention,memory,checklist,comparison,decision,draft,question,follow-up".split(",");
const MODELS = ["claude", "gpt-5", "gemini", "llama3", "cursor", "obsidian", ""];
const SENTENCES = [
  "The conversation weighed two options and settled on the slower, safer one.",
  "A first plan was drawn up and then cut to what can be done this week.",
  "Most of the time went into finding out why the obvious fix does not work.",
  "The main figure turned out to be half of what had been assumed.",
  "Three sources were compared; two of them agree, the third is older.",
  "What remains open is who decides, and by when.",
  "The assistant proposed a checklist, which was shortened to five points.",
  "An earlier conversation on the same matter was corrected in one detail.",
  "The numbers were worked through step by step, with the units kept in sight.",
  "It ended with a short list of things to try before asking again.",
];
const RELATIONSHIPS = ["related_to", "depends_on", "see_also", "contradicts"];

function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const hex = (n: number) => n.toString(16).padStart(8, "0");

export interface MadeUp {
  nodes: Node[];
  edges: Edge[];
  memories: Memory[];
}

/** `size` memories; `dense` adds a topic of 500 focused nodes and 2,000 edges. */
export function makeUp(size: number, dense: boolean, now = Date.now()): MadeUp {
  const next = random(7);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(next() * from.length)] as T;
  const nodes: Node[] = [];
  const edges: Edge[] = [];
  const memories: Memory[] = [];
  const homes: { node: Node; broad: Node; titles: string[] }[] = [];

  function node(kind: "broad" | "focused", name: string, parent: Node | null, color: string, description: string): Node {
    const made: Node = {
      id: `n-${hex(nodes.length + 0x3f9c0000)}`,
      kind,
      name,
      path: parent ? `${parent.path}/${name}` : name,
      description,
      color,
      private: false,
      parent: parent?.id ?? null,
      focused: 0,
      counts: { memories: 0, hot: 0, warm: 0, cold: 0, deep_cold: 0 },
      temperature: "cold",
      last_accessed: null,
      access_count: 0,
      version: "1",
    };
    nodes.push(made);
    if (parent) parent.focused += 1;
    return made;
  }

  if (size > 0) {
    for (const [name, color, description, focused] of TOPICS) {
      const broad = node("broad", name, null, color, description);
      for (const [title, titles] of Object.entries(focused)) {
        homes.push({ node: node("focused", title, broad, "#8b5cf6", `${title}, in short`), broad, titles });
      }
    }
  }
  if (dense) {
    const broad = node("broad", "Atlas", null, "#6366f1", "A topic with five hundred corners");
    for (let i = 0; i < 500; i += 1) {
      homes.push({ node: node("focused", `Corner ${i + 1}`, broad, "#8b5cf6", ""), broad, titles: ["A note from the corner"] });
    }
    const corners = nodes.slice(-500);
    for (let i = 0; i < 2000; i += 1) {
      const a = pick(corners);
      const b = corners[(corners.indexOf(a) + 1 + Math.floor(next() ** 3 * 60)) % 500] as Node;
      edges.push({ source: a.id, target: b.id, relationship: pick(RELATIONSHIPS), weight: Math.round(next() * 10) / 10, derived: next() < 0.3 });
    }
  }

  for (let i = 0; i < size; i += 1) {
    const home = homes[Math.floor(next() ** 1.4 * homes.length)] as (typeof homes)[number];
    const age = next() ** 2.6 * 400 * 86_400_000;
    const created = new Date(now - age);
    const lately = age * next();
    const temperature: Temperature = lately < 3_600_000 ? "hot" : lately < 7 * 86_400_000 ? "warm" : lately < 30 * 86_400_000 ? "cold" : "deep-cold";
    const round = Math.floor(i / 30);
    const title = pick(home.titles) + (round > 1 ? `, part ${round}` : "");
    const day = created.toISOString().slice(0, 10);
    const id = `m-${day.replaceAll("-", "")}-${hex(i + 0x7f3a0000)}`;
    const artifacts = next() < 0.12 ? [{ name: pick(["plan.pdf", "readings.csv", "sketch.png", "notes.md"]), size: Math.floor(next() * 2_000_000), compressed: temperature === "deep-cold" }] : [];
    const length = 2 + Math.floor(next() * 6);
    memories.push({
      id,
      title,
      path: `${home.node.path}/${day} ${title.replaceAll(/[\\/:*?"<>|#^[\]]/g, " ")}.md`,
      broad: home.broad.name,
      focused: home.node.name,
      broad_id: home.broad.id,
      focused_id: home.node.id,
      created: created.toISOString(),
      source_model: pick(MODELS),
      source_id: `c-${i}`,
      keywords: [...new Set(Array.from({ length: 2 + Math.floor(next() * 4) }, () => pick(KEYWORDS)))],
      tags: [],
      temperature,
      last_accessed: new Date(now - lately).toISOString(),
      access_count: Math.floor(next() ** 3 * 40),
      pinned: next() < 0.02,
      private: next() < 0.02,
      secrets: next() < 0.02 ? "held" : "",
      token_count: 800 + Math.floor(next() ** 2 * 48_000),
      summary: Array.from({ length }, () => pick(SENTENCES)).join(" "),
      summary_source: "extractive 5c1e09ab",
      decisions: next() < 0.3 ? "- Take the smaller dose for two weeks\n- Write the readings down each morning" : "",
      open_questions: next() < 0.2 ? "- Does it interact with ibuprofen?" : "",
      notes: next() < 0.1 ? "## My notes\nAsked again in person; the answer was the same." : "",
      artifacts,
      has_transcript: next() < 0.94,
      previous_part: null,
      next_part: null,
      owned: next() < 0.9,
      stale: false,
      version: "1",
      obsidian_url: `obsidian://open?vault=Neurigraph&file=${encodeURIComponent(title)}`,
    });
  }

  const small = nodes.filter((n) => n.kind === "focused" && !n.name.startsWith("Corner"));
  for (const source of small) {
    for (let i = 0; i < 3; i += 1) {
      const near = small.filter((n) => n.parent === source.parent && n !== source);
      const target = next() < 0.75 && near.length ? pick(near) : pick(small);
      const relationship = pick(RELATIONSHIPS);
      if (target === source || edges.some((e) => e.source === source.id && e.target === target.id)) continue;
      const derived = next() < 0.3;
      edges.push({ source: source.id, target: target.id, relationship: derived ? "links_to" : relationship, weight: derived ? 0.3 : Math.round((0.2 + next() * 0.8) * 10) / 10, derived });
    }
  }
  return { nodes, edges, memories };
}

const SAID = [
  "I have been taking 10 mg in the morning and the readings are still around 148/92. Is that a reason to go up?",
  "Could you go through that again, with the numbers?",
  "What would you check first?",
  "That helps. And if it does not work?",
];
const ANSWERED = [
  "<p>Going by the diary you pasted, the <strong>morning values</strong> are the ones that matter most. A few things to look at first:</p><ul><li>whether the cuff fits,</li><li>whether you sat still for five minutes,</li><li>what the evening values say.</li></ul><p>If all three are in order, the usual next step is the higher dose, with a check after two weeks.</p>",
  '<p>Here is the smallest version that shows it:</p><pre><code class="language-python">def readings(diary: list[str]) -&gt; list[tuple[int, int]]:\n    """Systolic and diastolic of every line that has both, in the order of the diary, oldest line first."""\n    return [(int(a), int(b)) for a, b in (line.split("/") for line in diary if "/" in line)]\n</code></pre><p>It reads each line once and leaves out what it cannot parse.</p>',
  "<p>Let me put the two side by side.</p><table><thead><tr><th>Option</th><th>Cost</th><th>Risk</th></tr></thead><tbody><tr><td>Stay</td><td>0</td><td>slow drift</td></tr><tr><td>Move</td><td>3 days</td><td>low</td></tr></tbody></table><p>I would <em>move</em>, but not this week.</p>",
  "<p>Then we know that the cause lies elsewhere, which is worth something in itself. I would write down what was tried, wait for the next reading, and only then change a second thing. Changing two things at once is how people end up not knowing which one helped.</p><blockquote><p>One change at a time, and long enough to see it.</p></blockquote>",
];

/** The turns of a memory's transcript, `count` of them, with `q` marked. */
export function turnsOf(memory: Memory, q: string): Turn[] {
  const count = Math.max(4, Math.min(3000, Math.floor(memory.token_count / 120)));
  const words = q.split(/\s+/).filter((word) => word.length > 2);
  return Array.from({ length: count }, (_, index) => {
    const user = index % 2 === 0;
    const plain = user ? `<p>${SAID[(index / 2) % SAID.length]}</p>` : (ANSWERED[((index - 1) / 2) % ANSWERED.length] as string);
    let matches = 0;
    let html = index % 9 === 7 ? plain.repeat(7) : plain;
    for (const word of words) {
      html = html.replace(new RegExp(`(?<![<&/\\w])(${word.replaceAll(/\W/g, "")})`, "gi"), (found) => {
        matches += 1;
        return `<mark>${found}</mark>`;
      });
    }
    return { index, speaker: user ? "User" : "Assistant", role: user ? "user" : "assistant", when: memory.created?.slice(0, 16).replace("T", " ") ?? "", html, matches };
  });
}
