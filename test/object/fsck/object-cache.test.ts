import { expect, test } from "vitest";
import { ObjectCache } from "../../../src/object/fsck/object-cache.ts";

const LIMIT_BYTES = 1024 * 1024;

test("a long chain of objects that grow shares few buffers, and what is cached stays as it was", () => {
  const cache = new ObjectCache(LIMIT_BYTES);
  const buffers = new Set<ArrayBufferLike>();
  for (let i = 1; i <= 3_000; i++) {
    const sizeBytes = 30_000 + i;
    const bytes = cache
      .take(sizeBytes)!
      .subarray(0, sizeBytes)
      .fill(i % 251);
    buffers.add(bytes.buffer);
    cache.set(i, { type: 3, bytes });
    const { bytes: last } = cache.get(Math.max(1, i - 10))!;
    expect([last[0], last.at(-1)]).toEqual([Math.max(1, i - 10) % 251, Math.max(1, i - 10) % 251]);
  }
  // For each of the three sizes to which these are rounded, as many as fit; without sharing, 3,000.
  expect(buffers.size).toBeLessThan((3 * LIMIT_BYTES) / 30_000);
});

test("an object that is too large to share has a buffer of its own", () => {
  expect(new ObjectCache(LIMIT_BYTES).take(2 * LIMIT_BYTES)).toBeUndefined();
});
