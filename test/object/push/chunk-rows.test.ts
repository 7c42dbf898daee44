import { expect, test } from "vitest";
import { NO_INDEX, type PackIndex, STORED } from "../../../src/base/codec/pack-index.ts";
import type { WrittenChunk } from "../../../src/object/push/chunk-writer.ts";
import { layOutRows } from "../../../src/object/push/chunk-rows.ts";
import { findBoundary } from "../../../src/object/push/pack-framing.ts";
import type { PushedObjects } from "../../../src/object/push/pushed-objects.ts";
import { finishAtOnce } from "../../../src/base/numbers/number-set.ts";
import { Random } from "../../harness/random.ts";
import { arrayIndex } from "./array-index.ts";

const FILE_BYTES = 6_000_000_007;

/** A pack with a text, a file of 6 GB, a delta on the text, and a blob that was made of a delta. */
function makeIndex(): PackIndex {
  const offsets = [12, 112, 112 + FILE_BYTES, 212 + FILE_BYTES];
  const index = arrayIndex({
    count: 4,
    offsets: Float64Array.from(offsets),
    end: 312 + FILE_BYTES,
    sizes: Float64Array.of(200, FILE_BYTES - 1_000, 190, 2 * FILE_BYTES),
    bases: Uint32Array.of(NO_INDEX, NO_INDEX, 0, NO_INDEX),
    kinds: Uint8Array.of(3, 3, 3, 3),
    stored: Uint8Array.of(STORED.plain, STORED.plain, STORED.ofsDelta, STORED.made),
    made: new Map([[3, { offset: 312 + FILE_BYTES, length: FILE_BYTES }]]),
    nodeCount: 4,
    oids: new Random(1).bytes(80),
    numbers: [5, 6, 7, 8],
  });
  for (let i = 0; i < 4; i++) {
    index.setFresh(i, i);
    index.setIntroducer(i, 5);
  }
  return index;
}

test("objects around a file of 6 GB are laid out where they are", () => {
  const index = makeIndex();
  const pushed = {
    index,
    freshCount: 4,
    firstNumber: 5,
    oid: (node: number) => index.oids(node, node + 1),
  } as unknown as PushedObjects;
  const chunkOf = (packOffset: number, sizeBytes: number): WrittenChunk => ({
    key: `chunk-${packOffset}`,
    bytes: null,
    packOffset,
    sizeBytes,
    checksum: new Uint8Array(20),
  });
  // A chunk ends at the first boundary after 2 MB: here, behind the file.
  const written = [
    chunkOf(12, 100 + FILE_BYTES),
    chunkOf(112 + FILE_BYTES, 200),
    chunkOf(312 + FILE_BYTES, FILE_BYTES),
  ];
  const { objects, chunks } = finishAtOnce(layOutRows(pushed, written, 3, () => 1));
  expect([...objects.chunk]).toEqual([3, 3, 4, 5]);
  expect([...objects.offset]).toEqual([0, 100, 0, 0]);
  expect([...objects.length]).toEqual([100, FILE_BYTES, 100, FILE_BYTES]);
  expect([...objects.size]).toEqual([200, FILE_BYTES - 1_000, 190, 2 * FILE_BYTES]);
  expect([...objects.distance]).toEqual([0, 0, 100 + FILE_BYTES, 0]);
  expect(chunks.map(({ packOffset, size }) => [packOffset, size])).toEqual(
    written.map(({ packOffset, sizeBytes }) => [packOffset, sizeBytes]),
  );
});

test("a boundary beyond 4 GiB is found", () => {
  const index = makeIndex();
  expect(findBoundary(index, 2_000_000, FILE_BYTES)).toBeNull();
  expect(findBoundary(index, 2_000_000, FILE_BYTES + 112)).toBe(FILE_BYTES + 112);
  expect(findBoundary(index, FILE_BYTES + 212, FILE_BYTES + 400)).toBe(index.end);
});
