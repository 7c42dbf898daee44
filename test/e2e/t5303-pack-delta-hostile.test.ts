// Deltas with a wrong base, wrong sizes or wrong instructions. @see gitformat-pack(5) "Deltified
// representation"
import { deflateSync } from "node:zlib";
import {
  assemblePack,
  copy,
  encodeDelta,
  encodeEntryHead,
  insert,
  insertAll,
  makeCommit,
  type MadeObject,
  makeObject,
  makeTree,
  ofsDelta,
  refDelta,
} from "../harness/pack-builder.ts";
import { BASE, type PushRow, type TablePush, testPushes } from "../harness/push-table.ts";
import { encodeEntry } from "../harness/raw.ts";

/** A push whose tip has the one file `wanted`, which `entries` should result in. @param objects
 * what they hold besides */
function pushOf(wanted: MadeObject, entries: readonly Uint8Array[], ...objects: MadeObject[]): TablePush {
  const tree = makeTree(["100644", "wanted", wanted]);
  const commit = makeCommit(tree, [BASE.commit.oid]);
  const pack = assemblePack([...entries, encodeEntry(tree), encodeEntry(commit)]);
  return { pack, tip: commit.oid, objects: [tree, commit, wanted, ...objects] };
}

/** A blob of 320 bytes, which no other row has, and a delta that should turn it into `wanted`. */
function withDelta(make: (base: Buffer) => { readonly wanted: Buffer; readonly delta: Buffer }): PushRow["push"] {
  return ({ blob }) => {
    const base = makeObject("blob", blob.oid.repeat(8));
    const { wanted, delta } = make(base.content);
    return pushOf(makeObject("blob", wanted), [encodeEntry(base), encodeEntry(refDelta(base.oid, delta))], base);
  };
}

/** The same with an OFS delta. @param distance from the base's length in the pack, bytes */
function withDistance(distance: (baseBytes: number) => number): PushRow["push"] {
  return ({ blob }) => {
    const base = encodeEntry(blob);
    const wanted = makeObject("blob", `${blob.content.toString()}!`);
    const delta = insertAll(blob.content.length, wanted.content);
    return pushOf(wanted, [base, encodeEntry(ofsDelta(distance(base.length), delta))], blob);
  };
}

/** The base and one more character. */
function appended(base: Buffer): Buffer {
  return Buffer.concat([base, Buffer.from("!")]);
}

const refused: readonly Omit<PushRow, "answer">[] = [
  { name: "offset 0", push: withDistance(() => 0) },
  { name: "offset before the pack", push: withDistance(() => 100_000) },
  { name: "offset into the pack's header", push: withDistance((baseBytes) => baseBytes + 8) },
  { name: "offset into the middle of an entry", push: withDistance((baseBytes) => baseBytes - 1) },
  {
    name: "an offset without end",
    push: ({ blob }) => {
      const delta = insertAll(blob.content.length, Buffer.from("wanted"));
      const head = encodeEntryHead(6, BigInt(delta.length));
      const entry = Buffer.concat([head, Buffer.alloc(20, 0xff), Buffer.from([1]), deflateSync(delta)]);
      return pushOf(makeObject("blob", "wanted"), [encodeEntry(blob), entry], blob);
    },
  },
  {
    name: "base missing",
    push: ({ blob }) =>
      pushOf(makeObject("blob", "wanted"), [encodeEntry(refDelta(blob.oid, insertAll(10, Buffer.from("wanted"))))]),
  },
  {
    name: "base is itself",
    push: ({ blob }) => {
      const size = blob.content.length;
      return pushOf(blob, [encodeEntry(refDelta(blob.oid, encodeDelta(size, size, copy(0, size))))]);
    },
  },
  {
    name: "two deltas on each other",
    push: ({ blob }) => {
      const size = blob.content.length;
      const longer = makeObject("blob", appended(blob.content));
      const grow = refDelta(blob.oid, encodeDelta(size, size + 1, copy(0, size), insert("!")));
      const shrink = refDelta(longer.oid, encodeDelta(size + 1, size, copy(0, size)));
      return pushOf(longer, [encodeEntry(grow), encodeEntry(shrink)], blob);
    },
  },
  {
    name: "base size one too large",
    push: withDelta((base) => ({ wanted: appended(base), delta: insertAll(base.length + 1, appended(base)) })),
  },
  {
    name: "result larger than declared",
    push: withDelta((base) => ({
      wanted: appended(base),
      delta: encodeDelta(base.length, base.length, copy(0, base.length), insert("!")),
    })),
  },
  {
    name: "result smaller than declared",
    push: withDelta((base) => ({
      wanted: base,
      delta: encodeDelta(base.length, base.length + 1, copy(0, base.length)),
    })),
  },
  {
    name: "copy past the base's end",
    push: withDelta((base) => ({
      wanted: appended(base),
      delta: encodeDelta(base.length, base.length + 1, copy(0, base.length + 1)),
    })),
  },
  {
    name: "copy from far behind the base's end",
    push: withDelta((base) => ({ wanted: base, delta: encodeDelta(base.length, 10, copy(0xffff_fff0, 10)) })),
  },
  {
    name: "copy of size 0, which means 64 KiB, from a short base",
    push: withDelta((base) => ({ wanted: base, delta: encodeDelta(base.length, 0x10000, copy(0, 0x10000)) })),
  },
  {
    name: "copy cut in its offset",
    push: withDelta((base) => ({ wanted: base, delta: encodeDelta(base.length, 10, Buffer.from([0x9f, 1])) })),
  },
  {
    name: "insert past the delta's end",
    push: withDelta((base) => ({
      wanted: Buffer.from("0123456789"),
      delta: encodeDelta(base.length, 10, Buffer.from([10, 0x30, 0x31])),
    })),
  },
  {
    name: "the reserved instruction 0",
    push: withDelta((base) => ({
      wanted: base,
      delta: encodeDelta(base.length, base.length, Buffer.from([0]), copy(0, base.length)),
    })),
  },
  { name: "empty delta", push: withDelta((base) => ({ wanted: base, delta: Buffer.alloc(0) })) },
  {
    name: "delta without instructions",
    push: withDelta((base) => ({ wanted: base, delta: encodeDelta(base.length, 10) })),
  },
  {
    name: "a base size without end",
    push: withDelta((base) => ({ wanted: base, delta: Buffer.alloc(40, 0xff) })),
  },
  {
    name: "declared result of 1 TiB",
    push: withDelta((base) => ({ wanted: base, delta: encodeDelta(base.length, 2 ** 40, copy(0, base.length)) })),
  },
  {
    name: "a commit's delta that makes a blob's bytes",
    push: ({ blob, tree, commit }) => {
      const wanted = makeObject("blob", "wanted");
      const delta = refDelta(commit.oid, insertAll(commit.content.length, wanted.content));
      return pushOf(wanted, [...[blob, tree, commit].map((object) => encodeEntry(object)), encodeEntry(delta)], commit);
    },
  },
  {
    name: "a blob's delta that makes a tree's bytes",
    push: ({ blob, tree }) => {
      const commit = makeCommit(tree, [BASE.commit.oid]);
      const delta = refDelta(blob.oid, insertAll(blob.content.length, tree.content));
      const pack = assemblePack([encodeEntry(blob), encodeEntry(delta), encodeEntry(commit)]);
      return { pack, tip: commit.oid, objects: [blob, tree, commit] };
    },
  },
];

