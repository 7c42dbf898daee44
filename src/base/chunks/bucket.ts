/** The part of R2's bucket interface that chunks need. It keeps this layer independent of the
 * platform.
 * @see https://developers.cloudflare.com/r2/api/workers/workers-api-reference/ */
export interface Bucket {
  put(key: string, bytes: Uint8Array | ReadableStream<Uint8Array>, options?: BucketPutOptions): Promise<BucketObject>;
  get(key: string, options: { range: BucketRange }): Promise<BucketBody | null>;
  /** Reads an object.
   * @returns the object without a body when its version differs */
  get(
    key: string,
    options: { range: BucketRange; onlyIf: { etagMatches: string } },
  ): Promise<BucketBody | BucketObject | null>;
  delete(keys: string[]): Promise<void>;
  head(key: string): Promise<BucketObject | null>;
  list(options: { prefix: string; cursor?: string; startAfter?: string }): Promise<BucketListing>;
  createMultipartUpload(key: string, options?: Omit<BucketPutOptions, "sha1">): Promise<BucketUpload>;
  resumeMultipartUpload(key: string, id: string): BucketUpload;
}

/** Options of a write to a bucket. */
export interface BucketPutOptions {
  sha1?: Uint8Array;
  httpMetadata?: { contentType: string };
  customMetadata?: Record<string, string>;
}

/** A range of an object's bytes. */
interface BucketRange {
  offset: number;
  length: number;
}

/** A stored object. */
export interface BucketObject {
  readonly etag: string;
  /** Size of the whole object, bytes. */
  readonly size: number;
  /** Checksums that the bucket verified when the object was written. */
  readonly checksums?: { readonly sha256?: ArrayBuffer };
}

/** An object's bytes in the requested range. */
export interface BucketBody extends BucketObject {
  readonly body: ReadableStream<Uint8Array>;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** One page of a listing. */
type BucketListing = { readonly objects: readonly { readonly key: string }[] } & (
  | { readonly truncated: true; readonly cursor: string }
  | { readonly truncated: false }
);

/** A multipart upload of a bucket. */
export interface BucketUpload {
  readonly uploadId: string;
  uploadPart(number: number, bytes: Uint8Array | ReadableStream<Uint8Array>): Promise<BucketPart>;
  complete(parts: BucketPart[]): Promise<BucketObject>;
  abort(): Promise<void>;
}

/** A bucket's receipt for a part, needed to complete the upload. */
export interface BucketPart {
  partNumber: number;
  etag: string;
}
