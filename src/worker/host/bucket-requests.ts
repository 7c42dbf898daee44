import { SignedRequests } from "../../base/chunks/signed-requests.ts";
import type { Env } from "../../contract/env.ts";

const SETTINGS = ["S3_ENDPOINT", "S3_BUCKET", "S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY"] as const;

/** Signs requests to the bucket's S3 API; null: the deployment has no key for it.
 * @throws RangeError when only some of the settings are there, or the endpoint is no URL */
export function newSignedRequests(env: Env): SignedRequests | null {
  const [endpoint = "", bucket = "", accessKeyId = "", secretAccessKey = ""] = SETTINGS.map((name) => env[name]);
  const missing = SETTINGS.filter((name) => (env[name] ?? "") === "");
  if (missing.length === SETTINGS.length) return null;
  if (missing.length > 0) throw new RangeError(`${missing.join(", ")}: set all of ${SETTINGS.join(", ")}, or none`);
  if (!/^https?:\/\/[^/?#]+$/.test(endpoint))
    throw new RangeError(`S3_ENDPOINT must be a URL without a path, not ${endpoint}`);
  return new SignedRequests({ endpoint, bucket, accessKeyId, secretAccessKey });
}
