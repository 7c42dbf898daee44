import { expect, test } from "vitest";
import wasm from "../../../src/base/codec/holdfast.wasm";
import { instantiateCodec } from "../../../src/base/codec/codec.ts";
import { encodeDelta, joinPieces } from "../../../src/base/format/delta.ts";
import { encodeTree, FILE_MODE, parseTree, TREE_MODE, type TreeEntry } from "../../../src/base/format/tree.ts";
import { findTreeEntry, spliceTree, type TreeChange } from "../../../src/base/format/tree-splice.ts";
import { Random } from "../../harness/random.ts";

const codec = instantiateCodec(wasm);
const random = new Random(1);

// Names that sort differently as files and as directories.
const NAMES = ["a", "a-b", "a.b", "a0", "ab", "b", "b!", "\xff", "z", "c", "d", "e", "f", "g", "h"];

const newOid = (): Uint8Array => Uint8Array.from({ length: 20 }, () => random.below(256));

const newEntry = (name: string): TreeEntry => ({ name, mode: random.pick([FILE_MODE, TREE_MODE]), oid: newOid() });

test("changed trees are what encoding them anew gives, and their deltas make them", () => {
  for (let round = 0; round < 500; round++) {
    const names = new Set(NAMES.filter(() => random.below(2) === 0));
    const entries = new Map([...names].map((name) => [name, newEntry(name)]));
    const before = encodeTree([...entries.values()]);
    const changes = new Map<string, TreeChange>();
    for (const name of NAMES.filter(() => random.below(5) === 0)) {
      const change = random.below(3) === 0 ? null : newEntry(name);
      changes.set(name, change);
      if (change === null) entries.delete(name);
      else entries.set(name, change);
    }
    const { content, pieces } = spliceTree(before, changes);
    expect(parseTree(content)).toEqual(parseTree(encodeTree([...entries.values()])));
    expect(codec.applyDelta(before, encodeDelta(before.length, pieces))).toEqual(content);
    for (const name of NAMES) expect(findTreeEntry(content, name)?.oid).toEqual(entries.get(name)?.oid);
  }
});

test("an entry is not found in the bytes of another one's id", () => {
  const oid = new TextEncoder().encode("100644 name\x0012345678");
  expect(oid).toHaveLength(20);
  const tree = encodeTree([{ name: "other", mode: FILE_MODE, oid }]);
  expect(findTreeEntry(tree, "name")).toBe(null);
  expect(findTreeEntry(tree, "ther")).toBe(null);
});

test("deltas copy and insert more than one instruction takes", () => {
  const base = new Uint8Array(0x100_0003).fill(7);
  base[0x100_0000] = 1;
  const inserted = new Uint8Array(1_000).fill(9);
  const pieces = [{ from: 1, to: base.length }, inserted, { from: 0, to: 0x1_0000 }, new Uint8Array(0)];
  const result = codec.applyDelta(base, encodeDelta(base.length, pieces));
  expect(Buffer.compare(result, joinPieces(base, pieces))).toBe(0);
});
