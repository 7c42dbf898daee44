import { AwsV4Signer } from "aws4fetch";

/** How long (seconds) a signed request may begin. */
export const SIGNED_LIFE_S = 60 * 60;

/** The bucket by its S3 API. */
export interface S3Bucket {
  /** Of all buckets, without a trailing slash: `https://<account>.r2.cloudflarestorage.com`. */
  readonly endpoint: string;
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** A request that whoever has it may send to the bucket, until its time is over. */
interface SignedRequest {
  readonly href: string;
  /** They must be sent exactly so. */
  readonly header: Readonly<Record<string, string>>;
  readonly expires_in: number;
}

/** Keys for signatures, by day: each takes four HMACs to make. */
const keys = new Map<string, ArrayBuffer>();

/** Signs requests with which clients read and write R2 objects themselves, past the Worker. R2
 * itself cannot: only its S3 API takes signatures.
 * @see https://developers.cloudflare.com/r2/api/s3/presigned-urls/ */
export class SignedRequests {
  readonly #s3: S3Bucket;

  constructor(s3: S3Bucket) {
    this.#s3 = s3;
  }

  /** A PUT of one object, which the bucket refuses when the bytes have another SHA-256, or when the
   * object exists: what was sent once stays as it is.
   * @param sha256 of its bytes, hex */
  put(key: string, sha256: string): Promise<SignedRequest> {
    const checksum = Buffer.from(sha256, "hex").toString("base64");
    return this.#sign("PUT", key, { "x-amz-checksum-sha256": checksum, "If-None-Match": "*" });
  }

  /** A GET of one object, with or without a range. */
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
