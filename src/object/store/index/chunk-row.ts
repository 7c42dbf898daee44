// Types of the chunks' rows in memory.
import type { ChunkId, ObjectNumber } from "../../../base/numbers/kinds.ts";

/** A chunk to insert: a run of whole entries, contiguous in the pack of one push, or assembled
 * by maintenance. */
export interface NewChunk {
  /** Key of the R2 object; null: `bytes` are stored inline. */
  readonly key: string | null;
  /** Offset of the chunk in the R2 object, bytes; default: 0. */
  readonly start?: number;
  /** The chunk's bytes, at most `BLOB_MAX_BYTES`; null: they are in R2. */
  readonly bytes: Uint8Array | null;
  /** Size of the chunk, bytes. */
  readonly size: number;
  /** SHA-1 of the chunk's bytes. */
  readonly checksum: Uint8Array;
  /** Id of the chunk's push; of several, the newest. */
  readonly push: number;
  /** Offset of the chunk's first byte in that push's pack. It is never 0 there, because of the
   * pack's header; 0: maintenance assembled the chunk. */
  readonly packOffset: number;
  /** The chunk's objects have numbers from this one to `lastNumber`. */
  readonly firstNumber: ObjectNumber;
  readonly lastNumber: ObjectNumber;
  /** Whether every byte belongs to an indexed object, and entries are in the order of their
   * numbers, none before its delta base. */
  readonly whole: boolean;
  /** Lowest object number that an OFS delta in this chunk is based on; 0: none. */
  readonly ofsFloor: ObjectNumber;
  /** Lowest object number that any delta in this chunk is based on; 0: none. */
  readonly baseFloor: ObjectNumber;
  /** The index of the chunk's objects, from `encodeObjectPage`, if it is kept beside the inline
   * bytes; null: it is in `ObjectPages`. */
  readonly objects: Uint8Array | null;
}

/** A chunk's row without its bytes. */
export interface ChunkRow extends Omit<NewChunk, "bytes" | "objects"> {
  readonly id: ChunkId;
  /** Offset of the chunk in the R2 object, bytes; 0 while hot. */
  readonly start: number;
}

/** The row of a chunk that is in R2. */
export interface SealedRow extends ChunkRow {
  readonly key: string;
}
