import { expect, test } from "vitest";
import { MAX_RETURNED_ENTRIES } from "../../../src/base/format/limits.ts";
import type { ObjectReader } from "../../../src/object/objects/object-reader.ts";
import { ReturnedTrees } from "../../../src/object/push/returned-trees.ts";
import type { NumberSet } from "../../../src/base/numbers/number-set.ts";
import { toEntryWord } from "../../../src/object/store/index/tree-table.ts";

/** Reads made-up trees, and counts the reads. */
function newReader(entriesOf: (tree: number) => ArrayLike<number>): { reader: ObjectReader; read: number[] } {
  const read: number[] = [];
  const readEntries = (trees: NumberSet): Promise<Map<number, Uint32Array>> => {
    const found = new Map<number, Uint32Array>();
    for (const tree of trees.toArray()) {
      read.push(tree);
      const entries = entriesOf(tree);
      const words = new Uint32Array(entries.length);
      for (let i = 0; i < words.length; i++) words[i] = toEntryWord(entries[i]!, true);
      found.set(tree, words);
    }
    return Promise.resolve(found);
  };
  const divide = (trees: NumberSet): NumberSet[] => [trees];
  return { reader: { readEntries, divide } as unknown as ObjectReader, read };
}

test("a row of trees in each other is read in few rounds", { tags: "sweep" }, async () => {
  const { reader } = newReader((tree) => [tree + 1]);
  const returned = new ReturnedTrees();
  let rounds = 0;
  for (let tree = 1; tree < 1_000; rounds++) {
    await returned.read(reader, [tree]);
    for (let entries; (entries = returned.entries(tree)) !== null; tree = entries[0]!);
  }
  expect(rounds).toBeLessThan(25);
  expect(returned.entries(5_000)).toBeNull();
});

test("what lies below is read ahead no further than was asked for", async () => {
  const { reader, read } = newReader((tree) => Array.from({ length: 1_000 }, (_, i) => tree * 1_000 + i));
  const returned = new ReturnedTrees();
  await returned.read(reader, [1]);
  await returned.read(reader, [1_000]);
  await returned.read(reader, [1_001]);
  expect(read.length).toBeLessThan(3 + 3 * 64);
  expect(returned.entries(1)).toHaveLength(1_000);
});

test("trees with too many entries are refused", { tags: "sweep" }, async () => {
  const width = MAX_RETURNED_ENTRIES / 4;
  const { reader } = newReader((tree) => new Uint32Array(width - 1).map((_, i) => 10 + tree * width + i));
  const returned = new ReturnedTrees();
  await returned.read(reader, [1, 2, 3, 4]);
  await expect(returned.read(reader, [5])).rejects.toThrow(
    expect.objectContaining({
      code: "too-large",
      data: expect.objectContaining({ limit: MAX_RETURNED_ENTRIES }) as object,
    }),
  );
});
