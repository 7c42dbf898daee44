import { MAX_ENTRY_HEADER_BYTES } from "../format/pack.ts";
import type { ChunkStore } from "../store/chunk-store.ts";
import type { ChunkTable } from "../store/chunk-table.ts";
import { decodeEntryHead } from "./entry-head.ts";

/** Where an entry that is no delta is stored. */
export interface PlainEntry {
  readonly chunk: number;
  /** In the chunk, bytes; and of the entry, header included. */
  readonly offset: number;
  readonly length: number;
}

/** Streams the content of an object that is not stored as a delta, whatever its size. Its end errors unless the stored bytes were a whole zlib
 * stream with the right checksum.
 * @throws GitError "storage-failed", "corrupt-pack" */
export async function streamObject(
  chunks: ChunkTable,
  store: ChunkStore,
  { chunk, offset, length }: PlainEntry,
): Promise<ReadableStream<Uint8Array>> {
  const [row] = chunks.byIds([chunk]);
  const hot = row!.key === null ? chunks.hotBytesOf(chunk)!.subarray(offset, offset + length) : null;
  const start = row!.start + offset;
  const headBytes = Math.min(length, MAX_ENTRY_HEADER_BYTES);
  const head = hot ?? (await store.read(row!.key!, start, headBytes));
  const { dataOffset } = decodeEntryHead(head);
  const deflated =
    hot === null
      ? await store.stream(row!.key!, start + dataOffset, length - dataOffset)
      : new Blob([hot.slice(dataOffset)]).stream();
  // The runtime's own: as fast as native code, and no module memory is taken.
  return deflated.pipeThrough(new DecompressionStream("deflate"));
}
