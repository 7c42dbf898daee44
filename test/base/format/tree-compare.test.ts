import { expect, test } from "vitest";
import { toHex } from "../../../src/base/format/oid.ts";
import { encodeTree, GITLINK_MODE, type TreeEntry } from "../../../src/base/format/tree.ts";
import { compareTrees, type EntryChange } from "../../../src/base/format/tree-compare.ts";
import { Random } from "../../harness/random.ts";

const MODES = [0o100644, 0o100755, 0o120000, 0o040000, GITLINK_MODE];

type Told = [name: string, isTree: boolean, old: string | null, next: string | null];

const byName = (a: Told, b: Told): number => (`${a[0]} ${a[1]}` < `${b[0]} ${b[1]}` ? -1 : 1);

/** Compares two trees that lie somewhere in memory. */
function compareBytes(old: Uint8Array, next: Uint8Array, use: (change: EntryChange, memory: Buffer) => boolean): void {
  const bytes = Buffer.concat([Buffer.alloc(3, 1), next, Buffer.alloc(2, 1), old, Buffer.alloc(7, 1)]);
  const memory = { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length) };
  const oldRange = { start: 3 + next.length + 2, length: old.length };
  compareTrees(memory, oldRange, { start: 3, length: next.length }, (change) => use(change, bytes));
}

function compare(old: Uint8Array, next: Uint8Array): Told[] {
  const told: Told[] = [];
  compareBytes(old, next, ({ name, isTree, oldAt, nextAt }, memory) => {
    const idAt = (at: number): string | null => (at < 0 ? null : toHex(memory, at));
    told.push([name, isTree, idAt(oldAt), idAt(nextAt)]);
    return true;
  });
  return told.toSorted(byName);
}

/** The same, by their definition. */
function expected(old: readonly TreeEntry[], next: readonly TreeEntry[]): Told[] {
  const told: Told[] = [];
  for (const isTree of [false, true]) {
    const ofKind = (entries: readonly TreeEntry[]): Map<string, TreeEntry> =>
      new Map(entries.filter(({ mode }) => (mode === 0o040000) === isTree).map((entry) => [entry.name, entry]));
    const [a, b] = [ofKind(old), ofKind(next)];
    for (const name of new Set([...a.keys(), ...b.keys()])) {
      const [one, other] = [a.get(name), b.get(name)];
      const [oneId, otherId] = [
        one === undefined ? null : toHex(one.oid),
        other === undefined ? null : toHex(other.oid),
      ];
      if (oneId !== otherId || one?.mode !== other?.mode) told.push([name, isTree, oneId, otherId]);
    }
  }
  return told.toSorted(byName);
}

test("any two trees: what differs is found, and nothing else", () => {
  const random = new Random(5);
  const names = ["a", "a.c", "a-b", "a0", "ab", "b", "dir", "dir.x", "\xff", "z".repeat(300)];
  const ids = Array.from({ length: 3 }, () => random.bytes(20));
  // With the bytes that divide entries.
  ids.push(new Uint8Array(20), new Uint8Array(20).fill(0x20));
  const make = (): TreeEntry[] =>
    names
      .filter(() => random.below(3) > 0)
      .map((name) => ({ name, mode: random.pick(random.below(3) === 0 ? MODES : [0o100644]), oid: random.pick(ids) }));
  for (let round = 0; round < 3_000; round++) {
    const old = make();
    const next =
      random.below(2) === 0
        ? make()
        : old.map((entry) => (random.below(6) === 0 ? { ...entry, oid: random.pick(ids) } : entry));
    expect(compare(encodeTree(old), encodeTree(next))).toEqual(expected(old, next));
  }
});

test("modes that git does not distinguish are the same", () => {
  const oid = new Uint8Array(20).fill(7);
  const tree = (mode: number): Uint8Array => encodeTree([{ name: "file", mode, oid }]);
  expect(compare(tree(0o100664), tree(0o100644))).toEqual([]);
  expect(compare(tree(0o100755), tree(0o100644))).toHaveLength(1);
});

test("the comparison ends when no more is wanted", () => {
  const oid = new Uint8Array(20).fill(7);
  const tree = encodeTree(Array.from({ length: 9 }, (_, i) => ({ name: `file-${i}`, mode: 0o100644, oid })));
  let told = 0;
  compareBytes(new Uint8Array(0), tree, () => ++told < 3);
  expect(told).toBe(3);
});
