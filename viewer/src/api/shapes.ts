/** The JSON that the daemon answers, checked as it arrives: a broken answer is an error in words,
 * not a blank page. Unknown keys are dropped. */

import * as v from "valibot";

export const Temperature = v.picklist(["hot", "warm", "cold", "deep-cold"]);
export type Temperature = v.InferOutput<typeof Temperature>;

const moment = v.nullable(v.string());

export const Counts = v.object({
  memories: v.number(),
  hot: v.number(),
  warm: v.number(),
  cold: v.number(),
  deep_cold: v.number(),
});
export type Counts = v.InferOutput<typeof Counts>;

export const Node = v.object({
  id: v.string(),
  kind: v.picklist(["broad", "focused"]),
  name: v.string(),
  path: v.string(),
  description: v.string(),
  color: v.string(),
  private: v.boolean(),
  parent: v.nullable(v.string()),
  focused: v.number(),
  counts: Counts,
  temperature: Temperature,
  last_accessed: moment,
  access_count: v.number(),
  version: v.string(),
});
export type Node = v.InferOutput<typeof Node>;

export const Edge = v.object({
  source: v.string(),
  target: v.string(),
  relationship: v.string(),
  weight: v.number(),
  derived: v.boolean(),
});
export type Edge = v.InferOutput<typeof Edge>;

/** An edge with the names and paths of its two ends, as lists of edges answer it. */
export const NamedEdge = v.object({
  ...Edge.entries,
  source_name: v.optional(v.string(), ""),
  target_name: v.optional(v.string(), ""),
  source_path: v.optional(v.string(), ""),
  target_path: v.optional(v.string(), ""),
});
export type NamedEdge = v.InferOutput<typeof NamedEdge>;

export const Artifact = v.object({
  name: v.string(),
  size: v.number(),
  compressed: v.boolean(),
});
export type Artifact = v.InferOutput<typeof Artifact>;

export const Memory = v.object({
  id: v.string(),
  title: v.string(),
  path: v.string(),
  broad: v.string(),
  focused: v.string(),
  broad_id: v.string(),
  focused_id: v.string(),
  created: moment,
  source_model: v.string(),
  source_id: v.string(),
  keywords: v.array(v.string()),
  tags: v.array(v.string()),
  temperature: Temperature,
  last_accessed: moment,
  access_count: v.number(),
  pinned: v.boolean(),
  private: v.boolean(),
  /** `held`: something in it looks like a password, so git does not get it. */
  secrets: v.optional(v.string(), ""),
  token_count: v.number(),
  summary: v.string(),
  summary_source: v.string(),
  decisions: v.string(),
  open_questions: v.string(),
  notes: v.string(),
  artifacts: v.array(Artifact),
  has_transcript: v.boolean(),
  previous_part: v.nullable(v.string()),
  next_part: v.nullable(v.string()),
  owned: v.boolean(),
  stale: v.boolean(),
  version: v.string(),
  obsidian_url: v.string(),
});
export type Memory = v.InferOutput<typeof Memory>;

export const Deleted = v.object({ id: v.string(), trash: v.string() });

export const Turn = v.object({
  index: v.number(),
  speaker: v.string(),
  role: v.picklist(["user", "assistant", "other"]),
  when: v.string(),
  html: v.string(),
  matches: v.number(),
});
export type Turn = v.InferOutput<typeof Turn>;

/** A memory that git does not get before a person's yes, and where something in it looks secret. */
export const HeldMemory = v.object({
  id: v.string(),
  title: v.string(),
  path: v.string(),
  found: v.array(v.object({ kind: v.string(), line: v.number(), where: v.string() })),
});
export type HeldMemory = v.InferOutput<typeof HeldMemory>;

export const TurnPage = v.object({
  items: v.array(Turn),
  total: v.number(),
  page: v.number(),
  first_match: v.nullable(v.number()),
});
export type TurnPage = v.InferOutput<typeof TurnPage>;

export const Passage = v.object({
  text: v.string(),
  start: v.number(),
  end: v.number(),
  source: v.picklist(["transcript", "note"]),
  score: v.number(),
});

export const Hit = v.object({
  id: v.string(),
  title: v.string(),
  broad: v.string(),
  focused: v.string(),
  path: v.string(),
  created: moment,
  score: v.number(),
  stage: v.string(),
  snippet: v.string(),
  passages: v.array(Passage),
  temperature: Temperature,
  stale: v.boolean(),
  obsidian_url: v.string(),
});
export type Hit = v.InferOutput<typeof Hit>;

export const SearchAnswer = v.object({
  results: v.array(Hit),
  total: v.number(),
  took_ms: v.number(),
  stages: v.array(v.string()),
});
export type SearchAnswer = v.InferOutput<typeof SearchAnswer>;

export const Problem = v.object({ path: v.string(), problem: v.string() });
export type Problem = v.InferOutput<typeof Problem>;

/** What does a part of the work, such as the embedder; `ready` is false while it still loads. */
const Worker = v.object({ name: v.string(), ready: v.optional(v.boolean(), true) });

export const Status = v.object({
  state: v.picklist(["starting", "indexing", "ready", "failed"]),
  /** Why the vault cannot be served, when the state is `failed`. */
  failure: v.optional(v.nullable(v.string()), null),
  /** What a person should know that is no problem of one note. */
  notices: v.optional(v.array(v.string()), []),
  counts: v.object({ ...Counts.entries, broad: v.number(), focused: v.number() }),
  index: v.object({ keyword_behind: v.number(), vector_behind: v.number() }),
  problems: v.array(Problem),
  embedder: v.nullable(Worker),
  summarizer: v.nullable(Worker),
  sync: v.object({
    enabled: v.boolean(),
    state: v.nullable(v.string()),
    last: moment,
    problem: v.nullable(v.string()),
  }),
  vault: v.string(),
  version: v.string(),
});
export type Status = v.InferOutput<typeof Status>;

const perTemperature = v.object({
  hot: v.number(),
  warm: v.number(),
  cold: v.number(),
  deep_cold: v.number(),
});

const Plan = v.object({ compress: v.number(), deepen: v.number(), bytes: v.number() });
export type Plan = v.InferOutput<typeof Plan>;

export const TemperatureStatus = v.object({
  counts: perTemperature,
  bytes: perTemperature,
  agreed: v.boolean(),
  cool: v.picklist(["auto", "never"]),
  /** Why no cycle runs just now, in words. */
  held: v.optional(v.nullable(v.string()), null),
  next_cycle: moment,
  last_cycle: v.nullable(
    v.object({
      at: v.string(),
      compressed: v.number(),
      deepened: v.number(),
      saved_bytes: v.number(),
      problem: v.nullable(v.string()),
    }),
  ),
  planned: Plan,
});
export type TemperatureStatus = v.InferOutput<typeof TemperatureStatus>;

/** What warming a topic did; `left` memories are still cold. */
export const Warmed = v.object({ warmed: v.number(), left: v.number() });

export const Failure = v.object({
  error: v.object({ code: v.string(), message: v.string(), current: v.optional(v.unknown()) }),
});

/** A page of a list. */
export interface Page<T> {
  items: T[];
  total: number;
  page: number;
}

export function pageOf<S extends v.GenericSchema>(
  item: S,
): v.GenericSchema<unknown, Page<v.InferOutput<S>>> {
  return v.object({ items: v.array(item), total: v.number(), page: v.number() }) as v.GenericSchema<
    unknown,
    Page<v.InferOutput<S>>
  >;
}
