// Which objects of a pack must not be stored because an object that they reach is missing. Compared
// with a simple search that ignores memory.
import { expect, test } from "vitest";
import { NO_INDEX, type PackIndex, STORED } from "../../../src/base/codec/pack-index.ts";
import { findBroken } from "../../../src/object/push/broken-objects.ts";
import { finishAtOnce } from "../../../src/base/numbers/number-set.ts";
import { Random } from "../../harness/random.ts";
import { arrayIndex, type IndexColumns, type List } from "./array-index.ts";

const TREE = 2;

/** An index of objects that refer to others. Node i is entry i while it is below `held`; above, it
 * is only referred to.
 * @param bases the entry of each delta's base, −1: it is no delta
 * @param inRuns references of an object are runs of so many, which are in runs of two */
function makeIndex(
  names: number[][],
  nodeCount: number,
  bases: number[],
  numbers: ArrayLike<number>,
  inRuns = 0,
): PackIndex {
  const runs: List[] = [];
  const cut = (words: number[], level: number, length: number): number[] => {
    const cuts: number[] = [];
    for (let at = 0; at < words.length; at += length)
      cuts.push(runs.push({ level, words: words.slice(at, at + length) }) - 1);
    return cuts;
  };
  const lists = names.map((words): List =>
    inRuns === 0 ? { level: 0, words } : { level: 2, words: cut(cut(words, 0, inRuns), 1, 2) },
  );
  return arrayIndex({
    ...columnsOf(names.length, nodeCount),
    stored: Uint8Array.from(bases, (base) => (base < 0 ? STORED.plain : STORED.refDelta)),
    bases: Uint32Array.from(bases, (base) => (base < 0 ? NO_INDEX : base)),
    numbers,
    lists,
    runs,
  });
}

function columnsOf(count: number, nodeCount: number): IndexColumns {
  return {
    count,
    nodeCount,
    oids: Uint8Array.from({ length: 20 * nodeCount }, (_, i) => Math.floor(i / 20)),
    kinds: new Uint8Array(count).fill(TREE),
    flags: new Uint8Array(nodeCount).fill(1 << (TREE - 1)),
  };
}

/** The same, by visiting all objects until nothing changes. */
function findSlowly(names: number[][], nodeCount: number, bases: number[], numbers: Uint32Array): number[] {
  const broken = Array.from({ length: nodeCount }, (_, i) => (i >= names.length && numbers[i] === 0 ? 1 : 0));
  for (let isChanged = true; isChanged;) {
    isChanged = false;
    names.forEach((nodes, i) => {
      if (broken[i] === 1 || numbers[i] !== 0) return;
      if (![...nodes, ...(bases[i]! < 0 ? [] : [bases[i]!])].some((node) => broken[node] === 1)) return;
      broken[i] = 1;
      isChanged = true;
    });
  }
  return broken;
}

test("random packs, with deltas on whatever leads to them", () => {
  const random = new Random(7);
  let found = 0;
  for (let round = 0; round < 500; round++) {
    const count = 1 + random.below(40);
    const nodeCount = count + random.below(6);
    const numbers = Uint32Array.from({ length: nodeCount }, () => (random.below(4) === 0 ? 1 + random.below(9) : 0));
    const names = Array.from({ length: count }, (_, i) =>
      // Ids are hashes, so references have no cycles: only to later objects, or to missing ones.
      Array.from({ length: random.below(4) }, () => i + 1 + random.below(nodeCount - i)).filter(
        (node) => node < nodeCount,
      ),
    );
    const bases = names.map((_, i) =>
      random.below(3) === 0 && count > 1 ? (i + 1 + random.below(count - 1)) % count : -1,
    );
    for (const inRuns of [0, 1, 3]) {
      const broken = finishAtOnce(findBroken(makeIndex(names, nodeCount, bases, numbers, inRuns)));
      const expected = findSlowly(names, nodeCount, bases, numbers);
      expect([...(broken?.nodes ?? new Uint8Array(nodeCount))]).toEqual(expected);
      if (broken !== null) found += 1;
    }
  }
  expect(found).toBeGreaterThan(300);
});

test(
  "a long history, and trees that name forty million objects between them, take little memory",
  { tags: "sweep" },
  () => {
    // 200,000 objects in a line, whose last one leads to the missing object, and 400 that all refer
    // to 100,000 of the line by the same runs.
    const line = 200_000;
    const wide = 400;
    const held = line + wide;
    const runs = Array.from({ length: 100 }, (_, i): List => {
      const words = Array.from({ length: 1_000 }, (_unused, k) => i * 2_000 + k);
      return { level: 0, words };
    });
    const shared: List = { level: 1, words: runs.map((_, i) => i) };
    const lists = Array.from({ length: held }, (_, i): List =>
      i < line ? { level: 0, words: [i + 1 < line ? i + 1 : held] } : shared,
    );
    const whole = arrayIndex({ ...columnsOf(held, held + 1), lists, runs });
    const before = process.memoryUsage();
    const startMs = performance.now();
    const broken = finishAtOnce(findBroken(whole))!;
    const after = process.memoryUsage();
    expect(broken.nodes.every((one) => one === 1)).toBe(true);
    const tookBytes = after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers;
    console.log(`${Math.round(performance.now() - startMs)} ms, ${Math.round(tookBytes / 1_000_000)} MB`);
    expect(tookBytes).toBeLessThan(40_000_000);
  },
);
