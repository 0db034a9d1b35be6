import { expect, test } from "vitest";
import { bytes, lastOpened, memories, since, stage, turnTime } from "../src/words.ts";

const now = new Date("2026-11-30T12:00:00Z");

test("moments are said as a person says them", () => {
  expect(since("2026-11-30T11:59:40Z", now)).toBe("just now");
  expect(since("2026-11-30T11:40:00Z", now)).toBe("20 minutes ago");
  expect(since("2026-11-29T12:00:00Z", now)).toBe("yesterday");
  expect(since("2026-11-30T12:31:00Z", now)).toBe("in 31 minutes");
  expect(since("2024-11-30T12:00:00Z", now)).toBe("2 years ago");
});

test("no date and a broken date are never an error", () => {
  expect(since(null, now)).toBe("never");
  expect(lastOpened(null)).toBe("Never opened");
  expect(lastOpened("not a date")).toBe("Never opened");
});

test("sizes and counts agree in number", () => {
  expect([bytes(0), bytes(1), bytes(999), bytes(1500), bytes(999_600), bytes(12_300_000)]).toEqual([
    "0 bytes",
    "1 byte",
    "999 bytes",
    "1.5 KB",
    "1 MB",
    "12 MB",
  ]);
  expect([memories(1), memories(1204)]).toEqual(["1 memory", "1,204 memories"]);
});

test("why a result is there is said in words", () => {
  expect(stage("exact")).toBe("exact keyword");
  expect(stage("text", true)).toBe("in the transcript");
  expect(stage("something new")).toBe("something new");
});

test("a turn says its day once, and what is no date as it is written", () => {
  expect(turnTime("2026-11-24T18:20:12", "")).toBe("2026-11-24 18:20");
  expect(turnTime("2026-11-24T18:22:12", "2026-11-24T18:20:12")).toBe("18:22");
  expect(turnTime("2026-11-25 00:01", "2026-11-24T23:59:00")).toBe("2026-11-25 00:01");
  expect(turnTime("Tuesday", "")).toBe("Tuesday");
});
