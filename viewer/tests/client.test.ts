import { afterEach, expect, test, vi } from "vitest";
import { api, ApiError, changedElsewhere } from "../src/api/client.ts";
import memory from "./answers/memory.json";
import memories from "./answers/memories.json";

function daemon(answer: unknown, status = 200) {
  const body = typeof answer === "string" ? answer : JSON.stringify(answer);
  const fetched = vi.fn(async (_url: string, _options: RequestInit) => new Response(body, { status }));
  vi.stubGlobal("fetch", fetched);
  return fetched;
}

afterEach(() => vi.unstubAllGlobals());

async function failing(promise: Promise<unknown>): Promise<ApiError> {
  const error: unknown = await promise.then(
    () => null,
    (failed: unknown) => failed,
  );
  expect(error).toBeInstanceOf(ApiError);
  return error as ApiError;
}

test("a list is asked for with its filters, and without those that are empty", async () => {
  const fetched = daemon(memories);
  await api.memories("n-1", { sort: "date", keyword: "blood pressure", from: "", page: 2 });
  expect(fetched.mock.calls[0]?.[0]).toBe(
    "/api/memory/n-1?sort=date&keyword=blood+pressure&page=2",
  );
});

test("a change names the version that it was made on", async () => {
  const fetched = daemon(memory);
  await api.changeMemory({ id: "m-1", version: "abc" }, { title: "New" });
  const [url, options] = fetched.mock.calls[0] ?? [];
  expect(url).toBe("/api/memory/chunk/m-1");
  expect(options?.method).toBe("PATCH");
  expect(new Headers(options?.headers).get("If-Match")).toBe('"abc"');
  expect(options?.body).toBe('{"title":"New"}');
});

test("what the daemon says went wrong is what a person reads", async () => {
  daemon({ error: { code: "not_found", message: "There is no such memory." } }, 404);
  const error = await failing(api.memory("m-1"));
  expect([error.status, error.code, error.message]).toEqual([
    404,
    "not_found",
    "There is no such memory.",
  ]);
});

test("a refusal that is no JSON is told all the same", async () => {
  daemon("<html>Bad gateway</html>", 502);
  expect((await failing(api.status())).message).toContain("502");
});

test("a daemon that does not answer is told with what to do", async () => {
  vi.stubGlobal("fetch", vi.fn().mockRejectedValue(new TypeError("Failed to fetch")));
  const error = await failing(api.status());
  expect(error.status).toBe(0);
  expect(error.message).toContain("neurigraph up");
});

test("a question that is no longer asked is not an error of the daemon", async () => {
  vi.stubGlobal("fetch", vi.fn().mockRejectedValue(new DOMException("Aborted", "AbortError")));
  await expect(api.status()).rejects.toMatchObject({ name: "AbortError" });
});

test("an answer of another shape names the place where it differs", async () => {
  daemon({ ...memory, keywords: "one" });
  expect((await failing(api.memory("m-1"))).message).toContain("keywords");
  daemon({ ...memories, items: [{ ...memory, temperature: "boiling" }] });
  expect((await failing(api.memories(null, {}))).message).toContain("items.0.temperature");
});

test("a change made elsewhere comes with what is there now", async () => {
  daemon({ error: { code: "stale", message: "Changed.", current: memory } }, 409);
  const error = await failing(api.changeMemory({ id: "m-1", version: "old" }, { title: "x" }));
  expect(changedElsewhere(error)?.id).toBe(memory.id);
  expect(changedElsewhere(new Error("else"))).toBeNull();
  daemon({ error: { code: "not_writable", message: "It cannot be written to." } }, 409);
  const other = await failing(api.changeMemory({ id: "m-1", version: "old" }, { title: "x" }));
  expect(changedElsewhere(other)).toBeNull();
});

test("names of files and topics cannot leave their place in an address", () => {
  expect(api.artifactUrl("m-1", "../a b?.pdf")).toBe(
    "/api/memory/chunk/m-1/artifacts/..%2Fa%20b%3F.pdf",
  );
});
