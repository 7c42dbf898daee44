import type { Codec } from "../../base/codec/codec.ts";
import type { InflateStream, SavedInflate } from "../../base/codec/inflate-stream.ts";
import { GitError } from "../../base/format/errors.ts";
import { ByteCache } from "../../base/bytes/byte-cache.ts";
import { decodeEntryHead } from "../../base/bytes/entry-head.ts";

/** Content is inflated and cached in windows of this size. */
const WINDOW_BYTES = 1024 * 1024;

/** Cached windows: a delta mostly copies from front to back, with jumps to moved parts. */
const KEPT_BYTES = 16 * WINDOW_BYTES;

/** Stored bytes read at once. */
const READ_BYTES = 512 * 1024;

/** The distance between saved states of the inflater, so that earlier content need not be inflated
 * again: 40 KB each, 128 at most. */
const MIN_SPACING_BYTES = 2 * WINDOW_BYTES;
const MAX_STATES = 128;

/** The most memory of a `LargeContent`, bytes. */
export const LARGE_CONTENT_BYTES = KEPT_BYTES + WINDOW_BYTES + READ_BYTES + MAX_STATES * 41_000;

/** An entry's stored bytes, header included. */
export interface StoredEntry {
  readonly lengthBytes: number;
  /** Reads exactly this many bytes. */
  read(offset: number, lengthBytes: number): Promise<Uint8Array>;
}

/** Counts work, and lets other requests run when it is time.
 * @throws GitError "too-large" when it is too much */
export type CountWork = (bytes: number) => Promise<void>;

/** Inflates an entry from front to back: for a delta, its instructions.
 * @throws GitError "corrupt-pack" */
export async function* inflateStored(
  entry: StoredEntry,
  codec: Pick<Codec, "inflateStream">,
  count: CountWork,
): AsyncGenerator<Uint8Array, void, void> {
  let at = 0;
  let inflater: InflateStream | null = null;
  while (inflater?.done !== true && at < entry.lengthBytes) {
    let bytes = await entry.read(at, Math.min(READ_BYTES, entry.lengthBytes - at));
    at += bytes.length;
    if (inflater === null) {
      const { sizeBytes, dataOffset } = decodeEntryHead(bytes);
      inflater = codec.inflateStream(sizeBytes);
      bytes = bytes.subarray(dataOffset);
    }
    for (const piece of inflater.push(bytes)) {
      await count(piece.length);
      yield piece;
    }
  }
  inflater?.end();
}

/** A saved position in the inflation of an entry. */
interface Position {
  /** Stored bytes consumed. */
  readonly stored: number;
  readonly inflate: SavedInflate;
}

/** A running inflation. */
interface Cursor {
  readonly stream: InflateStream;
  /** Stored bytes read, and those of them not yet consumed. */
  stored: number;
  input: Uint8Array;
  /** The latest piece of output, and its offset. */
  piece: Uint8Array;
  pieceStart: number;
}

/** The content of a large entry that is not a delta, with random access. Requested bytes are
 * inflated again from the nearest saved state; there is one for each 2 MiB or 1/128 of the content.
 * Memory: `LARGE_CONTENT_BYTES`, whatever its size. */
export class LargeContent {
  readonly sizeBytes: number;
  readonly #entry: StoredEntry;
  readonly #codec: Pick<Codec, "inflateStream" | "resumeInflate">;
  readonly #count: CountWork;
  readonly #windows = new ByteCache<Uint8Array>(KEPT_BYTES);
  readonly #spacingBytes: number;
  /** In order of their offset in the content. */
  readonly #saved: Position[] = [];
  #cursor: Cursor | null = null;

  constructor(
    sizeBytes: number,
    entry: StoredEntry,
    codec: Pick<Codec, "inflateStream" | "resumeInflate">,
    count: CountWork,
  ) {
    this.sizeBytes = sizeBytes;
    this.#entry = entry;
    this.#codec = codec;
    this.#count = count;
    this.#spacingBytes = Math.max(MIN_SPACING_BYTES, sizeBytes / MAX_STATES);
  }

  /** Yields bytes of the content, in pieces that must not be changed.
   * @param start and length must be inside the content
   * @throws GitError "corrupt-pack", "storage-failed" */
  async *copy(start: number, length: number): AsyncGenerator<Uint8Array, void, void> {
    for (let at = start; at < start + length;) {
      const index = Math.floor(at / WINDOW_BYTES);
      const window = await this.#window(index);
      const from = at - index * WINDOW_BYTES;
      const piece = window.subarray(from, from + start + length - at);
      at += piece.length;
      yield piece;
    }
  }

  async #window(index: number): Promise<Uint8Array> {
    const known = this.#windows.get(String(index));
    if (known !== undefined) return known;
    const start = index * WINDOW_BYTES;
    const window = new Uint8Array(Math.min(WINDOW_BYTES, this.sizeBytes - start));
    const cursor = await this.#cursorBefore(start);
    for (;;) {
      const { piece, pieceStart } = cursor;
      const from = Math.max(0, start - pieceStart);
      const to = Math.min(piece.length, start + window.length - pieceStart);
      if (from < to) window.set(piece.subarray(from, to), pieceStart + from - start);
      if (pieceStart + piece.length >= start + window.length) break;
      await this.#advance(cursor);
    }
    this.#windows.set(String(index), window, window.length);
    return window;
  }

  /** The nearest inflation that has not passed `start`. */
  async #cursorBefore(start: number): Promise<Cursor> {
    const saved = this.#saved.findLast(({ inflate }) => inflate.produced <= start);
    const present = this.#cursor;
    if (present !== null && present.pieceStart <= start && (saved?.inflate.produced ?? 0) <= present.pieceStart)
      return present;
    const none = { input: new Uint8Array(0), piece: new Uint8Array(0) };
    if (saved !== undefined) {
      const stream = this.#codec.resumeInflate(saved.inflate);
      return (this.#cursor = { ...none, stream, stored: saved.stored, pieceStart: saved.inflate.produced });
    }
    const input = await this.#entry.read(0, Math.min(READ_BYTES, this.#entry.lengthBytes));
    const { sizeBytes, dataOffset } = decodeEntryHead(input);
    if (sizeBytes !== this.sizeBytes) throw this.#corrupt();
    const stream = this.#codec.inflateStream(sizeBytes);
    return (this.#cursor = { ...none, stream, stored: input.length, input: input.subarray(dataOffset), pieceStart: 0 });
  }

  /** Produces the next piece. */
  async #advance(cursor: Cursor): Promise<void> {
    const { lengthBytes } = this.#entry;
    if (cursor.input.length === 0 && cursor.stored < lengthBytes) {
      cursor.input = await this.#entry.read(cursor.stored, Math.min(READ_BYTES, lengthBytes - cursor.stored));
      cursor.stored += cursor.input.length;
    }
    const { consumed, output, done } = cursor.stream.step(cursor.input);
    cursor.input = cursor.input.subarray(consumed);
    cursor.pieceStart += cursor.piece.length;
    cursor.piece = output;
    if (consumed === 0 && output.length === 0) throw this.#corrupt();
    await this.#count(output.length);
    const made = cursor.pieceStart + output.length;
    if (!done && made >= (this.#saved.at(-1)?.inflate.produced ?? 0) + this.#spacingBytes) {
      this.#saved.push({ stored: cursor.stored - cursor.input.length, inflate: cursor.stream.save() });
    }
  }

  #corrupt(): GitError {
    return new GitError("corrupt-pack", { reason: `a delta's base does not inflate to ${this.sizeBytes} bytes` });
  }
}
