import { createHash } from "node:crypto";
import { GitError } from "../../format/errors.ts";
import { STORE_BYTES_PER_SECOND, STORE_WAIT_MS } from "../../format/limits.ts";
import {
  type ChunkCounters,
  type ChunkStore,
  type FileLabel,
  type MultipartWrite,
  type ObjectStat,
  type SizedStream,
  wrongLength,
} from "./chunk-store.ts";
import { exactStream } from "./exact-stream.ts";
import { inTime } from "./in-time.ts";
import { whenFull } from "./full-storage.ts";

/** Keys per delete call.
 * @see https://developers.cloudflare.com/r2/api/workers/workers-api-reference/ */
const DELETE_KEYS = 1000;

/** The part of an R2 bucket that chunks need, so that this layer does not depend on the platform.
 * @see https://developers.cloudflare.com/r2/api/workers/workers-api-reference/ */
export interface Bucket {
  put(key: string, bytes: Uint8Array | ReadableStream<Uint8Array>, options?: BucketPutOptions): Promise<BucketObject>;
  get(key: string, options: { range: BucketRange }): Promise<BucketBody | null>;
  /** @returns the object without a body when its version differs */
  get(
    key: string,
    options: { range: BucketRange; onlyIf: { etagMatches: string } },
  ): Promise<BucketBody | BucketObject | null>;
  delete(keys: string[]): Promise<void>;
  head(key: string): Promise<BucketObject | null>;
  list(options: { prefix: string; cursor?: string; startAfter?: string }): Promise<BucketListing>;
  createMultipartUpload(key: string): Promise<BucketUpload>;
}

/** What is passed to a bucket along with an object. */
export interface BucketPutOptions {
  sha1?: Uint8Array;
  httpMetadata?: { contentType: string };
  customMetadata?: Record<string, string>;
}

/** A range of an object's bytes. */
export interface BucketRange {
  offset: number;
  length: number;
}

/** A stored object. */
export interface BucketObject {
  readonly etag: string;
  /** Size of the whole object, bytes. */
  readonly size: number;
  /** What the bucket checked when the object was written. */
  readonly checksums?: { readonly sha256?: ArrayBuffer };
}

/** An object's bytes in the requested range. */
export interface BucketBody extends BucketObject {
  readonly body: ReadableStream<Uint8Array>;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** One page of a listing. */
export type BucketListing = { readonly objects: readonly { readonly key: string }[] } & (
  | { readonly truncated: true; readonly cursor: string }
  | { readonly truncated: false }
);

/** A multipart upload of a bucket. */
export interface BucketUpload {
  uploadPart(number: number, bytes: Uint8Array): Promise<BucketPart>;
  complete(parts: BucketPart[]): Promise<unknown>;
  abort(): Promise<void>;
}

/** A bucket's receipt for a part, needed to complete the upload. */
export interface BucketPart {
  partNumber: number;
  etag: string;
}

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

  async createMultipart(key: string): Promise<MultipartWrite> {
    this.#counters.puts += 1;
    const upload = await storing(key, "begin", () => this.#bucket.createMultipartUpload(key));
    return new R2MultipartWrite(key, upload, this.#counters);
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
    if (!(body instanceof Uint8Array)) return (await this.#putStream(key, body.stream, body.sizeBytes, options)).etag;
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

  async #putStream(
    key: string,
    bytes: ReadableStream<Uint8Array>,
    length: number,
    options: BucketPutOptions = {},
    waitMs = 0,
  ): Promise<BucketObject> {
    this.#counters.puts += 1;
    // The bucket needs a stream of known length, which errors on more or fewer bytes.
    const { readable, writable } = new FixedLengthStream(length);
    const given = new AbortController();
    try {
      const [object] = await storing(
        key,
        "put",
        () => Promise.all([this.#bucket.put(key, readable, options), bytes.pipeTo(writable, given)]),
        length,
        waitMs,
      );
      this.#counters.bytesIn += length;
      return object;
    } catch (error) {
      // Stops the producer of the bytes.
      given.abort(error);
      throw error;
    }
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

class R2MultipartWrite implements MultipartWrite {
  readonly #key: string;
  readonly #upload: BucketUpload;
  readonly #counters: ChunkCounters;
  readonly #parts: BucketPart[] = [];

  constructor(key: string, upload: BucketUpload, counters: ChunkCounters) {
    this.#key = key;
    this.#upload = upload;
    this.#counters = counters;
  }

  async putPart(number: number, bytes: Uint8Array): Promise<void> {
    this.#counters.parts += 1;
    this.#counters.bytesIn += bytes.length;
    const put = (): Promise<BucketPart> => this.#upload.uploadPart(number, bytes);
    this.#parts[number - 1] = await storing(this.#key, `put part ${number} of`, put, bytes.length);
  }

  async complete(): Promise<void> {
    this.#counters.puts += 1;
    const missing = this.#parts.findIndex((part) => part === undefined);
    if (missing >= 0)
      throw new GitError("storage-failed", { key: this.#key, reason: `part ${missing + 1} was not written` });
    await storing(this.#key, "complete", () => this.#upload.complete(this.#parts));
  }

  async abort(): Promise<void> {
    await storing(this.#key, "abort", () => this.#upload.abort());
  }
}

/** Runs one bucket operation. Errors name it when it fails or takes too long.
 * @param givenBytes that the bucket must receive
 * @param sourceMs for how long they may arrive, if that is longer than the bucket takes */
async function storing<T>(
  key: string,
  operation: string,
  run: () => Promise<T>,
  givenBytes = 0,
  sourceMs = 0,
): Promise<T> {
  const waitMs = STORE_WAIT_MS + Math.max((givenBytes / STORE_BYTES_PER_SECOND) * 1_000, sourceMs);
  try {
    return await inTime(run, waitMs);
  } catch (cause) {
    const reason = `${operation} failed: ${cause instanceof Error ? cause.message : String(cause)}`;
    throw whenFull(cause) ?? new GitError("storage-failed", { key, reason }, { cause });
  }
}
