import { expect, test } from "vitest";
import { EMPTY_INDEX, NO_INDEX, type PackIndex, STORED } from "../../../src/codec/pack-index.ts";
import type { WrittenChunk } from "../../../src/repository/push/chunk-writer.ts";
import { layOutRows } from "../../../src/repository/push/chunk-rows.ts";
import { findBoundary } from "../../../src/repository/push/pack-framing.ts";
import type { PushedObjects } from "../../../src/repository/push/pushed-objects.ts";
import { finishAtOnce } from "../../../src/store/numbers/steps.ts";
import { Random } from "../../harness/random.ts";

const FILE_BYTES = 6_000_000_007;

/** A pack with a text, a file of 6 GB, a delta on the text, and a blob that was made of a delta. */
function makeIndex(): PackIndex {
  const offsets = [12, 112, 112 + FILE_BYTES, 212 + FILE_BYTES];
  return {
    ...EMPTY_INDEX,
    count: 4,
    offsets: Float64Array.from(offsets),
    end: 312 + FILE_BYTES,
    sizes: Float64Array.of(200, FILE_BYTES - 1_000, 190, 2 * FILE_BYTES),
    bases: Uint32Array.of(NO_INDEX, NO_INDEX, 0, NO_INDEX),
    entryNodes: Uint32Array.of(0, 1, 2, 3),
    kinds: Uint8Array.of(3, 3, 3, 3),
    stored: Uint8Array.of(STORED.plain, STORED.plain, STORED.ofsDelta, STORED.made),
    made: new Map([[3, { offset: 312 + FILE_BYTES, length: FILE_BYTES }]]),
    nodeCount: 4,
    oids: new Random(1).bytes(80),
    nodeEntries: Uint32Array.of(0, 1, 2, 3),
    nodeFlags: new Uint8Array(4),
  };
}

test("objects around a file of 6 GB are laid out where they are", () => {
  const index = makeIndex();
  const pushed = {
    index,
    fresh: Uint32Array.of(0, 1, 2, 3),
    firstNumber: 5,
    numbers: Uint32Array.of(5, 6, 7, 8),
    oid: (node: number) => index.oids.subarray(node * 20, node * 20 + 20),
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
  const { objects, chunks } = finishAtOnce(layOutRows(pushed, written, new Uint32Array(4).fill(5), 3, () => 1));
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
  const { offsets, end } = makeIndex();
  expect(findBoundary(offsets, end, 2_000_000, FILE_BYTES)).toBeNull();
  expect(findBoundary(offsets, end, 2_000_000, FILE_BYTES + 112)).toBe(FILE_BYTES + 112);
  expect(findBoundary(offsets, end, FILE_BYTES + 212, FILE_BYTES + 400)).toBe(end);
});
