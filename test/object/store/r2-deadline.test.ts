import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { isGitError } from "../../../src/base/format/errors.ts";
import { newChunkCounters } from "../../../src/base/chunks/chunk-store.ts";
import type { Bucket } from "../../../src/base/chunks/bucket.ts";
import { R2ChunkStore } from "../../../src/base/chunks/r2-chunk-store.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const never = (): Promise<never> => new Promise(() => {});

/** A bucket that never answers, like a local one on a full disk. */
const SILENT: Bucket = {
  put: never,
  get: never,
  delete: never,
  head: never,
  list: never,
  createMultipartUpload: never,
  resumeMultipartUpload: () => ({ uploadId: "", uploadPart: never, complete: never, abort: never }),
};

/** How long an operation takes to fail (ms), and its error. */
async function timeToFail(run: (store: R2ChunkStore) => Promise<unknown>): Promise<[ms: number, error: unknown]> {
  const startMs = Date.now();
  const failed = run(new R2ChunkStore(SILENT, newChunkCounters())).then(
    () => {
      throw new Error("it succeeded");
    },
    (error: unknown): [number, unknown] => [Date.now() - startMs, error],
  );
  await vi.runAllTimersAsync();
  return failed;
}

test.each<[name: string, run: (store: R2ChunkStore) => Promise<unknown>, seconds: number]>([
  ["put", (store) => store.put("key", new Uint8Array(2_000_000)), 22],
  ["putFile", (store) => store.putFile("key", new Uint8Array(10), { contentType: "text/plain", metadata: {} }), 20],
  ["createMultipart", (store) => store.createMultipart("key"), 20],
  ["read", (store) => store.read("key", 0, 1), 20],
  ["stream", (store) => store.stream("key", 0, 1), 20],
  ["open", (store) => store.open("key", 0, 1), 20],
  ["openFile", (store) => store.openFile("key", "etag", 0, 1), 20],
  ["delete", (store) => store.delete(["key"]), 20],
  ["stat", (store) => store.stat("key"), 20],
  ["list", (store) => Array.fromAsync(store.list("prefix")), 20],
])("%s ends when the bucket does not answer in time", async (_, run, seconds) => {
  const [ms, error] = await timeToFail(run);
  expect(isGitError(error, "storage-full")).toBe(true);
  expect((error as Error).message).toMatch(/^storage is full or unavailable: .*no answer within \d+ seconds$/);
  expect(ms / 1_000).toBeCloseTo(seconds, 1);
});

test("what the bucket says of a full disk is told, and what else it says is not taken for it", async () => {
  const failing = (message: string): R2ChunkStore =>
    new R2ChunkStore({ ...SILENT, head: () => Promise.reject(new Error(message)) }, newChunkCounters());
  for (const message of ["database or disk is full: SQLITE_FULL", "No space left on device (os error 28)"])
    await expect(failing(message).stat("key")).rejects.toSatisfy((error) => isGitError(error, "storage-full"));
  await expect(failing("the disk is fullish").stat("key")).rejects.toSatisfy((error) =>
    isGitError(error, "storage-failed"),
  );
});
