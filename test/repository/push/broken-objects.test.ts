// Which objects of a pack must not be stored because an object that they reach is missing. Compared
// with a simple search that ignores memory.
import { expect, test } from "vitest";
import { EMPTY_INDEX, NO_INDEX, type PackIndex, STORED } from "../../../src/codec/pack-index.ts";
import { findBroken } from "../../../src/repository/push/broken-objects.ts";
import { Random } from "../../harness/random.ts";

const TREE = 2;
const IN_RUNS = 0x8000_0000;

/** An index of objects that refer to others. Node i is entry i while it is below `held`; above, it
 * is only referred to.
 * @param bases the entry of each delta's base, −1: it is no delta
 * @param inRuns records references as runs of so many */
function makeIndex(names: number[][], nodeCount: number, bases: number[], inRuns = 0): PackIndex {
  const edges: number[] = [0];
  const entryEdges = names.map((nodes) => {
    if (inRuns === 0) return edges.push(nodes.length, ...nodes) - nodes.length - 1;
    const runs: number[] = [];
    for (let at = 0; at < nodes.length; at += inRuns) {
      const run = nodes.slice(at, at + inRuns);
      runs.push(edges.push(run.length, ...run) - run.length - 1);
    }
    return edges.push(IN_RUNS + runs.length, ...runs) - runs.length - 1;
  });
  const count = names.length;
  return {
    ...EMPTY_INDEX,
    count,
    nodeCount,
    oids: Uint8Array.from({ length: 20 * nodeCount }, (_, i) => Math.floor(i / 20)),
    kinds: new Uint8Array(count).fill(TREE),
    stored: Uint8Array.from(bases, (base) => (base < 0 ? STORED.plain : STORED.refDelta)),
    bases: Uint32Array.from(bases, (base) => (base < 0 ? NO_INDEX : base)),
    entryNodes: Uint32Array.from({ length: count }, (_, i) => i),
    entryEdges: Uint32Array.from(entryEdges),
    nodeEntries: Uint32Array.from({ length: nodeCount }, (_, i) => (i < count ? i : NO_INDEX)),
    nodeFlags: new Uint8Array(nodeCount).fill(1 << (TREE - 1)),
    edges: Uint32Array.from(edges),
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
      const broken = findBroken(makeIndex(names, nodeCount, bases, inRuns), numbers);
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
    // 200,000 objects in a line, whose last one needs the missing object, and 400 that all refer to
    // 100,000 others by the same runs.
    const line = 200_000;
    const wide = 400;
    const names = Array.from({ length: line }, (_, i) => [i + 1]);
    const index = makeIndex(
      names,
      line + wide + 1,
      names.map(() => -1),
    );
    const runs = Array.from({ length: 100 }, (_, i) => i * 1_000 * 2);
    // Each run of the shared record covers 1,000 nodes of the line; its words follow those of the
    // line.
    const words = runs.flatMap((first) => [1_000, ...Array.from({ length: 1_000 }, (_, k) => first + k)]);
    const start = index.edges.length;
    const record = start + words.length;
    const edges = Uint32Array.from([...index.edges, ...words, IN_RUNS + 100, ...runs.map((_, i) => start + i * 1_001)]);
    const grow = (array: Uint32Array, value: (i: number) => number) =>
      Uint32Array.from({ length: array.length + wide }, (_, i) => (i < line ? array[i]! : value(i)));
    const whole: PackIndex = {
      ...index,
      count: line + wide,
      edges,
      kinds: new Uint8Array(line + wide).fill(TREE),
      stored: new Uint8Array(line + wide),
      bases: grow(index.bases, () => NO_INDEX),
      entryNodes: grow(index.entryNodes, (i) => i),
      entryEdges: grow(index.entryEdges, () => record),
      nodeEntries: Uint32Array.from({ length: line + wide + 1 }, (_, i) => (i < line + wide ? i : NO_INDEX)),
    };
    // The last of the line refers to the first of the wide ones, these refer to the line, and the
    // missing object comes after all.
    edges[edges.indexOf(line, 1)] = line + wide;
    const before = process.memoryUsage();
    const startMs = performance.now();
    const broken = findBroken(whole, new Uint32Array(line + wide + 1))!;
    const after = process.memoryUsage();
    expect(broken.nodes.every((one) => one === 1)).toBe(true);
    const tookBytes = after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers;
    console.log(`${Math.round(performance.now() - startMs)} ms, ${Math.round(tookBytes / 1_000_000)} MB`);
    expect(tookBytes).toBeLessThan(40_000_000);
  },
);
