import { MULTIPART_PART_BYTES, MAX_PUT_BYTES } from "../format/limits.ts";
import { createHash } from "node:crypto";
import {
  type SizedStream,
  wrongLength,
  type ChunkCounters,
  type ChunkStore,
  type FileLabel,
  type MultipartWrite,
  type ObjectStat,
  type SharedWrite,
} from "./chunk-store.ts";
import { R2MultipartWrite, R2SharedWrite } from "./r2-multipart.ts";
import type { Bucket, BucketBody, BucketObject, BucketPutOptions } from "./bucket.ts";
import { storing, storingStream } from "./storing.ts";

/** Limit of keys per delete call.
 * @see https://developers.cloudflare.com/r2/api/workers/workers-api-reference/ */
const DELETE_KEYS = 1000;

/** Chunks in an R2 bucket. */
export class R2ChunkStore implements ChunkStore {
  readonly #bucket: Bucket;
  readonly #counters: ChunkCounters;

  constructor(bucket: Bucket, counters: ChunkCounters) {
    this.#bucket = bucket;
    this.#counters = counters;
  }

  async put(
    key: string,
    bytes: Uint8Array,
    sha1: Uint8Array = createHash("sha1").update(bytes).digest(),
  ): Promise<void> {
    this.#counters.puts += 1;
    this.#counters.bytesIn += bytes.length;
    await storing(key, "put", () => this.#bucket.put(key, bytes, { sha1 }), bytes.length);
  }

  async putStream(key: string, bytes: ReadableStream<Uint8Array>, length: number, waitMs = 0): Promise<void> {
    await this.#putStream(key, bytes, length, {}, waitMs);
  }

  createMultipart(key: string): Promise<MultipartWrite> {
    return this.#begin(key, {});
  }

  resumeMultipart(key: string, id: string): SharedWrite {
    return new R2SharedWrite(key, this.#bucket.resumeMultipartUpload(key, id), this.#counters);
  }

  async read(key: string, offset: number, length: number): Promise<Uint8Array> {
    const object = await this.#get(key, offset, length);
    const bytes = new Uint8Array(await storing(key, "get", () => object.arrayBuffer()));
    if (bytes.length !== length) throw wrongLength(key, length, bytes.length);
    this.#counters.bytesOut += length;
    return bytes;
  }

  async stream(key: string, offset: number, length: number): Promise<ReadableStream<Uint8Array>> {
    const object = await this.#get(key, offset, length);
    this.#counters.bytesOut += length;
    return exactStream(object.body, length, (actual, cause) => wrongLength(key, length, actual, cause));
  }

  async open(key: string, offset: number, length: number): Promise<ReadableStream<Uint8Array>> {
    return this.#passOn(key, await this.#get(key, offset, length), offset, length);
  }

  async putFile(key: string, body: Uint8Array | SizedStream, { contentType, metadata }: FileLabel): Promise<string> {
    const options = { httpMetadata: { contentType }, customMetadata: metadata };
    if (!(body instanceof Uint8Array)) {
      if (body.sizeBytes > MAX_PUT_BYTES) return putInParts(key, body, await this.#begin(key, options));
      return (await this.#putStream(key, body.stream, body.sizeBytes, options)).etag;
    }
    this.#counters.puts += 1;
    this.#counters.bytesIn += body.length;
    return (await storing(key, "put", () => this.#bucket.put(key, body, options), body.length)).etag;
  }

  async openFile(
    key: string,
    etag: string,
    offset: number,
    length: number,
  ): Promise<ReadableStream<Uint8Array> | null> {
    this.#counters.gets += 1;
    const options = { range: { offset, length }, onlyIf: { etagMatches: etag } };
    const object = await storing(key, "get", () => this.#bucket.get(key, options));
    return object === null || !("body" in object) ? null : this.#passOn(key, object, offset, length);
  }

  async delete(keys: readonly string[]): Promise<void> {
    for (let from = 0; from < keys.length; from += DELETE_KEYS) {
      const batch = keys.slice(from, from + DELETE_KEYS);
      this.#counters.deletes += 1;
      await storing(batch[0]!, "delete", () => this.#bucket.delete(batch));
    }
  }

  async stat(key: string): Promise<ObjectStat | null> {
    this.#counters.gets += 1;
    const object = await storing(key, "head", () => this.#bucket.head(key));
    if (object === null) return null;
    const sha256 = object.checksums?.sha256;
    return {
      sizeBytes: object.size,
      etag: object.etag,
      ...(sha256 !== undefined && { sha256: Buffer.from(sha256).toString("hex") }),
    };
  }

  async *list(prefix: string, after?: string): AsyncGenerator<string> {
    const startAfter = after === undefined ? {} : { startAfter: after };
    let cursor: string | undefined;
    do {
      this.#counters.lists += 1;
      const options = cursor === undefined ? { prefix, ...startAfter } : { prefix, cursor };
      const page = await storing(prefix, "list", () => this.#bucket.list(options));
      for (const { key } of page.objects) yield key;
      cursor = page.truncated ? page.cursor : undefined;
    } while (cursor !== undefined);
  }

  async #begin(key: string, options: Omit<BucketPutOptions, "sha1">): Promise<R2MultipartWrite> {
    this.#counters.puts += 1;
    const upload = await storing(key, "begin", () => this.#bucket.createMultipartUpload(key, options));
    return new R2MultipartWrite(key, upload, this.#counters);
  }

  async #putStream(
    key: string,
    bytes: ReadableStream<Uint8Array>,
    length: number,
    options: BucketPutOptions = {},
    waitMs = 0,
  ): Promise<BucketObject> {
    this.#counters.puts += 1;
    const put = (readable: ReadableStream<Uint8Array>): Promise<BucketObject> =>
      this.#bucket.put(key, readable, options);
    const object = await storingStream(key, "put", bytes, length, put, waitMs);
    this.#counters.bytesIn += length;
    return object;
  }

  async #passOn(key: string, object: BucketBody, offset: number, length: number): Promise<ReadableStream<Uint8Array>> {
    if (object.size < offset + length) {
      await object.body.cancel();
      throw wrongLength(key, length, Math.max(0, object.size - offset));
    }
    this.#counters.bytesOut += length;
    return object.body;
  }

  async #get(key: string, offset: number, length: number): Promise<BucketBody> {
    this.#counters.gets += 1;
    const object = await storing(key, "get", () => this.#bucket.get(key, { range: { offset, length } }));
    if (object === null) throw wrongLength(key, length, 0);
    return object;
  }
}

/** Size of one read from the source: below 64 KiB, the overhead of each read exceeds the cost of
 * its bytes. */
const READ_BYTES = 256 * 1024;

/** Forwards a byte stream. The result errors if the source ends early, is too long, or fails.
 * @param source a byte stream
 * @param length bytes that the source must have
 * @param failure makes the error from the number of bytes seen and, if the source failed, its
 *   error */
function exactStream(
  source: ReadableStream<Uint8Array>,
  length: number,
  failure: (actual: number, cause?: unknown) => Error,
): ReadableStream<Uint8Array> {
  const reader = source.getReader({ mode: "byob" });
  let seen = 0;
  async function pull(controller: ReadableByteStreamController): Promise<void> {
    let read: ReadableStreamReadResult<Uint8Array>;
    try {
      read = await reader.readAtLeast(Math.min(READ_BYTES, Math.max(1, length - seen)), new Uint8Array(READ_BYTES));
    } catch (error) {
      throw failure(seen, error);
    }
    if (read.value !== undefined && read.value.length > 0) {
      seen += read.value.length;
      if (seen > length) {
        await reader.cancel();
        throw failure(seen);
      }
      controller.enqueue(read.value);
    }
    if (!read.done) return;
    if (seen < length) throw failure(seen);
    controller.close();
    controller.byobRequest?.respond(0);
  }
  return new ReadableStream({ type: "bytes", pull, cancel: (reason) => reader.cancel(reason) });
}

/** Writes an object that is too large for one request to the bucket, as its bytes arrive: one part
 * after the other, with `MULTIPART_PART_BYTES` of memory. A stream that fails, or has another
 * length, leaves nothing readable.
 * @param write a write of the whole object, just begun
 * @returns the object's ETag
 * @throws GitError "storage-failed", and the stream's error */
export async function putInParts(
  key: string,
  { stream, sizeBytes }: SizedStream,
  write: R2MultipartWrite,
): Promise<string> {
  const reader = stream.getReader();
  try {
    let part = new Uint8Array(MULTIPART_PART_BYTES);
    let [filled, parts, seen] = [0, 0, 0];
    const put = async (): Promise<void> => {
      await write.putPart(++parts, part.subarray(0, filled));
      // Allocates a new buffer, because the bucket may still be reading the last one.
      part = new Uint8Array(MULTIPART_PART_BYTES);
      filled = 0;
    };
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      seen += next.value.length;
      if (seen > sizeBytes) break;
      for (let at = 0; at < next.value.length;) {
        const taken = next.value.subarray(at, at + part.length - filled);
        part.set(taken, filled);
        filled += taken.length;
        at += taken.length;
        if (filled === part.length) await put();
      }
    }
    if (seen !== sizeBytes) throw wrongLength(key, sizeBytes, seen);
    if (filled > 0) await put();
    return (await write.complete()).etag;
  } catch (error) {
    // Ignores errors: a stream that cannot be cancelled ends by itself.
    await reader.cancel(error).catch(() => undefined);
    await write.abort().catch(() => undefined);
    throw error;
  }
}
