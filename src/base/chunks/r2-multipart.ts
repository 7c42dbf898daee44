import { GitError, isGitError } from "../format/errors.ts";
import type { ChunkCounters, MultipartWrite, SharedWrite } from "./chunk-store.ts";
import type { BucketObject, BucketPart, BucketUpload } from "./bucket.ts";
import { storing, storingStream } from "./storing.ts";

/** Error codes at the end of R2's messages when it cannot join the given parts: there is no such
 * upload (any more), another write replaced a given part, or the parts' sizes differ.
 * @see https://developers.cloudflare.com/r2/api/error-codes/ */
const OTHER_PARTS = /\((?:10011|10024|10025|10048)\)/;

/** An object that one process writes in parts. */
export class R2MultipartWrite implements MultipartWrite {
  readonly #key: string;
  readonly #upload: BucketUpload;
  readonly #counters: ChunkCounters;
  readonly #parts: BucketPart[] = [];

  constructor(key: string, upload: BucketUpload, counters: ChunkCounters) {
    this.#key = key;
    this.#upload = upload;
    this.#counters = counters;
  }

  get id(): string {
    return this.#upload.uploadId;
  }

  async putPart(number: number, bytes: Uint8Array): Promise<void> {
    this.#counters.parts += 1;
    this.#counters.bytesIn += bytes.length;
    const put = (readable: ReadableStream<Uint8Array>): Promise<BucketPart> =>
      this.#upload.uploadPart(number, readable);
    this.#parts[number - 1] = await storingStream(
      this.#key,
      `put part ${number} of`,
      inSlices(bytes),
      bytes.length,
      put,
    );
  }

  async complete(): Promise<BucketObject> {
    this.#counters.puts += 1;
    const missing = this.#parts.findIndex((part) => part === undefined);
    if (missing >= 0)
      throw new GitError("storage-failed", { key: this.#key, reason: `part ${missing + 1} was not written` });
    return storing(this.#key, "complete", () => this.#upload.complete(this.#parts));
  }

  async abort(): Promise<void> {
    await storing(this.#key, "abort", () => this.#upload.abort());
  }
}

/** Size of the pieces in which a part is passed to the bucket. */
const PIECE_BYTES = 512 * 1024;

/** Makes a stream of a part that lets other requests run between its pieces: a local bucket
 * takes 60 ms and more for a whole part, and blocks everything else meanwhile. */
function inSlices(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream(
    {
      async pull(controller) {
        if (at > 0) await new Promise((resolve) => setTimeout(resolve));
        const piece = bytes.subarray(at, at + PIECE_BYTES);
        at += piece.length;
        if (piece.length > 0) controller.enqueue(piece);
        if (at === bytes.length) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}

/** An object that several requests write in parts. */
export class R2SharedWrite implements SharedWrite {
  readonly #key: string;
  readonly #upload: BucketUpload;
  readonly #counters: ChunkCounters;

  constructor(key: string, upload: BucketUpload, counters: ChunkCounters) {
    this.#key = key;
    this.#upload = upload;
    this.#counters = counters;
  }

  async putPart(number: number, bytes: ReadableStream<Uint8Array>, length: number, waitMs = 0): Promise<string> {
    this.#counters.parts += 1;
    const put = (readable: ReadableStream<Uint8Array>): Promise<BucketPart> =>
      this.#upload.uploadPart(number, readable);
    const { etag } = await storingStream(this.#key, `put part ${number} of`, bytes, length, put, waitMs);
    this.#counters.bytesIn += length;
    return etag;
  }

  async complete(tags: readonly string[]): Promise<void> {
    this.#counters.puts += 1;
    const parts = tags.map((etag, i) => ({ partNumber: i + 1, etag }));
    try {
      await storing(this.#key, "complete", () => this.#upload.complete(parts));
    } catch (error) {
      if (!hasOtherParts(error)) throw error;
      const reason = "the bucket has other parts than those that are named";
      throw new GitError("conflict", { what: "object", reason }, { cause: error });
    }
  }

  async abort(): Promise<void> {
    try {
      await storing(this.#key, "abort", () => this.#upload.abort());
    } catch (error) {
      // Rethrows other errors only: these mean that there is nothing to discard.
      if (!hasOtherParts(error)) throw error;
    }
  }
}

function hasOtherParts(error: unknown): boolean {
  return isGitError(error, "storage-failed") && OTHER_PARTS.test(error.message);
}
