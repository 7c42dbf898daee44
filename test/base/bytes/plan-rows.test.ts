import { expect, test } from "vitest";
import { NumberSet } from "../../../src/base/numbers/number-set.ts";
import { newObjectColumns } from "../../../src/object/store/index/object-columns.ts";
import { ChunkTable } from "../../../src/object/store/index/chunk-table.ts";
import { ObjectIndex } from "../../../src/object/store/index/object-index.ts";
import { createRepository } from "../../../src/object/store/sql/schema.ts";
import { collectChains } from "../../../src/object/pack/collect-chains.ts";
import { PackDraft } from "../../../src/object/pack/pack-draft.ts";
import { sentBytes } from "../../../src/base/bytes/pack-plan.ts";
import { planPack } from "../../../src/object/pack/pack-planner.ts";
import {
  chainBase,
  chainExtent,
  chainLength,
  chainOffset,
  chainRow,
  moveChainRow,
  NO_BASE,
  PIECE,
  pieceArgument,
  pieceExtent,
  pieceLength,
  pieceOffset,
  pieceOperation,
  pieceRow,
} from "../../../src/base/bytes/plan-rows.ts";
import { readPieces } from "../../../src/base/bytes/pack-reads.ts";
import { StreamedChecksums } from "../../../src/base/bytes/chunk-checksum.ts";
import { HeldBytes } from "../../../src/base/bytes/held-bytes.ts";
import { MemoryChunkStore } from "../../harness/memory-chunk-store.ts";
import { Random } from "../../harness/random.ts";
import { NodeSql } from "../../object/sqlite.ts";

/** A file of 6 GB as it is stored, and what is around it. */
const FILE_BYTES = 6_000_000_007;
const ENTRY_BYTES = 100;

const LENGTHS = [0, 1, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 1, FILE_BYTES, 16 * 2 ** 30, 2 ** 53 - 1];

test.each(LENGTHS)("rows of words have a length of %i, and all else beside it", (length) => {
  const words = 2 ** 32 - 1;
  for (const operation of Object.values(PIECE)) {
    const rows = Uint32Array.from([...pieceRow(0, 1, 2, 3, 4), ...pieceRow(operation, words, words, length, words)]);
    expect(pieceOperation(rows, 1)).toBe(operation);
    expect([pieceExtent(rows, 1), pieceOffset(rows, 1), pieceArgument(rows, 1)]).toEqual([words, words, words]);
    expect(pieceLength(rows, 1)).toBe(length);
  }
  const rows = Uint32Array.from([...chainRow(1, 2, 3, 4), ...chainRow(words, words, length, NO_BASE)]);
  expect([chainExtent(rows, 1), chainOffset(rows, 1), chainLength(rows, 1), chainBase(rows, 1)]).toEqual([
    words,
    words,
    length,
    NO_BASE,
  ]);
  moveChainRow(rows, 1, 7, 8);
  expect([chainExtent(rows, 1), chainOffset(rows, 1), chainLength(rows, 1), chainBase(rows, 1)]).toEqual([
    7,
    8,
    length,
    NO_BASE,
  ]);
});

/** A repository of four objects in the order of their pack, each in a chunk of its own: a text, a
 * file of 6 GB, a delta on the text whose distance reaches over the file, and a delta on that. */
function makeWide(): { objects: ObjectIndex; chunks: ChunkTable } {
  const sql = new NodeSql();
  createRepository(sql, { key: "wide", createdMs: 0, fsck: "default" });
  const objects = new ObjectIndex(sql);
  const chunks = new ChunkTable(sql, objects);
  const rows = newObjectColumns(4);
  rows.oid.set(new Random(1).bytes(80));
  let packOffset = 12;
  for (let i = 0; i < 4; i++) {
    rows.number[i] = i + 1;
    rows.chunk[i] = i + 1;
    rows.length[i] = i === 1 ? FILE_BYTES : ENTRY_BYTES;
    rows.type[i] = 3;
    rows.size[i] = i === 1 ? FILE_BYTES - 1_000 : 200;
  }
  rows.base.set([0, 0, 1, 3]);
  rows.distance.set([0, 0, ENTRY_BYTES + FILE_BYTES, ENTRY_BYTES]);
  chunks.insert(
    [1, 2, 3, 4].map((number, i) => {
      const chunk = { key: `wide/${number}`, bytes: null, size: rows.length[i]!, packOffset };
      packOffset += rows.length[i]!;
      const floors = { ofsFloor: rows.base[i]!, baseFloor: rows.base[i]! };
      const numbers = { firstNumber: number, lastNumber: number };
      return { ...chunk, ...floors, ...numbers, checksum: new Uint8Array(20), push: 1, whole: true, objects: null };
    }),
  );
  objects.insertMany(rows);
  return { objects, chunks };
}

