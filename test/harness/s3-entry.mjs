/** The tested Worker, with the LFS objects of its bucket in an S3 server. On the platform, R2 and
 * its S3 API are one store; in the local runtime R2 has no such API. So this module, which is the
 * Worker's entry point in those tests, gives the unchanged code a bucket that keeps LFS objects
 * where signed requests find them, and all others in the runtime's R2. It is JavaScript because the
 * runtime reads no TypeScript. */
import { AwsClient } from "./aws4fetch.mjs";
import worker, * as classes from "./worker.js";

export class RepositoryObject extends classes.RepositoryObject {
  constructor(context, env) {
    super(context, openBucket(env));
  }
}

export const { OwnerObject, RegistryObject } = classes;

export default { fetch: (request, env, context) => worker.fetch(request, openBucket(env), context) };

function openBucket(env) {
  return { ...env, BUCKET: new SharedBucket(env) };
}

/** As much of an R2 bucket as the Worker uses. */
class SharedBucket {
  #inner;
  #url;
  #client;

  constructor({ BUCKET, S3_ENDPOINT, S3_BUCKET, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY }) {
    this.#inner = BUCKET;
    this.#url = `${S3_ENDPOINT}/${S3_BUCKET}`;
    this.#client = new AwsClient({
      accessKeyId: S3_ACCESS_KEY_ID,
      secretAccessKey: S3_SECRET_ACCESS_KEY,
      service: "s3",
      region: "auto",
      retries: 0,
    });
  }

  async put(key, bytes, options) {
    if (!isLfs(key)) return this.#inner.put(key, bytes, options);
    await this.#send("PUT", `/${key}`, {}, bytes);
    return this.head(key);
  }

  async get(key, options) {
    if (!isLfs(key)) return this.#inner.get(key, options);
    const { offset, length } = options.range;
    const response = await this.#send("GET", `/${key}`, { Range: `bytes=${offset}-${offset + length - 1}` });
    if (response === null) return null;
    const size = Number(response.headers.get("Content-Range").split("/")[1]);
    return { ...describe(response, size), body: response.body, arrayBuffer: () => response.arrayBuffer() };
  }

  async head(key) {
    if (!isLfs(key)) return this.#inner.head(key);
    const response = await this.#send("HEAD", `/${key}`, { "x-amz-checksum-mode": "ENABLED" });
    return response === null ? null : describe(response, Number(response.headers.get("Content-Length")));
  }

  async delete(keys) {
    await this.#inner.delete(keys.filter((key) => !isLfs(key)));
    for (const key of keys.filter(isLfs)) await this.#send("DELETE", `/${key}`, {});
  }

  /** The runtime's own come first, then the others, which are few, on its last page. */
  async list(options) {
    const page = await this.#inner.list(options);
    if (page.truncated) return page;
    const response = await this.#send("GET", `?list-type=2&prefix=${encodeURIComponent(options.prefix)}`, {});
    const keys = Array.from((await response.text()).matchAll(/<Key>([^<]+)<\/Key>/g), ([, key]) => key);
    return { ...page, objects: [...page.objects, ...keys.map((key) => ({ key }))] };
  }

  createMultipartUpload(key) {
    return this.#inner.createMultipartUpload(key);
  }

  resumeMultipartUpload(key, id) {
    return this.#inner.resumeMultipartUpload(key, id);
  }

  /** @returns null: there is no such object */
  async #send(method, path, headers, body) {
    const response = await fetch(await this.#client.sign(this.#url + path, { method, headers, body }));
    if (response.status === 404) return null;
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response;
  }
}

function isLfs(key) {
  return key.includes("/lfs/");
}

function describe({ headers }, size) {
  const sha256 = headers.get("x-amz-checksum-sha256");
  const checksums = sha256 === null ? {} : { sha256: Uint8Array.fromBase64(sha256).buffer };
  return { etag: headers.get("ETag"), size, checksums };
}
