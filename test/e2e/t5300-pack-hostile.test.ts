// Packs with wrong headers, entries or trailers. @see gitformat-pack(5)
import { constants, deflateRawSync, deflateSync } from "node:zlib";
import { assemblePack, encodeEntryHead, makeObject, packOf } from "../harness/pack-builder.ts";
import { BASE, type Ground, type PushRow, testPushes } from "../harness/push-table.ts";
import { encodeEntry, type RawEntry } from "../harness/raw.ts";

/** A pack of the ground objects in which one entry is replaced by a flawed one. */
function packWith(ground: Ground, flawed: Uint8Array): Buffer {
  return assemblePack([flawed, encodeEntry(ground.tree), encodeEntry(ground.commit)]);
}

function entriesOf({ blob, tree, commit }: Ground): Buffer[] {
  return [blob, tree, commit].map((object) => encodeEntry(object));
}

/** The ground's blob with another header, or other compressed bytes. */
function flawedBlob(flaw: (ground: Ground) => Partial<RawEntry>): PushRow["push"] {
  return (ground) => ({ pack: packWith(ground, encodeEntry({ ...ground.blob, ...flaw(ground) })) });
}

/** The ground's blob with any bytes as its header. */
function flawedHead(head: (sizeBytes: number) => Uint8Array): PushRow["push"] {
  return (ground) => {
    const { content } = ground.blob;
    return { pack: packWith(ground, Buffer.concat([head(content.length), deflateSync(content)])) };
  };
}

function flip(bytes: Buffer, at: number): Buffer {
  const flipped = Buffer.from(bytes);
  flipped[at < 0 ? bytes.length + at : at]! ^= 0x10;
  return flipped;
}

const refused: readonly (Omit<PushRow, "answer"> & Partial<PushRow>)[] = [
  { name: "no pack at all", push: () => ({ pack: Buffer.alloc(0) }) },
  { name: "another signature", push: (ground) => ({ pack: assemblePack(entriesOf(ground), { signature: "PACL" }) }) },
  { name: "version 1", push: (ground) => ({ pack: assemblePack(entriesOf(ground), { version: 1 }) }) },
  { name: "version 4", push: (ground) => ({ pack: assemblePack(entriesOf(ground), { version: 4 }) }) },
  { name: "header cut", push: () => ({ pack: Buffer.from("PACK\0\0\0\x02\0") }) },
  { name: "count too high", push: (ground) => ({ pack: assemblePack(entriesOf(ground), { count: 4 }) }) },
  { name: "count too low", push: (ground) => ({ pack: assemblePack(entriesOf(ground), { count: 2 }) }) },
  {
    name: "count of 4,294,967,295",
    push: (ground) => ({ pack: assemblePack(entriesOf(ground), { count: 4_294_967_295 }) }),
  },
  { name: "no objects, and a tip that nobody knows", push: () => ({ pack: packOf() }) },
  {
    name: "trailer wrong",
    push: (ground) => ({ pack: assemblePack(entriesOf(ground), { trailer: Buffer.alloc(20, 7) }) }),
  },
  {
    name: "trailer missing",
    push: (ground) => ({ pack: assemblePack(entriesOf(ground), { trailer: Buffer.alloc(0) }) }),
  },
  {
    name: "trailer cut",
    push: (ground) => ({ pack: assemblePack(entriesOf(ground)).subarray(0, -1) }),
  },
  {
    name: "bytes behind the trailer",
    push: (ground) => ({ pack: Buffer.concat([assemblePack(entriesOf(ground)), Buffer.from("more")]) }),
    git: "either",
  },
  {
    name: "two packs in a row",
    push: ({ blob, tree, commit }) => ({ pack: Buffer.concat([packOf(blob, tree, commit), packOf(blob)]) }),
    git: "either",
  },
  { name: "cut in an object", push: (ground) => ({ pack: assemblePack(entriesOf(ground)).subarray(0, -60) }) },
  {
    name: "a bit flipped in an object's compressed bytes",
    push: flawedBlob(({ blob }) => ({ compressed: flip(deflateSync(blob.content), 6) })),
  },
  { name: "wrong Adler-32", push: flawedBlob(({ blob }) => ({ compressed: flip(deflateSync(blob.content), -1) })) },
  {
    name: "declared size one too small",
    push: flawedBlob(({ blob }) => ({ claimedSize: blob.content.length - 1 })),
  },
  {
    name: "declared size one too large",
    push: flawedBlob(({ blob }) => ({ claimedSize: blob.content.length + 1 })),
  },
  { name: "declared size 0", push: flawedBlob(() => ({ claimedSize: 0 })) },
  { name: "declared size 1 TiB", push: flawedHead(() => encodeEntryHead(3, 1n << 40n)) },
  { name: "declared size 2^63", push: flawedHead(() => encodeEntryHead(3, 1n << 63n)) },
  { name: "a size without end", push: flawedHead(() => Buffer.alloc(64, 0xff)) },
  { name: "type 0", push: flawedHead((size) => encodeEntryHead(0, BigInt(size))) },
  { name: "type 5", push: flawedHead((size) => encodeEntryHead(5, BigInt(size))) },
  {
    name: "deflate without its zlib header",
    push: flawedBlob(({ blob }) => ({ compressed: deflateRawSync(blob.content) })),
  },
  {
    name: "a zlib stream that wants a dictionary",
    push: flawedBlob(({ blob }) => ({ compressed: deflateSync(blob.content, { dictionary: Buffer.from("refused") }) })),
  },
  {
    name: "a zlib stream that does not end",
    push: flawedBlob(({ blob }) => ({
      compressed: deflateSync(blob.content, { finishFlush: constants.Z_SYNC_FLUSH }),
    })),
  },
];

const accepted: readonly (Omit<PushRow, "answer"> & Partial<PushRow>)[] = [
  { name: "version 3", push: (ground) => ({ pack: assemblePack(entriesOf(ground), { version: 3 }) }) },
  {
    name: "an object that is there already",
    push: ({ blob, tree, commit }) => ({ pack: packOf(blob, tree, commit, BASE.blob, BASE.commit) }),
  },
  {
    name: "objects that nothing refers to",
    push: ({ blob, tree, commit }) => ({
      pack: packOf(blob, tree, commit, makeObject("blob", "extra"), makeObject("tree", "")),
    }),
  },
  {
    name: "100 MB of zeros in 100 KB",
    isSwept: true,
    push: ({ blob, tree, commit }) => ({
      pack: packOf(blob, tree, commit, makeObject("blob", Buffer.alloc(100_000_000))),
    }),
  },
  {
    name: "the same object twice",
    push: ({ blob, tree, commit }) => ({ pack: packOf(blob, tree, commit, blob) }),
    git: "either",
  },
  {
    name: "an empty blob",
    push: (ground) => ({ pack: packOf(ground.blob, ground.tree, ground.commit, makeObject("blob", "")) }),
  },
  {
    name: "objects stored without compression",
    push: flawedBlob(({ blob }) => ({ compressed: deflateSync(blob.content, { level: 0 }) })),
  },
  {
    name: "referrers before what they refer to",
    push: ({ blob, tree, commit }) => ({ pack: packOf(commit, tree, blob) }),
  },
  { name: "no objects, and a tip that is there", push: () => ({ pack: packOf(), tip: BASE.commit.oid }) },
];

testPushes([
  ...refused.map((row) => ({ ...row, answer: "refused" }) as const),
  ...accepted.map((row) => ({ ...row, answer: "accepted" }) as const),
]);
