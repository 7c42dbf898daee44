import { AwsV4Signer } from "aws4fetch";

/** Time within which a signed request must begin, in seconds. */
export const SIGNED_LIFE_S = 60 * 60;

/** Access to the bucket through its S3 API. */
export interface S3Bucket {
  /** Endpoint of all buckets, without a trailing slash:
   * `https://<account>.r2.cloudflarestorage.com`. */
  readonly endpoint: string;
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** A signed request to the bucket. Anyone who holds it may send it until it expires. */
interface SignedRequest {
  readonly href: string;
  /** Headers that must be sent unchanged. */
  readonly header: Readonly<Record<string, string>>;
  readonly expires_in: number;
}

/** Signing keys by day: deriving one takes four HMACs. */
const keys = new Map<string, ArrayBuffer>();

/** Signs requests with which clients read and write R2 objects directly, without the Worker. Only
 * R2's S3 API accepts signatures.
 * @see https://developers.cloudflare.com/r2/api/s3/presigned-urls/ */
export class SignedRequests {
  readonly #s3: S3Bucket;

  constructor(s3: S3Bucket) {
    this.#s3 = s3;
  }

  /** Signs a PUT of one object. The bucket refuses it when the bytes have another SHA-256, or when
   * the object exists: a stored object never changes.
   * @param sha256 hash of the bytes, hex */
  put(key: string, sha256: string): Promise<SignedRequest> {
    const checksum = Buffer.from(sha256, "hex").toString("base64");
    return this.#sign("PUT", key, { "x-amz-checksum-sha256": checksum, "If-None-Match": "*" });
  }

  /** Signs a GET of one object, with or without a range. */
  get(key: string): Promise<SignedRequest> {
    return this.#sign("GET", key, {});
  }

  async #sign(method: string, key: string, header: Record<string, string>): Promise<SignedRequest> {
    const { endpoint, bucket, accessKeyId, secretAccessKey } = this.#s3;
    const { url } = await new AwsV4Signer({
      method,
      url: `${endpoint}/${bucket}/${key}?X-Amz-Expires=${SIGNED_LIFE_S}`,
      headers: header,
      accessKeyId,
      secretAccessKey,
      service: "s3",
      region: "auto",
      signQuery: true,
      cache: keys,
    }).sign();
    return { href: url.href, header, expires_in: SIGNED_LIFE_S };
  }
}