const accepted: readonly Omit<PushRow, "answer">[] = [
  {
    name: "thin: the base is in the repository",
    push: ({ blob }) => {
      const wanted = makeObject("blob", `${BASE.blob.content.toString()}${blob.oid}`);
      const size = BASE.blob.content.length;
      const delta = encodeDelta(size, wanted.content.length, copy(0, size), insert(blob.oid));
      return pushOf(wanted, [encodeEntry(refDelta(BASE.blob.oid, delta))]);
    },
  },
  { name: "by offset", push: withDistance((baseBytes) => baseBytes) },
  {
    name: "the base comes behind its delta",
    push: ({ blob }) => {
      const wanted = makeObject("blob", appended(blob.content));
      const delta = refDelta(blob.oid, insertAll(blob.content.length, wanted.content));
      return pushOf(wanted, [encodeEntry(delta), encodeEntry(blob)]);
    },
  },
  {
    name: "copy of 64 KiB, whose size is written as 0",
    push: ({ blob }) => {
      const base = makeObject("blob", Buffer.alloc(0x10000, blob.oid));
      const wanted = makeObject("blob", appended(base.content));
      const delta = encodeDelta(0x10000, 0x10001, copy(0, 0x10000), insert("!"));
      return pushOf(wanted, [encodeEntry(base), encodeEntry(refDelta(base.oid, delta))]);
    },
  },
  {
    name: "1 KB that makes 64 MB",
    isSwept: true,
    push: ({ blob }) => {
      const base = makeObject("blob", Buffer.concat([Buffer.alloc(0x10000), Buffer.from(blob.oid)]));
      const copies = Array.from({ length: 1_024 }, () => copy(0, 0x10000));
      const delta = encodeDelta(base.content.length, 1_024 * 0x10000, ...copies);
      const wanted = makeObject("blob", Buffer.alloc(1_024 * 0x10000));
      return pushOf(wanted, [encodeEntry(base), encodeEntry(refDelta(base.oid, delta))], base);
    },
  },
  {
    name: "a chain of 5,000",
    isSwept: true,
    push: ({ blob }) => {
      const content = (number: number): Buffer => Buffer.from(`${String(number).padStart(5)}${blob.oid}`);
      const entries = [encodeEntry(makeObject("blob", content(0)))];
      for (let number = 1; number <= 5_000; number++) {
        const delta = encodeDelta(45, 45, insert(content(number).subarray(0, 5)), copy(5, 40));
        entries.push(encodeEntry(ofsDelta(entries.at(-1)!.length, delta)));
      }
      return pushOf(makeObject("blob", content(5_000)), entries);
    },
  },
];

testPushes([
  ...refused.map((row) => ({ ...row, answer: "refused" }) as const),
  ...accepted.map((row) => ({ ...row, answer: "accepted" }) as const),
]);
