import { isGitError, GitError } from "../../base/format/errors.ts";
import type { Right } from "../../base/access/caller.ts";
import { z } from "zod";
import { errorResponse, NO_CACHE } from "../../base/http/error-response.ts";
import type { ChunkStore } from "../../base/chunks/chunk-store.ts";
import { isLfsOid, type LfsOid } from "../../base/format/lfs.ts";
import type { SignedRequests } from "../../base/chunks/signed-requests.ts";
import { MAX_LFS_JSON_BYTES, MAX_PATH_BYTES } from "../../base/format/limits.ts";
import type { RepositoryClient } from "../../contract/calls.ts";
import { checkOnce } from "../../base/format/known-parameters.ts";
import { isUtf8, percentDecode } from "../../base/format/path-parts.ts";
import { isPushableRefName } from "../../base/format/ref-name.ts";
import { encodeText } from "../../base/format/byte-string.ts";
import { openRequestBody } from "../../base/http/request-body.ts";

/** The field `ref` of a request: the full name of the ref concerned. The client sends an empty
 * object when it knows none. */
export const Ref = z
  .object({
    name: z
      .string()
      .refine(
        (name) => name === "" || (name.isWellFormed() && isPushableRefName(encodeText(name), true)),
        "it must be a full ref name",
      )
      .nullish(),
  })
  .nullish()
  .transform((ref) => ref?.name || null);

/** The path of a file, from the root of the working tree. */
export const LockedPath = z
  .string()
  .min(1)
  .refine((path) => path.isWellFormed() && encodeText(path).length <= MAX_PATH_BYTES, {
    message: `it must be text of at most ${MAX_PATH_BYTES} bytes`,
  })
  .refine(
    (path) => path.split("/").every((part) => part !== "" && part !== "." && part !== "..") && !path.includes("\0"),
    {
      message: "it must be relative to the root of the work tree, without empty parts, '.' or '..'",
    },
  );

/** Reads a request's JSON.
 * @throws GitError "bad-request" when it is not JSON, "invalid" when a value is invalid,
 * "too-large", "timeout" */
export async function readLfsJson<Schema extends z.ZodType>(
  request: Request,
  schema: Schema,
): Promise<z.output<Schema>> {
  const body = openRequestBody(request, MAX_LFS_JSON_BYTES);
  const pieces: Uint8Array[] = [];
  for (let piece; (piece = await body.read()) !== null;) pieces.push(piece);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(Buffer.concat(pieces)));
  } catch (cause) {
    throw new GitError("bad-request", { reason: "the body is not JSON" }, { cause });
  }
  return check(value, schema);
}

/** Reads the query of a request. Invalid UTF-8 is refused, since it would decode to another text,
 * and so is a repeated parameter.
 * @throws GitError "invalid" */
export function readLfsQuery<Schema extends z.ZodType>(request: Request, schema: Schema): z.output<Schema> {
  const { search, searchParams } = new URL(request.url);
  if (!isUtf8(percentDecode(search))) throw new GitError("invalid", { what: "query", reason: "it must be UTF-8" });
  checkOnce(searchParams);
  return check(Object.fromEntries(searchParams), schema);
}

function check<Schema extends z.ZodType>(value: unknown, schema: Schema): z.output<Schema> {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const [{ path, message }] = read.error.issues as [z.core.$ZodIssue];
  const reason = `${path.length === 0 ? "it" : path.join(".")}: ${message}`;
  throw new GitError("invalid", { what: "request", reason });
}

/** @throws GitError "invalid" unless a text is an object's id */
export function checkOid(oid: string): LfsOid {
  if (isLfsOid(oid)) return oid;
  throw new GitError("invalid", { what: "id", reason: "it must be a SHA-256, 64 digits of lowercase hex" });
}

/** Reads the size of a request's body, in bytes, from its header.
 * @throws GitError "invalid" when the header is missing or invalid */
export function readLength(request: Request): number {
  const declared = request.headers.get("Content-Length");
  if (declared !== null && /^\d{1,15}$/.test(declared)) return Number(declared);
  throw new GitError("invalid", { what: "LFS object", reason: "the header Content-Length is needed" });
}

/** The media type of the API. */
export const LFS_TYPE = "application/vnd.git-lfs+json";

/** Documentation that error documents link to. */
const DOCUMENTATION = "https://github.com/git-lfs/git-lfs/tree/main/docs/api";

/** An answer in JSON. */
export function lfsAnswer(status: number, body: unknown, headers: Record<string, string> = {}): Response {
  const all = { "Content-Type": LFS_TYPE, ...NO_CACHE, ...headers };
  return new Response(JSON.stringify(body), { status, headers: all });
}

/** An error document, whose message the client shows. */
export function lfsRefusal(status: number, message: string, headers: Record<string, string> = {}): Response {
  return lfsAnswer(status, { message, documentation_url: DOCUMENTATION }, headers);
}

/** Answers a failed request. The answer to a caller without a token says where to get one. */
export async function lfsFailure(thrown: unknown): Promise<Response> {
  const { status, headers, text } = await describe(thrown);
  const challenge = headers.get("WWW-Authenticate");
  const retryAfter = headers.get("Retry-After");
  return lfsRefusal(status, text, {
    ...(challenge !== null && { "WWW-Authenticate": challenge, "LFS-Authenticate": challenge }),
    ...(retryAfter !== null && { "Retry-After": retryAfter }),
  });
}

/** Describes an error as it is told to git, except that an invalid value gets the LFS API's
 * status. */
async function describe(thrown: unknown): Promise<{ status: number; headers: Headers; text: string }> {
  const response = errorResponse(thrown);
  const text = (await response.text()).trim();
  return { status: isGitError(thrown, "invalid") ? 422 : response.status, headers: response.headers, text };
}

/** A request of the LFS client to a repository, and its environment. */
export interface LfsContext {
  readonly request: Request;
  /** URL of the repository's LFS routes, without a trailing slash. */
  readonly url: string;
  readonly chunks: ChunkStore;
  /** Maximum size of a request's body, in bytes. */
  readonly maxBodyBytes: number;
  /** Maximum size of an object, in bytes. */
  readonly maxObjectBytes: number;
  /** Maximum size of a part, in bytes, of an object sent in parts; 0: none can be. */
  readonly largestPartBytes: number;
  /** Signs requests that clients send to the bucket directly; null: the deployment cannot. */
  readonly signed: SignedRequests | null;
  /** Opens the repository, if the caller has the right. Its calls throw GitError "not-found" when
   * there is none. @throws GitError as `authorise` */
  readonly open: (needed: Right) => Promise<RepositoryClient>;
  /** Creates the repository, as a push to its name would. The client sends objects before it
   * pushes.
   * @throws GitError "not-found" when pushes must not create it, and as `authorise` */
  readonly create: () => Promise<void>;
}
