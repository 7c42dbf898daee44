import { SignedRequests } from "../../base/chunks/signed-requests.ts";
import { GitError } from "../../base/format/errors.ts";
import { MIN_LFS_PART_BYTES } from "../../base/format/limits.ts";
import { type Env, configuredLimits } from "../../contract/env.ts";
import { DEFAULT_BRANCH } from "../../base/format/ref-name.ts";
import { parseRepositoryName } from "../../base/format/repository-name.ts";
import { serveLfs } from "../lfs/lfs.ts";
import { noCreation } from "../git/advertise-push.ts";
import { newChunkCounters } from "../../base/chunks/chunk-store.ts";
import { R2ChunkStore } from "../../base/chunks/r2-chunk-store.ts";
import { PUSHED_DETAILS } from "../../contract/registry.ts";
import type { HostRequest } from "./host-request.ts";
import { traffic } from "../../base/isolate.ts";

const MIB = 1024 * 1024;

/** Splits the path of an LFS request into the repository's LFS URL and the rest. */
const LFS_PATH = /^(?<repository>\/[^/]+\/[^/]+\/info\/lfs)\/(?<rest>.*)$/;

/** Serves a request of the LFS client to the repository that its path names. */
export async function serveLfsRequest(host: HostRequest, owner: string, repository: string): Promise<Response> {
  const { request, env } = host;
  const { origin, pathname } = new URL(request.url);
  const path = LFS_PATH.exec(pathname)!.groups!;
  const name = parseRepositoryName(owner, repository);
  const bodyBytes = maxBodyBytes(env);
  const { maxLfsObjectBytes, maxPartBytes } = configuredLimits(env);
  const end = traffic.begin();
  try {
    return await serveLfs(
      {
        request,
        url: `${origin}${path["repository"]}`,
        chunks: new R2ChunkStore(env.BUCKET, newChunkCounters()),
        maxBodyBytes: bodyBytes,
        maxObjectBytes: maxLfsObjectBytes,
        largestPartBytes: largestPart(Math.min(bodyBytes, maxPartBytes)),
        signed: newSignedRequests(env),
        open: async (needed) => (await host.open(name, needed)).client(() => undefined),
        create: async () => {
          if (env.CREATE_ON_PUSH === "off") throw noCreation();
          const refusal = await (await host.open(name, "write")).create(PUSHED_DETAILS, DEFAULT_BRANCH);
          if (refusal?.kind === "held")
            throw new GitError("unavailable", { what: "name", reason: "it was just given up; push again" });
        },
      },
      path["rest"]!,
    );
  } finally {
    end();
  }
}

/** The largest part that fits into a request's body, in whole MiB as bytes; 0: even the smallest
 * allowed part does not fit. */
function largestPart(bodyBytes: number): number {
  const partBytes = bodyBytes - (bodyBytes % MIB);
  return partBytes < MIN_LFS_PART_BYTES ? 0 : partBytes;
}

/** The largest body of a request, in bytes.
 * @throws RangeError when `MAX_BODY_BYTES` is not a number */
function maxBodyBytes(env: Env): number {
  const bodyBytes = Number(env.MAX_BODY_BYTES || Number.MAX_SAFE_INTEGER);
  if (!(Number.isSafeInteger(bodyBytes) && bodyBytes > 0))
    throw new RangeError(`MAX_BODY_BYTES must be a number of bytes, not ${env.MAX_BODY_BYTES}`);
  return bodyBytes;
}

const SETTINGS = ["S3_ENDPOINT", "S3_BUCKET", "S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY"] as const;

/** Signs requests to the bucket's S3 API; null: the deployment has no key for it.
 * @throws RangeError when only some of the settings are there, or the endpoint is not a URL */
function newSignedRequests(env: Env): SignedRequests | null {
  const [endpoint = "", bucket = "", accessKeyId = "", secretAccessKey = ""] = SETTINGS.map((name) => env[name]);
  const missing = SETTINGS.filter((name) => (env[name] ?? "") === "");
  if (missing.length === SETTINGS.length) return null;
  if (missing.length > 0) throw new RangeError(`${missing.join(", ")}: set all of ${SETTINGS.join(", ")}, or none`);
  if (!/^https?:\/\/[^/?#]+$/.test(endpoint))
    throw new RangeError(`S3_ENDPOINT must be a URL without a path, not ${endpoint}`);
  return new SignedRequests({ endpoint, bucket, accessKeyId, secretAccessKey });
}
