import { createHash } from "node:crypto";
import { MAX_PUT_BYTES } from "../format/limits.ts";
import {
  type ChunkCounters,
  type ChunkStore,
  type FileLabel,
  type MultipartWrite,
  type ObjectStat,
  type SharedWrite,
  type SizedStream,
  wrongLength,
} from "./chunk-store.ts";
import type { Bucket, BucketBody, BucketObject, BucketPutOptions } from "./bucket.ts";
import { exactStream } from "./exact-stream.ts";
import { putInParts } from "./put-in-parts.ts";
import { R2MultipartWrite, R2SharedWrite } from "./r2-multipart.ts";
import { storing, storingStream } from "./storing.ts";

/** Keys per delete call.
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
