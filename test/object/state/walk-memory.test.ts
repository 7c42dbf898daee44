import { expect, test } from "vitest";
import { WalkMemory } from "../../../src/object/state/walk-memory.ts";

test("what was found is remembered by path and commit, and replaced", () => {
  const memory = new WalkMemory<string>(1_000);
  memory.keep("a", 1, "one", 100);
  memory.keep("a", 2, "two", 100);
  memory.keep("b", 1, "other", 100);
  memory.keep("a", 1, "more", 200);
  expect([memory.find("a", 1), memory.find("a", 2), memory.find("b", 1), memory.find("b", 2)]).toEqual([
    "more",
    "two",
    "other",
    undefined,
  ]);
  expect(memory.sizeBytes).toBe(400 + 3 * 2);
});

test("of a path the last four commits are remembered", () => {
  const memory = new WalkMemory<number>(1_000);
  for (let commit = 1; commit <= 6; commit++) memory.keep("a", commit, commit, 10);
  expect([1, 2, 3, 4, 5, 6].filter((commit) => memory.find("a", commit) !== undefined)).toEqual([3, 4, 5, 6]);
});

test("the bytes of all paths are bounded: those kept first go first, and what is too large is not kept", () => {
  const memory = new WalkMemory<number>(1_000);
  for (let i = 0; i < 100; i++) {
    memory.keep(`path-${i % 30}`, i, i, 90);
    expect(memory.sizeBytes).toBeLessThanOrEqual(1_000);
  }
  expect(memory.find("path-9", 99)).toBe(99);
  memory.keep("large", 1, 1, 1_001);
  expect(memory.find("large", 1)).toBeUndefined();
  expect(memory.find("path-9", 99)).toBe(99);
});
