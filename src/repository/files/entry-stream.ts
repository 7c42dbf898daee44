import type { ChunkStore } from "../../store/chunk-store.ts";
import { decodeEntryHeader, MAX_ENTRY_HEADER_BYTES } from "../../format/pack.ts";
import type { Extent } from "../pack-plan.ts";

/** Streams the content of an entry that is no delta, whatever its size. It errors unless the stored bytes are a whole zlib stream with the
 * right checksum; that it has the object's size is for the caller to see to.
 * @param offset of the entry in its extent, bytes
 * @param length of the entry as stored, header included
 * @throws GitError "storage-failed", "corrupt-pack" */
export async function streamEntry(
  store: ChunkStore,
  extent: Extent,
  offset: number,
  length: number,
): Promise<ReadableStream<Uint8Array>> {
  const stored =
    "bytes" in extent
      ? new Blob([extent.bytes.slice(offset, offset + length)]).stream()
      : await store.stream(extent.key, extent.start + offset, length);
  await skipHeader(stored);
  // The runtime's own: as fast as native code, and no module memory is taken.
  return stored.pipeThrough(new DecompressionStream("deflate") as ReadableWritablePair<Uint8Array, Uint8Array>);
}

/** Takes an entry's header off its stream, byte by byte: its length is known when its last byte is seen. */
async function skipHeader(stored: ReadableStream<Uint8Array>): Promise<void> {
  const reader = stored.getReader({ mode: "byob" });
  const header: number[] = [];
  do {
    const { value } = await reader.read(new Uint8Array(1));
    if (value === undefined || value.length === 0) break;
    header.push(value[0]!);
  } while (header.at(-1)! >= 0x80 && header.length < MAX_ENTRY_HEADER_BYTES);
  decodeEntryHeader(Uint8Array.from(header));
  reader.releaseLock();
}
