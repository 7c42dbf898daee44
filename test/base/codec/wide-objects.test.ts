/** Objects whose size needs more than 32 bits, as far as they can be had without their bytes. */
import { expect, test } from "vitest";
import wasm from "../../../src/base/codec/holdfast.wasm";
import { maskRefused } from "../../../src/base/codec/fsck-messages.ts";
import { STORED } from "../../../src/base/codec/pack-index.ts";
import { MemoryPages } from "./indexed-pack.ts";
import { PackIndexer } from "../../../src/base/codec/pack-indexer.ts";
import { DEFAULT_LIMITS } from "../../../src/base/format/configured-limits.ts";
import { assemblePack, copy, encodeDelta, encodeEntryHead, refDelta } from "../../harness/pack-builder.ts";
import { encodeEntry } from "../../harness/raw.ts";

const WIDE_BYTES = 2 ** 32 + 7;
const WIDER_BYTES = 2 ** 33 + 9;

function withIndexer(pack: Uint8Array, use: (indexer: PackIndexer) => void): void {
  const indexer = new PackIndexer(wasm, {
    limits: DEFAULT_LIMITS,
    ringBytes: 2 * 1024 * 1024,
    refused: maskRefused("default"),
    pages: new MemoryPages(),
    readBack: (offset, out) => {
      const bytes = pack.subarray(offset, offset + out.length);
      out.set(bytes);
      return bytes.length;
    },
  });
  try {
    indexer.input().set(pack);
    indexer.step(pack.length);
    use(indexer);
  } finally {
    indexer.release();
  }
}

test("a base and a result beyond 4 GiB keep their sizes and their places", () => {
  const [base, made] = ["1".repeat(40), "2".repeat(40)];
  const pack = assemblePack([
    encodeEntry(refDelta(base, encodeDelta(WIDE_BYTES, WIDER_BYTES, copy(0, 100)))),
    encodeEntry(refDelta(made, encodeDelta(WIDER_BYTES, 100, copy(0, 100)))),
  ]);
  withIndexer(pack, (indexer) => {
    expect(indexer.done).toBe(true);
    const asked = indexer.finish();
    expect(asked).toMatchObject({ kind: "base", oid: new Uint8Array(20).fill(0x11) });
    if (asked?.kind !== "base") throw new Error("no base was asked for");
    indexer.supplyLarge(asked.entry, WIDE_BYTES);
    const need = indexer.finish();
    expect(need).toEqual({ kind: "large", delta: 0, base: asked.entry, content: null });
    expect(indexer.sizeOf(asked.entry)).toBe(WIDE_BYTES);
    const place = { offset: 5 * 2 ** 32, length: WIDER_BYTES + 100 };
    indexer.placeLarge(0, new Uint8Array(20).fill(0x22), WIDER_BYTES, place);
    // The other delta's base is what was made.
    expect(indexer.finish()).toEqual({ kind: "large", delta: 1, base: 0, content: null });
    indexer.placeLarge(1, new Uint8Array(20).fill(0x33), 100, { offset: 6 * 2 ** 32, length: 50 });
    expect(indexer.finish()).toBeNull();
    const index = indexer.index();
    const entries = [0, 1, 2];
    expect(entries.map((entry) => index.size(entry))).toEqual([WIDER_BYTES, 100, WIDE_BYTES]);
    expect(entries.map((entry) => index.stored(entry))).toEqual([STORED.made, STORED.made, STORED.made]);
    expect(index.offset(0)).toBe(12);
    // An external entry is behind all others.
    expect(index.offset(2)).toBe(2 ** 48 - 1);
    expect(indexer.place(0)).toEqual(place);
  });
});

test.each([WIDE_BYTES, WIDER_BYTES, 16 * 2 ** 30])("a blob of %i bytes is taken in as it comes", (sizeBytes) => {
  // The beginning of its stream: a block as it is.
  const stored = Buffer.concat([Buffer.from([0x78, 0x01, 0, 3, 0, 0xfc, 0xff]), Buffer.from("abc")]);
  const pack = assemblePack([Buffer.concat([encodeEntryHead(3, BigInt(sizeBytes)), stored])]).subarray(0, -20);
  withIndexer(pack, (indexer) => {
    expect([indexer.done, indexer.count, indexer.sizeOf(0)]).toEqual([false, 1, sizeBytes]);
    const entries = indexer.entries();
    expect([entries.count, entries.offset(0), entries.end]).toEqual([1, 12, 12]);
    expect(() => indexer.finish()).toThrow("it ends too early");
  });
});
