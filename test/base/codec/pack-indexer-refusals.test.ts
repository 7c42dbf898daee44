// Every error of the indexer, with the values that explain it.
import { deflateSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { isGitError, packTooLarge } from "../../../src/base/format/errors.ts";
import {
  assemblePack,
  copy,
  encodeDelta,
  encodeEntryHead,
  insert,
  insertAll,
  makeCommit,
  makeObject,
  makeTag,
  makeTree,
  ofsDelta,
  packOf,
  refDelta,
} from "../../harness/pack-builder.ts";
import { explainFinding } from "../../../src/base/codec/fsck-meanings.ts";
import { encodeEntry } from "../../harness/raw.ts";
import { type Feeding, indexPack } from "./indexed-pack.ts";
import { append, makeChain } from "./packs.ts";

/** The description of an object of which only the size is known. */
const UNNAMED = "a file or another object in the pack (bytes)";
const bySize = (bytes: number): unknown => expect.stringContaining(`grep "^${bytes} " finds it`);

/** The indexer's error for a pack, in pieces of any size. */
function refusalOf(pack: Uint8Array, feeding: Feeding = {}): { code: string; data: Record<string, unknown> } {
  const refusals = [pack.length, 1_000, 13, 1]
    .filter((bytes) => bytes > 20 || pack.length < 5_000)
    .map((pieceBytes) => {
      try {
        indexPack(pack, { pieceBytes, ...feeding });
      } catch (error) {
        if (isGitError(error)) return { code: error.code, data: { ...error.data } };
        throw error;
      }
      return { code: "accepted", data: {} };
    });
  for (const refusal of refusals) expect(refusal).toEqual(refusals[0]);
  return refusals[0]!;
}

const blob = makeObject("blob", "some content\n".repeat(10));
const first = encodeEntry(blob);
const second = 12 + first.length;
const MIB = 1024 * 1024;

/** A pack whose second entry begins at `second`. */
function packWith(...entries: Uint8Array[]): Buffer {
  return assemblePack([first, ...entries]);
}

function flipped(bytes: Buffer, at: number): Buffer {
  const copied = Buffer.from(bytes);
  copied[at < 0 ? bytes.length + at : at]! ^= 4;
  return copied;
}

function corrupt(reason: RegExp, offset: number, value: number): unknown {
  return { code: "corrupt-pack", data: { reason: expect.stringMatching(reason), offset, value } };
}

describe("the pack", () => {
  test("without its signature, or of another version", () => {
    expect(refusalOf(assemblePack([first], { signature: "PAKC" }))).toEqual(corrupt(/does not begin with PACK/, 0, 0));
    for (const version of [1, 4])
      expect(refusalOf(assemblePack([first], { version }))).toEqual(corrupt(/version/, 0, version));
  });

  test("of more objects than allowed, by its header", () => {
    const { code, data } = packTooLarge("objects in a pack", 5_000_000, 4_294_967_295);
    expect(refusalOf(assemblePack([first], { count: 4_294_967_295 }))).toEqual({ code, data });
  });

  test("that ends anywhere", () => {
    const pack = packOf(
      blob,
      makeTree(["100644", "file", blob]),
      makeObject("blob", Buffer.alloc(2 * MIB, "0123456789abcdef!")),
    );
    const body = pack.subarray(0, -20);
    for (let length = 0; length < body.length; length += length < 250 ? 1 : 1_997) {
      const refusal = refusalOf(body.subarray(0, length), { pieceBytes: 65_536 });
      expect(refusal.code, `${length} bytes`).toBe("corrupt-pack");
      expect(refusal.data["reason"], `${length} bytes`).toMatch(/ends too early|inflate/);
    }
  });
});

describe("an entry", () => {
  test.each([0, 5])("of type %i", (type) => {
    const entry = Buffer.concat([encodeEntryHead(type, 5n), deflateSync("hello")]);
    expect(refusalOf(packWith(entry))).toEqual(corrupt(/type . does not exist/, second, type));
  });

  test("whose size does not end", () => {
    expect(refusalOf(packWith(Buffer.alloc(64, 0xff)))).toEqual(corrupt(/header/, second, 0));
  });

  test.each<[string, Buffer]>([
    ["with a flipped bit", encodeEntry({ ...blob, compressed: flipped(deflateSync(blob.content), 9) })],
    ["with a wrong checksum", encodeEntry({ ...blob, compressed: flipped(deflateSync(blob.content), -1) })],
    ["larger than declared", encodeEntry({ ...blob, claimedSize: blob.content.length - 1 })],
    ["smaller than declared", encodeEntry({ ...blob, claimedSize: blob.content.length + 1 })],
  ])("%s", (_, entry) => {
    // By the fast inflate or the careful one, at the end of the pack or before more of it.
    expect(refusalOf(packWith(entry))).toMatchObject(corrupt(/inflate/, second, expect.any(Number) as never) as object);
    expect(refusalOf(packWith(entry, ...Array.from({ length: 20 }, () => first)))).toMatchObject({
      code: "corrupt-pack",
      data: { offset: second },
    });
  });

  test.each(["blob", "tree"] as const)("a %s above the stream threshold that lies about its size", (type) => {
    const content =
      type === "blob"
        ? Buffer.alloc(2 * MIB)
        : makeTree(...Array.from({ length: 50_000 }, (_, i) => ["100644", `f${10_000_000 + i}`, blob] as const))
            .content;
    for (const more of [-1, 1]) {
      const entry = encodeEntry({ type, content, claimedSize: content.length + more });
      expect(refusalOf(packWith(entry))).toEqual(corrupt(/inflate/, second, content.length + more));
    }
  });

  test("larger than an object may be, or than one that is held may be", () => {
    const head = (type: number, size: bigint): Buffer => Buffer.concat([encodeEntryHead(type, size), deflateSync("x")]);
    expect(refusalOf(packWith(head(3, 1n << 40n)))).toEqual({
      code: "too-large",
      data: { what: UNNAMED, limit: 17_179_869_184, actual: 2 ** 40, limitKind: "object", reason: bySize(2 ** 40) },
    });
    expect(refusalOf(packWith(head(2, 33n * 1024n * 1024n)))).toEqual({
      code: "too-large",
      data: { what: UNNAMED, limit: 32 * MIB, actual: 33 * MIB, limitKind: "object", reason: bySize(33 * MIB) },
    });
  });

  test("that inflates to more than a push may cost", () => {
    const limits = { maxPushWorkBytes: 800_000 };
    for (const size of [900_000, 9_000_000]) {
      expect(refusalOf(packWith(encodeEntry(makeObject("blob", Buffer.alloc(size)))), { limits })).toMatchObject({
        code: "too-large",
        data: { limit: 800_000 },
      });
    }
    expect(() => indexPack(packWith(encodeEntry(makeObject("blob", Buffer.alloc(790_000)))), { limits })).not.toThrow();
  });

  test("whose trees have more names than a push may cost: 48 for each", () => {
    const names = Array.from({ length: 1_000 }, (_, i) => ["100644", `file-${1_000 + i}`, blob] as const);
    const tree = makeTree(...names);
    const pack = assemblePack([encodeEntry(blob), encodeEntry(tree)]);
    const otherBytes = blob.content.length + tree.content.length + 2 * 512;
    const maxPushWorkBytes = otherBytes + 48 * names.length;
    expect(() => indexPack(pack, { limits: { maxPushWorkBytes } })).not.toThrow();
    expect(refusalOf(pack, { limits: { maxPushWorkBytes: maxPushWorkBytes - 1 } })).toMatchObject({
      code: "too-large",
      data: { limit: maxPushWorkBytes - 1, actual: maxPushWorkBytes },
    });
  });
});

describe("a delta", () => {
  const same = encodeDelta(blob.content.length, blob.content.length, copy(0, blob.content.length));

  test.each([
    ["zero", 0],
    ["before the pack", 5_000],
    ["into the pack's header", first.length + 5],
    ["into an entry", first.length - 2],
  ])("whose distance leads %s", (_, distance) => {
    expect(refusalOf(packWith(encodeEntry(ofsDelta(distance, same))))).toEqual(
      corrupt(/not an entry/, second, distance),
    );
  });

  test("whose distance does not end", () => {
    const entry = Buffer.concat([encodeEntryHead(6, 5n), Buffer.alloc(30, 0xff)]);
    expect(refusalOf(packWith(entry))).toEqual(corrupt(/header/, second, 0));
  });

  test("whose base is nowhere, is itself, or is in a circle", () => {
    const lost = makeObject("blob", "lost");
    const one = append(blob, "1");
    const two = append(blob, "22");
    const rows = [
      [[encodeEntry(refDelta(lost.oid, insertAll(4, blob.content)))], lost.oid],
      [
        [encodeEntry(refDelta(one.object.oid, insertAll(one.object.content.length, one.object.content)))],
        one.object.oid,
      ],
      [
        [
          encodeEntry(refDelta(two.object.oid, insertAll(two.object.content.length, one.object.content))),
          encodeEntry(refDelta(one.object.oid, insertAll(one.object.content.length, two.object.content))),
        ],
        two.object.oid,
      ],
    ] as const;
    for (const [entries, base] of rows) {
      expect(refusalOf(packWith(...entries))).toEqual(corrupt(new RegExp(base), second, 0));
    }
  });

  const size = blob.content.length;
  test.each<[string, Buffer]>([
    ["empty", Buffer.alloc(0)],
    ["cut in its sizes", Buffer.from([0x80 | (size % 128)])],
    ["for a base of another size", encodeDelta(size + 1, 5, insert("hello"))],
    ["that makes too little", encodeDelta(size, 6, insert("hello"))],
    ["that makes too much", encodeDelta(size, 4, insert("hello"))],
    ["that copies past its base", encodeDelta(size, 10, copy(size - 5, 10))],
    ["that copies 64 KiB by saying 0", encodeDelta(size, 0x10000, Buffer.from([0x80]))],
    ["that inserts past its end", encodeDelta(size, 100, Buffer.from([100, 1, 2, 3]))],
    ["with opcode 0", encodeDelta(size, 5, Buffer.from([0]), insert("hello"))],
    ["cut in a copy", encodeDelta(size, 5, Buffer.from([0x9f, 1]))],
    ["with sizes that do not end", Buffer.alloc(20, 0xff)],
  ])("%s", (_, delta) => {
    for (const entry of [ofsDelta(first.length, delta), refDelta(blob.oid, delta)]) {
      expect(refusalOf(packWith(encodeEntry(entry)))).toMatchObject({
        code: "corrupt-pack",
        data: { reason: "a delta is malformed", offset: second },
      });
    }
    // Deferred, because its base follows it.
    expect(refusalOf(assemblePack([encodeEntry(refDelta(blob.oid, delta)), first]))).toMatchObject({
      code: "corrupt-pack",
      data: { offset: 12 },
    });
  });

  test("that claims more than may be held", () => {
    const delta = encodeDelta(size, 2 ** 40, insert("hello"));
    expect(refusalOf(packWith(encodeEntry(ofsDelta(first.length, delta))))).toEqual({
      code: "too-large",
      data: { what: UNNAMED, limit: 17_179_869_184, actual: 2 ** 40, limitKind: "object", reason: bySize(2 ** 40) },
    });
  });

  test("that 1,000 bytes multiply to more than a push may cost", () => {
    const grow = encodeDelta(size, size * 5_000, ...Array.from({ length: 5_000 }, () => copy(0, size)));
    const pack = packWith(...Array.from({ length: 40 }, () => encodeEntry(refDelta(blob.oid, grow))));
    expect(refusalOf(pack, { limits: { maxPushWorkBytes: 10_000_000 } })).toMatchObject({
      code: "too-large",
      data: { limit: 10_000_000 },
    });
  });

  test("at the end of a chain that is too long, whatever is in memory", () => {
    const chain = makeChain(21, "ref");
    for (const entries of [chain, chain.toReversed()]) {
      const pack = assemblePack(entries);
      expect(() => indexPack(pack, { limits: { maxDeltaDepth: 21 } })).not.toThrow();
      const { code, data } = refusalOf(pack, { limits: { maxDeltaDepth: 20 } });
      expect([code, data]).toEqual(["too-large", { what: "delta chain", limit: 20, actual: 21 }]);
    }
  });
});

describe("an object", () => {
  test("that fails fsck", () => {
    const bad = makeTree(["100644", ".git", blob]);
    expect(refusalOf(packWith(encodeEntry(bad)))).toEqual({
      code: "bad-object",
      data: { oid: bad.oid, id: "hasDotgit", reason: explainFinding("hasDotgit") },
    });
    expect(() => indexPack(packWith(encodeEntry(bad)), { refused: 0n })).not.toThrow();
  });

  test("a .gitmodules that was seen before its name, after it, or comes from the repository", () => {
    const modules = makeObject("blob", '[submodule "../x"]\n\tpath = x\n\turl = y\n');
    const tree = makeTree(["100644", ".gitmodules", modules]);
    for (const pack of [packOf(modules, tree), packOf(tree, modules)]) {
      const reason = explainFinding("gitmodulesName");
      expect(refusalOf(pack)).toEqual({ code: "bad-object", data: { oid: modules.oid, id: "gitmodulesName", reason } });
    }
  });

  test("spoken of as another type", () => {
    const tree = makeTree();
    for (const [liar, expected, actual] of [
      [makeCommit(blob), "tree", "blob"],
      [makeTag(blob, "commit", "v1"), "commit", "blob"],
      [makeTree(["40000", "dir", blob]), "tree", "blob"],
    ] as const) {
      expect(refusalOf(packOf(liar, blob, tree))).toEqual({
        code: "wrong-type",
        data: { oid: blob.oid, expected, actual },
      });
    }
  });
});
