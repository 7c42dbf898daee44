import { expect, test } from "vitest";
import { SortedNumbers } from "../../../../src/object/store/graph/sorted-numbers.ts";
import { Random } from "../../../harness/random.ts";

const random = new Random(1);

const LAST = 2 ** 32 - 1;

/** Numbers in one run, far apart, and a run with one number far from it. */
const SHAPES: [string, number[]][] = [
  ["none", []],
  ["one", [7]],
  ["the lowest and the highest", [1, LAST]],
  ["a run", Array.from({ length: 5_000 }, (_, i) => 1_000 + i)],
  ["each third", Array.from({ length: 5_000 }, (_, i) => 1 + 3 * i)],
  ["a run, and one far away", [...Array.from({ length: 5_000 }, (_, i) => 1_000 + i), LAST]],
  [
    "anywhere",
    [...new Set(Array.from({ length: 5_000 }, () => 1 + random.below(2 ** 32 - 1)))].toSorted((a, b) => a - b),
  ],
];

test.each(SHAPES)("numbers are found, and others are not: %s", (_, numbers) => {
  // There may be room behind them, which does not count.
  const column = Uint32Array.from([...numbers, ...(numbers.length > 0 ? [numbers.at(-1)!, 0] : [0])]);
  const sorted = new SortedNumbers(column, numbers.length);
  const rows = new Map(numbers.map((number, row) => [number, row]));
  for (const number of numbers) {
    for (const near of [number - 1, number, number + 1]) expect(sorted.find(column, near)).toBe(rows.get(near) ?? -1);
  }
  for (const number of [0, 1, LAST]) expect(sorted.find(column, number)).toBe(rows.get(number) ?? -1);
  expect(sorted.byteLength).toBeLessThanOrEqual(numbers.length + 12);
});
