import type { ChunkId, ObjectNumber } from "../../base/numbers/kinds.ts";
import { OID_BYTES } from "../../base/format/oid.ts";
import { PACK_HEADER_BYTES } from "../../base/format/pack.ts";
import type { ChunkRow } from "../store/index/chunk-row.ts";
import type { ChunkTable } from "../store/index/chunk-table.ts";
import type { Extent, PackPlan } from "../../base/bytes/pack-plan.ts";
import { PIECE, pieceRow } from "../../base/bytes/plan-rows.ts";
import { WordRows } from "./word-rows.ts";

/** Where a chunk is: all of it. */
export function extentOf(chunks: ChunkTable, { id, key, start, size, checksum }: ChunkRow): Extent {
  return key === null ? { bytes: chunks.hotBytesOf(id)! } : { key, start, length: size, checksum };
}

/** A plan being written: pieces in order, and the chunks and ids that they name, each once. */
export class PackDraft {
  readonly #chunks: ChunkTable;
  readonly #extents: Extent[] = [];
  /** Extent of each chunk by its id. */
  readonly #extentOfChunk = new Map<ChunkId, number>();
  readonly #pieces = new WordRows();
  /** The last piece while it is verbatim: it may go on. Not among the pieces yet; of length 0 there
   * is none. */
  readonly #verbatim = { extent: 0, offset: 0, length: 0 };
  readonly #bases: Uint8Array[] = [];
  /** Index in `#bases` by object number. */
  readonly #baseOfObject = new Map<ObjectNumber, number>();
  #position = PACK_HEADER_BYTES;

  constructor(chunks: ChunkTable) {
    this.#chunks = chunks;
  }

  /** The position of the next piece in the pack, bytes. */
  get position(): number {
    return this.#position;
  }

  /** Adds the extents of chunks, before pieces of them are added.
   * @throws GitError "storage-failed" when one is missing */
  addChunks(ids: Iterable<number>): void {
    const unknown = new Set(ids);
    for (const id of unknown) if (this.#extentOfChunk.has(id)) unknown.delete(id);
    if (unknown.size === 0) return;
    for (const row of this.#chunks.byIds(unknown)) {
      this.#extentOfChunk.set(row.id, this.#extents.length);
      this.#extents.push(extentOf(this.#chunks, row));
    }
  }

  /** The extent of a chunk that was added. */
  extentOf(chunk: ChunkId): number {
    return this.#extentOfChunk.get(chunk)!;
  }

  /** Adds entries in stored form. Neighbours in one chunk become one piece. */
  addVerbatim(chunk: ChunkId, offset: number, length: number): void {
    const extent = this.extentOf(chunk);
    this.#position += length;
    const last = this.#verbatim;
    if (last.length === 0 || last.extent !== extent || last.offset + last.length !== offset) {
      this.#endVerbatim();
      last.extent = extent;
      last.offset = offset;
    }
    last.length += length;
  }

  #endVerbatim(): void {
    const { extent, offset, length } = this.#verbatim;
    if (length > 0) this.#pieces.push(pieceRow(PIECE.verbatim, extent, offset, length, 0));
    this.#verbatim.length = 0;
  }

  /** Adds a delta with its distance rewritten.
   * @param sentBytes its length as sent */
  addOfsDelta(chunk: ChunkId, offset: number, length: number, sentBytes: number, distance: number): void {
    this.#endVerbatim();
    this.#pieces.push(pieceRow(PIECE.ofsDelta, this.extentOf(chunk), offset, length, distance));
    this.#position += sentBytes;
  }

  /** Adds a delta whose base is named by its id.
   * @param base the base's object number @param oid its id */
  addRefDelta(
    chunk: ChunkId,
    offset: number,
    length: number,
    sentBytes: number,
    base: ObjectNumber,
    oid: Uint8Array,
  ): void {
    let index = this.#baseOfObject.get(base);
    if (index === undefined) {
      index = this.#bases.length;
      this.#bases.push(oid);
      this.#baseOfObject.set(base, index);
    }
    this.#endVerbatim();
    this.#pieces.push(pieceRow(PIECE.refDelta, this.extentOf(chunk), offset, length, index));
    this.#position += sentBytes;
  }

  /** The finished plan. */
  finish(objectCount: number, chains: Uint32Array, undeltified: Uint32Array): PackPlan {
    this.#endVerbatim();
    const bases = new Uint8Array(this.#bases.length * OID_BYTES);
    this.#bases.forEach((oid, i) => bases.set(oid, i * OID_BYTES));
    return {
      objectCount,
      entriesBytes: undeltified.length > 0 ? -1 : this.#position - PACK_HEADER_BYTES,
      extents: this.#extents,
      pieces: this.#pieces.toArray(),
      bases,
      chains,
      undeltified,
    };
  }
}
