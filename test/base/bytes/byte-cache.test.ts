import { expect, test } from "vitest";
import { ByteCache } from "../../../src/base/bytes/byte-cache.ts";
import { measureCpu } from "../../harness/measure-cpu.ts";

/** A cache with keys of ten bytes each. */
function fill(limitBytes: number, keys: Iterable<string>, dropped: string[] = []): ByteCache<string> {
  const cache = new ByteCache<string>(limitBytes, null, (value) => dropped.push(value));
  for (const key of keys) cache.set(key, key, 10);
  return cache;
}

test("the oldest goes first, but what was asked for is passed over once", () => {
  const dropped: string[] = [];
  const cache = fill(40, "abcde", dropped);
  for (const key of "bd") expect(cache.get(key)).toBe(key);
  for (const key of "fg") cache.set(key, key, 10);
  expect(dropped).toEqual(["a", "c", "e"]);
  expect(Array.from("abcdefg").filter((key) => cache.get(key) !== undefined)).toEqual(["b", "d", "f", "g"]);
  expect(cache.sizeBytes).toBe(40);
});

test("what is new stays, though all others were asked for", () => {
  const cache = fill(30, "abc");
  for (const key of "abc") cache.get(key);
  cache.set("d", "d", 10);
  expect(cache.get("d")).toBe("d");
});

test("popular keys among many cost no more than among few", async () => {
  const cache = fill(
    1_000_000,
    Array.from({ length: 30_000 }, (_, i) => String(i)),
  );
  const [, ms] = await measureCpu(() => {
    for (let i = 0; i < 500_000; i++) cache.get(String(i % 13));
    return Promise.resolve();
  });
  // Moved to the end of the Map each time, they took 5 s.
  expect(ms).toBeLessThan(1_000);
});
