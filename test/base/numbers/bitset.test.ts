import { describe, expect, test } from "vitest";
import { Bitset } from "../../../src/base/numbers/bitset.ts";
import { Random } from "../../harness/random.ts";

function bitsetOf(length: number, members: Iterable<number>): Bitset {
  const bitset = new Bitset(length);
  for (const member of members) bitset.add(member);
  return bitset;
}

/** Lengths around word boundaries. */
const LENGTHS = [0, 1, 31, 32, 33, 64, 1000];

describe.each(LENGTHS)("a bitset of length %i", (length) => {
  const random = new Random(length);
  const members = Array.from({ length }, (_, i) => i).filter(() => random.below(3) > 0);
  const bitset = bitsetOf(length, members);

  test("has what was added", () => {
    expect(Array.from({ length: length + 40 }, (_, i) => i).filter((i) => bitset.has(i))).toEqual(members);
    expect([...bitset]).toEqual(members);
    expect(bitset.count()).toBe(members.length);
    expect(bitset.has(-1)).toBe(false);
  });

  test("walks down by previous", () => {
    const down: number[] = [];
    for (let i = bitset.previous(length); i >= 0; i = bitset.previous(i)) down.push(i);
    expect(down).toEqual(members.toReversed());
  });

  test("gives its runs", () => {
    const runs = bitset.runs();
    const flat: number[] = [];
    for (let r = 0; r < runs.length; r += 2) for (let i = runs[r]!; i < runs[r + 1]!; i++) flat.push(i);
    expect(flat).toEqual(members);
    for (let r = 2; r < runs.length; r += 2) expect(runs[r]).toBeGreaterThan(runs[r - 1]!);
  });

  test("refuses what lies beyond", () => {
    expect(() => bitset.add(length)).toThrow(RangeError);
    expect(() => bitset.add(-1)).toThrow(RangeError);
    expect(() => bitset.addRange(0, length + 1)).toThrow(RangeError);
  });
});

test("ranges are added whole, wherever they begin and end", () => {
  for (let start = 0; start <= 100; start += 3) {
    for (let end = start; end <= 130; end += 7) {
      const bitset = new Bitset(130);
      bitset.addRange(start, end);
      expect([...bitset]).toEqual(Array.from({ length: end - start }, (_, i) => start + i));
    }
  }
});

test("a difference keeps its own length, whatever the other's", () => {
  expect([...bitsetOf(100, [1, 40, 99]).difference(bitsetOf(41, [40, 3]))]).toEqual([1, 99]);
  expect([...bitsetOf(10, [1, 9]).difference(bitsetOf(100, [9, 50]))]).toEqual([1]);
});
