/** The tested Worker, with LFS objects, or its whole bucket, in an S3 server. On the platform, R2
 * and its S3 API are one store, elsewhere than the Worker; in the local runtime R2 has no such API,
 * and runs on the Worker's thread. So this module, which is the Worker's entry point in those
 * tests, gives the unchanged code another bucket. It is JavaScript because the runtime reads no
 * TypeScript. */
import { RemoteBucket } from "./s3-bucket.mjs";
import worker, * as classes from "./main.js";

export class RepositoryObject extends classes.RepositoryObject {
  constructor(context, env) {
    super(context, openBucket(env));
  }
}

export const { OwnerObject, RegistryObject } = classes;

export default { fetch: (request, env, context) => worker.fetch(request, openBucket(env), context) };

function openBucket(env) {
  const remote = new RemoteBucket(env);
  return { ...env, BUCKET: env.S3_HOLDS === "all" ? remote : new SharedBucket(env.BUCKET, remote) };
}

/** A bucket that keeps LFS objects where signed requests find them, and all others in the runtime's
 * R2. */
class SharedBucket {
  #inner;
  #remote;

  constructor(inner, remote) {
    this.#inner = inner;
    this.#remote = remote;
  }

  put(key, bytes, options) {
    return this.#of(key).put(key, bytes, options);
  }

  get(key, options) {
    return this.#of(key).get(key, options);
  }

  head(key) {
    return this.#of(key).head(key);
  }

  async delete(keys) {
    for (const bucket of [this.#inner, this.#remote])
      await bucket.delete(keys.filter((key) => this.#of(key) === bucket));
  }

  /** The runtime's own come first, then the others, which are few, on its last page. */
  async list(options) {
    const page = await this.#inner.list(options);
    if (page.truncated) return page;
    const { objects } = await this.#remote.list({ prefix: options.prefix });
    return { ...page, objects: [...page.objects, ...objects] };
  }

  createMultipartUpload(key, options) {
    return this.#of(key).createMultipartUpload(key, options);
  }

  resumeMultipartUpload(key, id) {
    return this.#of(key).resumeMultipartUpload(key, id);
  }

  #of(key) {
    return key.includes("/lfs/") ? this.#remote : this.#inner;
  }
}
