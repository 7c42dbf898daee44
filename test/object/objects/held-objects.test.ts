import { expect, test } from "vitest";
import { TREE } from "../../../src/base/format/object.ts";
import { GROUP_BYTES, HeldObjects } from "../../../src/object/objects/held-objects.ts";
import { NumberSet } from "../../../src/base/numbers/number-set.ts";
import { makeLongHistory } from "../../harness/long-history.ts";
import { assemblePack, insertAll, makeCommit, makeObject, makeTree, refDelta } from "../../harness/pack-builder.ts";
import { Random } from "../../harness/random.ts";
import { encodeEntry } from "../../harness/raw.ts";
import { openFor, pushAll } from "../history/filtered-repository.ts";
import { PushedRepository } from "../pushing.ts";

/** Reads groups of a repository's objects, and holds each against what is read alone. */
class Checked {
  readonly #reader;
  readonly #held: HeldObjects;
  readonly trees: readonly number[];
  /** Objects that were read elsewhere. */
  elsewhere = 0;

  constructor(repository: PushedRepository) {
    const { tables, reader, state } = openFor(repository);
    this.#reader = reader;
    this.#held = new HeldObjects(tables, repository.chunks, state.platform.codec, (numbers) => {
      this.elsewhere += numbers.size;
      return reader.readEach(numbers);
    });
    const { number, type } = tables.objects.locate(tables.objects.present());
    this.trees = Array.from(number).filter((_, i) => type[i] === TREE);
  }

  async read(numbers: readonly number[]): Promise<void> {
    await this.#held.read(NumberSet.fromUnsorted(numbers), async () => undefined);
    await this.expectHeld(numbers);
  }

  async expectHeld(numbers: readonly number[]): Promise<void> {
    const wrong: number[] = [];
    for await (const [number, { bytes }] of this.#reader.readEach(NumberSet.fromUnsorted(numbers))) {
      const { start, length } = this.#held.find(number)!;
      if (Buffer.compare(this.#held.memory.bytes.subarray(start, start + length), bytes) !== 0) wrong.push(number);
    }
    expect(wrong).toEqual([]);
  }

  has(number: number): boolean {
    return this.#held.find(number) !== undefined;
  }
}

test("groups of neighbours are what is stored, and few are looked for elsewhere", { tags: "sweep" }, async () => {
  const checked = new Checked(await pushAll(await makeLongHistory({ commits: 1_500, files: 300, longLines: 100 })));
  const { trees } = checked;
  expect(trees.length).toBeGreaterThan(3_000);
  for (let from = 0; from < trees.length; from += 500) {
    await checked.read(trees.slice(from, from + 500));
    // The group before is still there.
    await checked.expectHeld(trees.slice(Math.max(0, from - 500), from));
    if (from >= 1_000) expect(checked.has(trees[from - 501]!)).toBe(false);
  }
  expect(checked.elsewhere).toBeLessThan(trees.length / 20);
});

test("any groups, in any order, are what is stored", async () => {
  const checked = new Checked(await pushAll(await makeLongHistory({ commits: 400, files: 100, longLines: 100 })));
  const random = new Random(3);
  for (let round = 0; round < 60; round++) {
    const from = random.below(checked.trees.length);
    const group = checked.trees.slice(from, from + 1 + random.below(300)).filter(() => random.below(3) > 0);
    if (group.length > 0) await checked.read(group);
  }
});

test("a group may fill the memory, but have no more", { tags: "sweep" }, async () => {
  const blob = makeObject("blob", "1");
  // Trees of 1.5 MB.
  const trees = Array.from({ length: 6 }, (_, version) =>
    makeTree(...Array.from({ length: 40_000 }, (_, i) => ["100644", `f${version}${100_000 + i}`, blob] as const)),
  );
  const root = makeTree(...trees.map((tree, i) => ["40000", `d${i}`, tree] as const));
  const commit = makeCommit(root);
  const repository = new PushedRepository();
  const pack = assemblePack([blob, ...trees, root, commit].map((object) => encodeEntry(object)));
  await repository.push([["refs/heads/main", null, commit.oid]], pack);
  const checked = new Checked(repository);
  const [first, second, third, ...others] = checked.trees as [number, number, number, ...number[]];
  expect(3 * trees[0]!.content.length).toBeGreaterThan(GROUP_BYTES);
  await checked.read([first, second]);
  await checked.read([first, second, third]);
  await checked.read([others[0]!]);
  expect(checked.has(first)).toBe(false);
  await checked.read([others[1]!, others[2]!]);
  await checked.expectHeld([others[0]!]);
  await expect(checked.read(checked.trees)).rejects.toThrow(RangeError);
});

test("a delta that is much larger than what it needs to be is applied elsewhere", async () => {
  const blob = makeObject("blob", "1");
  const base = makeTree(["100644", "file", blob]);
  const large = makeTree(...Array.from({ length: 9_000 }, (_, i) => ["100644", `f${10_000 + i}`, blob] as const));
  const [one, two] = [makeCommit(base), makeCommit(large)];
  const repository = new PushedRepository();
  const delta = refDelta(base.oid, insertAll(base.content.length, large.content));
  const pack = assemblePack([blob, base, delta, one, two].map((entry) => encodeEntry(entry)));
  await repository.push(
    [
      ["refs/heads/main", null, one.oid],
      ["refs/heads/side", null, two.oid],
    ],
    pack,
  );
  const checked = new Checked(repository);
  await checked.read(checked.trees);
  expect([checked.trees.length, checked.elsewhere]).toEqual([2, 1]);
});
