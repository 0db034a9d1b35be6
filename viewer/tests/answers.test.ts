/** The daemon's own answers, recorded by its tests, are what the viewer understands. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { expect, test } from "vitest";
import * as shapes from "../src/api/shapes.ts";

const FOLDER = join(import.meta.dirname, "answers");

const SHAPES: Record<string, v.GenericSchema> = {
  broad: shapes.pageOf(shapes.Node),
  focused: shapes.pageOf(shapes.Node),
  node: shapes.Node,
  edges: shapes.pageOf(shapes.NamedEdge),
  memories: shapes.pageOf(shapes.Memory),
  memory: shapes.Memory,
  opened: shapes.Memory,
  stale: shapes.Failure,
  deleted: shapes.Deleted,
  turns: shapes.TurnPage,
  search: shapes.SearchAnswer,
  status: shapes.Status,
  temperature: shapes.TemperatureStatus,
};

const recorded = readdirSync(FOLDER).map((file) => file.replace(".json", ""));

test.each(recorded)("the daemon's answer “%s” is understood", (name) => {
  const shape = SHAPES[name];
  expect(shape, "a recorded answer needs its shape here").toBeDefined();
  if (!shape) return;
  const answer: unknown = JSON.parse(readFileSync(join(FOLDER, `${name}.json`), "utf-8"));
  const read = v.safeParse(shape, answer);
  expect(read.issues?.map((issue) => `${v.getDotPath(issue)}: ${issue.message}`)).toBeUndefined();
});
