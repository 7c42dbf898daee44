import type { ShownConflict } from "./conflict.ts";

/** The kind of an exceeded limit, where it decides what the client can do next. `pack`: the
 * history can be pushed in several packs. `object`, `quota`: a smaller push does not help. */
export const LIMIT_KINDS = ["pack", "object", "quota"] as const;
export type LimitKind = (typeof LIMIT_KINDS)[number];

/** The subject of a failure, where callers decide by it. */
type FailureSubject = "repository" | "policy" | "database";

/** The fields that any failure may have. */
interface Told {
  /** A noun for people, after "the". */
  readonly what?: string | undefined;
  /** Replaces `what`. */
  readonly subject?: FailureSubject | undefined;
  /** Text that follows the message. */
  readonly reason?: string | undefined;
  /** The invalid field of the request, or of a form. */
  readonly field?: string | undefined;
  /** Time after which the request may succeed. */
  readonly retryAfterMs?: number | undefined;
}

interface OfObject extends Told {
  /** Hex. */
  readonly oid: string;
}

/** The values behind each failure: object ids in hex, sizes in bytes, names as byte strings. */
interface FailureValues {
  readonly "corrupt-pack": Told & { readonly sizeBytes?: number; readonly offset?: number; readonly value?: number };
  readonly "corrupt-object": Told & { readonly type?: string };
  readonly "corrupt-delta": Told;
  /** `id`: fsck's message id. */
  readonly "bad-object": OfObject & { readonly id: string };
  readonly "missing-object": OfObject & { readonly type?: string };
  readonly "wrong-type": OfObject & { readonly expected: string; readonly actual: string };
  readonly "sha1-collision": OfObject;
  readonly "too-large": Told & {
    readonly limit: number | string;
    readonly actual?: number | undefined;
    readonly limitKind?: LimitKind;
  };
  readonly "bad-ref-name": Told & { readonly name: string };
  readonly "bad-request": Told;
  /** `unknown`: the name of an unknown parameter. */
  readonly invalid: Told & { readonly actual?: unknown; readonly unknown?: string | undefined };
  readonly ambiguous: Told & { readonly actual: string };
  /** Commits in hex; null: absent. */
  readonly stale: Told & { readonly expected: string | null; readonly actual: string | null };
  readonly conflict: Told & { readonly conflicts?: readonly ShownConflict[]; readonly conflictCount?: number };
  readonly unsupported: Told;
  readonly "not-found": Told;
  readonly unauthenticated: Told;
  readonly "rate-limited": Told;
  readonly forbidden: Told;
  readonly timeout: Told;
  /** `key`: key of the R2 object; `damage`: the bytes exist but are wrong. */
  readonly "storage-failed": Told & {
    readonly key?: string;
    readonly damage?: boolean;
    readonly expected?: unknown;
    readonly actual?: unknown;
  };
  readonly "storage-full": Told;
  /** Schema versions of the stored data. */
  readonly "newer-data": Told & { readonly stored: number; readonly known: number };
  readonly "damaged-data": Told;
  readonly unavailable: Told & { readonly offset?: number };
}

/** The closed union of failure codes. Each edge (ERR packet, `ng`, HTTP status) maps all of
 * them. */
export type GitErrorCode = keyof FailureValues;

/** The values of a failure with this code. */
export type GitErrorData<Code extends GitErrorCode = GitErrorCode> = FailureValues[Code];

/** Messages of all deliberate failures. The keys are the closed union `GitErrorCode`; a new code
 * is one comment and one row here. */