test("a pack with a file of 6 GB is planned: the delta beyond it names its base by its id", () => {
  const { objects, chunks } = makeWide();
  expect(objects.locate(NumberSet.of(3)).distance[0]).toBe(ENTRY_BYTES + FILE_BYTES);
  const plan = planPack(objects, chunks, { objects: NumberSet.range(1, 5), findHad: null, ofsDelta: true });
  const pieces = Array.from({ length: 4 }, (_, piece) => [
    pieceOperation(plan.pieces, piece),
    pieceLength(plan.pieces, piece),
  ]);
  expect(pieces).toEqual([
    [PIECE.verbatim, ENTRY_BYTES],
    [PIECE.verbatim, FILE_BYTES],
    [PIECE.refDelta, ENTRY_BYTES],
    [PIECE.ofsDelta, ENTRY_BYTES],
  ]);
  expect(Buffer.from(plan.bases)).toEqual(Buffer.from(objects.locate(NumberSet.of(1)).oid));
  // An id is longer than the former distance.
  expect(pieceArgument(plan.pieces, 3)).toBe(ENTRY_BYTES + 20 - 5);
  expect(plan.entriesBytes).toBe(FILE_BYTES + 3 * ENTRY_BYTES + 20 - 5);
  expect(sentBytes(plan)).toBe(FILE_BYTES + 3 * ENTRY_BYTES);
});

test("without the file the delta names its base by the distance that is left", () => {
  const { objects, chunks } = makeWide();
  const plan = planPack(objects, chunks, { objects: NumberSet.fromUnsorted([1, 3, 4]), findHad: null, ofsDelta: true });
  expect(pieceOperation(plan.pieces, 1)).toBe(PIECE.ofsDelta);
  expect(pieceArgument(plan.pieces, 1)).toBe(ENTRY_BYTES);
});

test("neighbours in a chunk become one piece, of whatever length", () => {
  const { objects, chunks } = makeWide();
  const draft = new PackDraft(chunks);
  draft.addChunks([1, 2]);
  draft.addVerbatim(2, 0, 1_000);
  draft.addVerbatim(2, 1_000, FILE_BYTES - 1_000);
  draft.addVerbatim(1, 0, ENTRY_BYTES);
  const { chains, undeltified } = collectChains(objects, draft, [2, 4]);
  const plan = draft.finish(5, chains, undeltified);
  expect(Array.from({ length: 2 }, (_, piece) => pieceLength(plan.pieces, piece))).toEqual([FILE_BYTES, ENTRY_BYTES]);
  expect(Array.from(undeltified, (row) => chainLength(chains, row))).toEqual([FILE_BYTES, ENTRY_BYTES]);
  expect(sentBytes(plan)).toBe(2 * FILE_BYTES + 2 * ENTRY_BYTES);
});

test("a piece of 6 GB is read in windows, and is held against its chunk's checksum", async () => {
  const { objects, chunks } = makeWide();
  const plan = planPack(objects, chunks, { objects: NumberSet.range(1, 5), findHad: null, ofsDelta: true });
  const opened: [string, number, number][] = [];
  class Watched extends MemoryChunkStore {
    override open(key: string, offset: number, length: number): Promise<ReadableStream<Uint8Array>> {
      opened.push([key, offset, length]);
      if (key === "wide/1") return Promise.resolve(new Blob([new Uint8Array(ENTRY_BYTES)]).stream());
      return Promise.reject(new Error("enough"));
    }
  }
  const reading = Array.fromAsync(readPieces(plan, new Watched(), new HeldBytes()));
  await expect(reading).rejects.toThrow("enough");
  expect(opened.slice(0, 2)).toEqual([
    ["wide/1", 0, ENTRY_BYTES],
    // A thousandth of it.
    ["wide/2", 0, 6_000_001],
  ]);
  const checksums = new StreamedChecksums(plan);
  checksums.take({ piece: 1, first: true, bytes: new Uint8Array(10) });
  // Its end is found by its length: here, by what would be left of it.
  expect(() => checksums.take({ piece: 0, first: true, bytes: new Uint8Array(ENTRY_BYTES) })).toThrow("wide/1");
});
