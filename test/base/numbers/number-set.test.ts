import { describe, expect, test } from "vitest";
import { isGitError } from "../../../src/base/format/errors.ts";
import { Bitset } from "../../../src/base/numbers/bitset.ts";
import { NumberSet } from "../../../src/base/numbers/number-set.ts";
import { Random } from "../../harness/random.ts";

/** Runs of random length with random gaps, like object numbers. */
function randomNumbers(random: Random, runs: number, scale: number): number[] {
  const numbers: number[] = [];
  let at = random.below(scale);
  for (let r = 0; r < runs; r++) {
    const length = 1 + random.below(scale);
    for (let i = 0; i < length; i++) numbers.push(at + i);
    at += length + random.below(scale);
  }
  return numbers;
}

describe.each([1, 2, 3, 4, 5, 6, 7, 8])("against JavaScript's sets, seed %i", (seed) => {
  const random = new Random(seed);
  const scale = 2 ** seed;
  const a = randomNumbers(random, 60, scale);
  const b = randomNumbers(random, 40, scale);
  const inA = new Set(a);
  const inB = new Set(b);
  const setA = NumberSet.fromSorted(a);
  const setB = NumberSet.fromSorted(b);
  const sorted = (numbers: Iterable<number>) => [...numbers].sort((x, y) => x - y);

  test("membership", () => {
    expect([...setA.toArray()]).toEqual(a);
    expect(setA.size).toBe(a.length);
    for (let n = 0; n < (a.at(-1) ?? 0) + 5; n++) expect(setA.has(n)).toBe(inA.has(n));
  });

  test("algebra", () => {
    expect([...setA.union(setB).toArray()]).toEqual(sorted(new Set([...a, ...b])));
    expect([...setA.difference(setB).toArray()]).toEqual(a.filter((n) => !inB.has(n)));
    expect([...setA.intersection(setB).toArray()]).toEqual(a.filter((n) => inB.has(n)));
    expect(setA.difference(setA).size).toBe(0);
    expect(setA.union(NumberSet.EMPTY).runs).toEqual(setA.runs);
  });

  test("runs never touch, so that equal sets are equal bytes", () => {
    for (const set of [setA, setA.union(setB), setA.difference(setB)]) {
      for (let r = 1; r < set.runs.length; r++) expect(set.runs[r]).toBeGreaterThan(set.runs[r - 1]!);
    }
    const bitset = new Bitset(100_000);
    for (const n of a) bitset.add(n);
    expect(NumberSet.fromBitset(bitset).runs).toEqual(setA.runs);
  });

  test("encoding", () => {
    expect(NumberSet.decode(setA.encode()).runs).toEqual(setA.runs);
    // Sizes on disk: a run costs two varints.
    expect(setA.encode().length).toBeLessThanOrEqual(setA.runs.length * 2 + 3);
  });
});

test("golden bytes", () => {
  expect([...NumberSet.fromSorted([1, 2, 3, 10]).encode()]).toEqual([1, 3, 6, 1]);
  expect([...NumberSet.range(0, 300).encode()]).toEqual([0, 0xac, 0x02]);
  expect(NumberSet.EMPTY.encode()).toHaveLength(0);
  expect(NumberSet.decode(new Uint8Array(0)).size).toBe(0);
});

test("the highest numbers", () => {
  const set = NumberSet.range(2 ** 32 - 3, 2 ** 32 - 1);
  expect(NumberSet.decode(set.encode()).runs).toEqual(set.runs);
  expect(set.has(2 ** 32 - 2)).toBe(true);
  expect(set.size).toBe(2);
});

test("numbers must ascend; repeats are one", () => {
  expect([...NumberSet.fromSorted([4, 4, 5]).toArray()]).toEqual([4, 5]);
  expect(() => NumberSet.fromSorted([5, 6, 5])).toThrow(RangeError);
  expect(() => NumberSet.fromSorted([5, 4])).toThrow(RangeError);
});

test.each([
  ["cut inside a varint", [1, 0x80]],
  ["a gap without a run", [1, 3, 6]],
  ["an empty run", [1, 0]],
  ["runs that touch", [1, 3, 0, 2]],
  ["beyond 32 bits", [0xff, 0xff, 0xff, 0xff, 0x7f, 1]],
  ["a varint without end", Array.from({ length: 2000 }, () => 0xff)],
])("refuses %s", (_, bytes) => {
  expect.assertions(1);
  try {
    NumberSet.decode(Uint8Array.from(bytes));
  } catch (error) {
    expect(isGitError(error, "storage-failed")).toBe(true);
  }
});