const MESSAGES: { readonly [Code in GitErrorCode]: (data: GitErrorData<Code>) => string } = {
  // The pack's own framing is wrong: signature, version, count, entry header, trailer, zlib stream.
  "corrupt-pack": (data) => `the pack is corrupt${detail(data)}`,
  // The bytes of an object break the grammar of its type, so that they cannot be parsed.
  "corrupt-object": (data) => `${noun(data, data.type ?? "object")} is corrupt${detail(data)}`,
  // A delta does not apply: bad opcode, range outside its base, wrong base or result size, cycle.
  "corrupt-delta": (data) => `a delta is corrupt${detail(data)}`,
  // An object can be read but breaks a rule of git-fsck(1): `oid`, and fsck's message `id`.
  "bad-object": (data) => `object ${data.oid} fails fsck: ${data.id}${detail(data)}`,
  // An object that something refers to is in neither this push nor the store: `oid`.
  "missing-object": (data) => `${noun(data, data.type ?? "object")} ${data.oid} is missing${detail(data)}`,
  // An object has another type than its referrer says: `oid`, `expected`, `actual`.
  "wrong-type": (data) => `object ${data.oid} is a ${data.actual}, not a ${data.expected}${detail(data)}`,
  // SHA-1 collision detection found an attack on this object, or one id names two contents: `oid`.
  "sha1-collision": (data) => `object ${data.oid} shows a SHA-1 collision attack${detail(data)}`,
  // Client input exceeds a limit of `format/limits`: `what`, `limit`, `actual` where it is known,
  // `limitKind` where that decides what the client can do.
  "too-large": (data) =>
    `${subjectOf(data, "something")} exceeds the limit of ${data.limit}` +
    (data.actual === undefined ? "" : ` (it is ${data.actual})`) +
    detail(data),
  // A ref name breaks git-check-ref-format(1) or lies outside refs/: `name`.
  "bad-ref-name": (data) => `'${data.name}' is not a valid ref name${detail(data)}`,
  // The request does not follow the protocol: malformed pkt-line, command, argument or body.
  "bad-request": (data) => `the request is malformed${detail(data)}`,
  // A value is not allowed: `what`, `actual`, and `field` if it is a request's; or a parameter does
  // not exist: `unknown`.
  invalid: (data) =>
    (data.unknown === undefined
      ? `${noun(data, "value")} is not valid` +
        (data.actual === undefined ? "" : ` (it is ${JSON.stringify(shown(data.actual))})`)
      : `there is no parameter ${JSON.stringify(data.unknown)} here`) + detail(data),
  // A name has several meanings: `what`, `actual`.
  ambiguous: (data) => `${noun(data, "name")} ${data.actual} is ambiguous${detail(data)}`,
  // A ref does not have the expected value: `what`, `expected` and `actual` in hex, null: absent.
  stale: (data) =>
    `${noun(data, "ref")} is at ${commitWord(data.actual)}, not at ${commitWord(data.expected)}${detail(data)}`,
  // The present state conflicts with the change: the name is taken, or both sides changed the same
  // lines (`conflicts`).
  conflict: (data) => `${noun(data, "change")} conflicts with what is there${detail(data)}`,
  // The request is well formed but asks for something unsupported: `what`.
  unsupported: (data) => `${subjectOf(data, "something")} is not supported${detail(data)}`,
  // A named thing (repository, ref, path, token) does not exist, or may not be known to exist.
  "not-found": (data) => `${noun(data, "resource")} was not found${detail(data)}`,
  // The caller sent no valid token.
  unauthenticated: (data) => `a valid ${subjectOf(data, "token")} is needed${detail(data)}`,
  // Too many requests of a kind: `what`, `retryAfterMs`.
  "rate-limited": (data) => `there were too many ${subjectOf(data, "requests")}${detail(data)}`,
  // The caller is known but not allowed to do this.
  forbidden: (data) => `${subjectOf(data, "this")} is not allowed${detail(data)}`,
  // The client or a backend exceeded its time limit.
  timeout: (data) => `${noun(data, "request")} took too long${detail(data)}`,
  // Stored bytes are missing, truncated or damaged, or a write failed: `key`.
  "storage-failed": (data) => `storage failed${data.key === undefined ? "" : ` at ${data.key}`}${detail(data)}`,
  // Nothing can be written, or the bucket does not answer in time. The request had no effect; it
  // can succeed once there is space.
  "storage-full": (data) => `storage is full or unavailable${detail(data)}`,
  // A newer release stored the data, and this one leaves it unchanged: `what`, schema versions
  // `stored` and `known`.
  "newer-data": (data) =>
    `${noun(data, "data")} was stored by a newer release (schema ${data.stored}, and this one knows ` +
    `${data.known}), and is left as it is: deploy the newer release again`,
  // A database was lost, truncated or changed from outside: `what` and `reason`. Nothing of it is
  // served.
  "damaged-data": (data) => `${noun(data, "data")} is lost or damaged${detail(data)}`,
  // A backend is unavailable; the same request may succeed later.
  unavailable: (data) => `${noun(data, "service")} is unavailable for now${detail(data)}`,
};

/** The only error class of the project: a code for programs, values to report, and a plain
 * message. */
export class GitError<Code extends GitErrorCode = GitErrorCode> extends Error {
  readonly code: Code;
  readonly data: GitErrorData<Code>;

  constructor(
    code: Code,
    ...[data, options]: Told extends GitErrorData<Code>
      ? [data?: GitErrorData<Code>, options?: { cause?: unknown }]
      : [data: GitErrorData<Code>, options?: { cause?: unknown }]
  ) {
    const given = data ?? ({} as GitErrorData<Code>);
    super((MESSAGES[code] as (data: GitErrorData<Code>) => string)(given), options);
    this.name = "GitError";
    this.code = code;
    this.data = given;
  }
}

/** Whether a thrown value is a GitError, of one code if given.
 * @param code the only code to match; default: any */
export function isGitError<Code extends GitErrorCode = GitErrorCode>(
  error: unknown,
  code?: Code,
): error is Code extends GitErrorCode ? GitError<Code> : never {
  return error instanceof GitError && (code === undefined || error.code === code);
}

/** Formats a value for a message. */
function shown(found: unknown): string {
  return typeof found === "object" ? JSON.stringify(found) : `${found as string | number | bigint | boolean}`;
}

function commitWord(commit: string | null): string {
  return commit ?? "nothing";
}

function subjectOf({ what, subject }: Told, fallback: string): string {
  return what ?? subject ?? fallback;
}

function noun(data: Told, fallback: string): string {
  return `the ${subjectOf(data, fallback)}`;
}

function detail({ reason }: Told): string {
  return reason === undefined ? "" : `: ${reason}`;
}

/** Makes the failure for a pack that is too large as a whole. */
export function packTooLarge(what: string, limit: number, actual: number): GitError {
  const limitKind: LimitKind = "pack";
  const reason = "push the history in parts: git push <remote> <older commit>:refs/heads/<branch> first";
  return new GitError("too-large", { what, limit, actual, limitKind, reason });
}

/** Makes the failure for an object that is too large by itself. */
export function objectTooLarge(what: string, limit: number, actual: number, reason: string): GitError {
  const limitKind: LimitKind = "object";
  return new GitError("too-large", { what, limit, actual, limitKind, reason });
}

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
