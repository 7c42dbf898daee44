import type { Codec } from "../codec/codec.ts";
import { GitError } from "../format/errors.ts";
import { MAX_ENTRY_HEADER_BYTES, OFS_DELTA, REF_DELTA } from "../format/pack.ts";
import type { ChunkStore } from "../chunks/chunk-store.ts";
import { OpenRange } from "../chunks/open-range.ts";
import { TimeSlice } from "../pacing/time-slice.ts";
import { decodeEntryHead } from "./entry-head.ts";
import type { Extent } from "./pack-plan.ts";

/** Size of one read from the store: the only stored bytes that a stream holds. */
const READ_BYTES = 64 * 1024;

/** A stored entry that is not a delta. */
export interface PlainEntry {
  readonly extent: Extent;
  /** Byte offset in its extent. */
  readonly offset: number;
  /** Length as stored, header included. */
  readonly length: number;
}

/** The means to read entries. */
export interface EntrySource {
  readonly store: ChunkStore;
  readonly codec: Pick<Codec, "inflateStream">;
}

/** Streams the content of an entry that is not a delta, whatever its size. The stream fails unless
 * the stored bytes are a whole zlib stream of the size in the entry's header, with the right
 * checksum. Pieces of 64 KiB are made on demand and in slices, because the bucket may deliver all
 * bytes at once, and a reader may take them all at once, too.
 * @throws GitError "storage-failed", "corrupt-pack" */
export async function streamEntry(
  { store, codec }: EntrySource,
  entry: PlainEntry,
): Promise<ReadableStream<Uint8Array>> {
  const stored = new StoredBytes(store, entry);
  // Makes sure that the bytes exist before a stream is returned.
  const first = await stored.next();
  const pieces = inflateEntry(stored, first, codec);
  const slice = new TimeSlice();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        await slice.pause();
        const { value, done } = await pieces.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      cancel: () => stored.cancel(),
    },
    { highWaterMark: 0 },
  );
}

async function* inflateEntry(
  stored: StoredBytes,
  first: Uint8Array,
  codec: EntrySource["codec"],
): AsyncGenerator<Uint8Array, void, void> {
  const { type, sizeBytes, dataOffset } = decodeEntryHead(first);
  if (type === OFS_DELTA || type === REF_DELTA) throw new GitError("corrupt-pack", { reason: "it is a delta" });
  const inflater = codec.inflateStream(sizeBytes);
  yield* inflater.push(first.subarray(dataOffset));
  while (!inflater.done && stored.leftBytes > 0) yield* inflater.push(await stored.next());
  inflater.end();
  await stored.cancel();
}

/** The stored bytes of one entry, read piece by piece. */
class StoredBytes {
  readonly #inline: Uint8Array | null;
  readonly #range: OpenRange | null;
  #leftBytes: number;
  /** Buffer that is passed to the range and returned by it. */
  #buffer = new ArrayBuffer(0);

  constructor(store: ChunkStore, { extent, offset, length }: PlainEntry) {
    this.#inline = "bytes" in extent ? extent.bytes.subarray(offset, offset + length) : null;
    this.#range = "bytes" in extent ? null : new OpenRange(store, extent.key, extent.start + offset, length);
    this.#leftBytes = length;
  }

  get leftBytes(): number {
    return this.#leftBytes;
  }

  /** Reads the next bytes, valid until the next call. The first call returns at least a whole
   * header. */
  async next(): Promise<Uint8Array> {
    const length = Math.min(READ_BYTES, this.#leftBytes);
    const end = (this.#inline?.length ?? 0) - this.#leftBytes;
    this.#leftBytes -= length;
    if (this.#range === null) return this.#inline!.subarray(end, end + length);
    if (this.#buffer.byteLength === 0) this.#buffer = new ArrayBuffer(Math.max(length, MAX_ENTRY_HEADER_BYTES));
    const bytes = await this.#range.read(new Uint8Array(this.#buffer));
    this.#buffer = bytes.buffer;
    return bytes;
  }

  /** Drops the unread bytes. */
  async cancel(): Promise<void> {
    await this.#range?.cancel();
  }
}
