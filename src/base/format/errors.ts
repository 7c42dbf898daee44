/** The values behind a failure: object ids in hex, sizes in bytes, names as byte strings. */
export type GitErrorData = Record<string, unknown>;

/** Every deliberate failure of Holdfast, with its message. The keys are the closed union
 * `GitErrorCode`; a new code is one comment and one row here. */
const MESSAGES = {
  // The pack's own framing is wrong: signature, version, count, entry header, trailer, zlib stream.
  "corrupt-pack": (data) => `the pack is corrupt${detail(data)}`,
  // An object's bytes break the grammar of its type, so that they cannot be parsed.
  "corrupt-object": (data) => `${noun(data, "object")} is corrupt${detail(data)}`,
  // A delta does not apply: bad opcode, range outside its base, wrong base or result size, cycle.
  "corrupt-delta": (data) => `a delta is corrupt${detail(data)}`,
  // An object can be read but breaks a rule of git-fsck(1): `oid`, and fsck's message `id`.
  "bad-object": (data) => `object ${value(data, "oid")} fails fsck: ${value(data, "id")}${detail(data)}`,
  // An object that something refers to is in neither this push nor the store: `oid`.
  "missing-object": (data) => `${noun(data, "object")} ${value(data, "oid")} is missing${detail(data)}`,
  // An object has another type than its referrer says: `oid`, `expected`, `actual`.
  "wrong-type": (data) =>
    `object ${value(data, "oid")} is a ${value(data, "actual")}, not a ${value(data, "expected")}${detail(data)}`,
  // SHA-1 collision detection found an attack on this object, or one id names two contents: `oid`.
  "sha1-collision": (data) => `object ${value(data, "oid")} shows a SHA-1 collision attack${detail(data)}`,
  // Client input exceeds a limit of `format/limits`: `what`, `limit`, `actual` where it is known,
  // `limitKind` where that decides what the client can do.
  "too-large": (data) =>
    `${value(data, "what")} exceeds the limit of ${value(data, "limit")}` +
    (data["actual"] === undefined ? "" : ` (it is ${value(data, "actual")})`) +
    detail(data),
  // A ref name breaks git-check-ref-format(1) or lies outside refs/: `name`.
  "bad-ref-name": (data) => `'${value(data, "name")}' is not a valid ref name${detail(data)}`,
  // The request does not follow the protocol: malformed pkt-line, command, argument or body.
  "bad-request": (data) => `the request is malformed${detail(data)}`,
  // A value is not allowed: `what`, `actual`, and `field` if it is a request's; or a parameter that
  // there is not: `unknown`.
  invalid: (data) =>
    (data["unknown"] === undefined
      ? `${noun(data, "value")} is not valid` +
        (data["actual"] === undefined ? "" : ` (it is ${JSON.stringify(value(data, "actual"))})`)
      : `there is no parameter ${JSON.stringify(value(data, "unknown"))} here`) + detail(data),
  // A name has several meanings: `what`, `actual`.
  ambiguous: (data) => `${noun(data, "name")} ${value(data, "actual")} is ambiguous${detail(data)}`,
  // A ref does not have the expected value: `what`, `expected` and `actual` in hex, null: absent.
  stale: (data) =>
    `${noun(data, "ref")} is at ${commitWord(data, "actual")}, not at ${commitWord(data, "expected")}${detail(data)}`,
  // The present state conflicts with the change: a name that is taken, changes to the same lines
  // (`conflicts`).
  conflict: (data) => `${noun(data, "change")} conflicts with what is there${detail(data)}`,
  // The request is well formed but asks for something that this server does not support: `what`.
  unsupported: (data) => `${value(data, "what")} is not supported${detail(data)}`,
  // A named thing (repository, ref, path, token) does not exist, or may not be known to exist.
  "not-found": (data) => `${noun(data, "resource")} was not found${detail(data)}`,
  // The caller sent no valid token.
  unauthenticated: (data) => `a valid ${value(data, "what", "token")} is needed${detail(data)}`,
  // Too many requests of a kind: `what`, `retryAfterMs`.
  "rate-limited": (data) => `there were too many ${value(data, "what", "requests")}${detail(data)}`,
  // The caller is known but not allowed to do this.
  forbidden: (data) => `${value(data, "what", "this")} is not allowed${detail(data)}`,
  // The client or a backend exceeded its time limit.
  timeout: (data) => `${noun(data, "request")} took too long${detail(data)}`,
  // Stored bytes are missing, truncated or damaged, or a write failed: `key`.
  "storage-failed": (data) =>
    `storage failed${data["key"] === undefined ? "" : ` at ${value(data, "key")}`}${detail(data)}`,
  // Nothing can be written, or the bucket does not answer in time. The request had no effect; it
  // can succeed once there is space.
  "storage-full": (data) => `storage is full or unavailable${detail(data)}`,
  // A newer release wrote what is stored, and this one leaves it as it is: `what`, `stored` and
  // `known` version of its shape.
  "newer-data": (data) =>
    `${noun(data, "data")} was stored by a newer release (schema ${value(data, "stored")}, and this one knows ` +
    `${value(data, "known")}), and is left as it is: deploy the newer release again`,
  // A database was lost, cut or changed from outside: `what` and `reason`. Nothing is served of it.
  "damaged-data": (data) => `${noun(data, "data")} is lost or damaged${detail(data)}`,
  // A backend is unavailable; the same request may succeed later.
  unavailable: (data) => `${noun(data, "service")} is unavailable for now${detail(data)}`,
} as const satisfies Record<string, (data: GitErrorData) => string>;

/** The closed union of failure codes. Each edge (ERR packet, `ng`, HTTP status) maps all of
 * them. */
export type GitErrorCode = keyof typeof MESSAGES;

/** The only error class of the project: a code for programs, the values to report, and a plain
 * message. `data.reason` is appended to the message of every code. */
export class GitError extends Error {
  readonly code: GitErrorCode;
  readonly data: GitErrorData;

  constructor(code: GitErrorCode, data: GitErrorData = {}, options?: { cause?: unknown }) {
    super(MESSAGES[code](data), options);
    this.name = "GitError";
    this.code = code;
    this.data = data;
  }
}

/** Whether a thrown value is a GitError, of one code if given.
 * @param code the only code to match; default: any */
export function isGitError(error: unknown, code?: GitErrorCode): error is GitError {
  return error instanceof GitError && (code === undefined || error.code === code);
}

function value(data: GitErrorData, key: string, fallback = "unknown"): string {
  const found = data[key];
  if (found === undefined) return fallback;
  return typeof found === "object" ? JSON.stringify(found) : `${found as string | number | bigint | boolean}`;
}

function commitWord(data: GitErrorData, key: string): string {
  return data[key] === null ? "nothing" : value(data, key);
}

function noun(data: GitErrorData, fallback: string): string {
  return `the ${value(data, "what", value(data, "type", fallback))}`;
}

function detail(data: GitErrorData): string {
  return data["reason"] === undefined ? "" : `: ${value(data, "reason")}`;
}
