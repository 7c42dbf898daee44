import type { GitErrorCode } from "./errors.ts";

/** The HTTP status of each failure. */
const STATUS = {
  "corrupt-pack": 422,
  "corrupt-object": 422,
  "corrupt-delta": 422,
  "bad-object": 422,
  "missing-object": 422,
  "wrong-type": 422,
  "sha1-collision": 422,
  "too-large": 413,
  "bad-ref-name": 422,
  "bad-request": 400,
  invalid: 422,
  ambiguous: 422,
  stale: 409,
  conflict: 409,
  unsupported: 415,
  "not-found": 404,
  unauthenticated: 401,
  "rate-limited": 429,
  forbidden: 403,
  timeout: 408,
  "storage-failed": 500,
  "storage-full": 503,
  "newer-data": 503,
  "damaged-data": 503,
  unavailable: 503,
} as const satisfies Record<GitErrorCode, number>;

/** The HTTP status of a failure in the API. */
export function statusOf(code: GitErrorCode): (typeof STATUS)[GitErrorCode] {
  return STATUS[code];
}
