// Sends LFS objects to a target.
import { encodeText } from "../../base/format/byte-string.ts";
import { GitError, isGitError } from "../../base/format/errors.ts";
import type { ChunkStore } from "../../base/chunks/chunk-store.ts";
import type { StoredLfsObject } from "../../contract/lfs.ts";
import { checkLink } from "./address.ts";
import { failed, type GitServer } from "./git-server.ts";
import { askBatch, encodeJson, type LfsAction, type LfsAnswer, LFS_TYPE } from "./lfs-server.ts";
import { quote } from "./ref-lines.ts";

/** Number of objects sent in parallel. */
const LFS_LINES = 4;

/** Headers that are set by the request itself, whatever a server asks for. */
const OWN_HEADERS: ReadonlySet<string> = new Set(["connection", "content-length", "host", "transfer-encoding"]);

/** Statuses that do not concern the object: a retry may have another result. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([401, 408, 429]);
const NO_SPACE = 507;

/** Result for one object. */
type Outcome = "sent" | "there" | { readonly refusal: string };

/** Sends the objects that the target lacks.
 * @param objects at most `LFS_BATCH_OBJECTS`
 * @param onSent is called for each object that the target accepted; an error that it throws ends
 * the sending
 * @returns the reasons for rejected objects, by id
 * @throws GitError when the target fails, or has no Git LFS; "storage-failed" */
export async function sendLfs(
  target: GitServer,
  objects: readonly StoredLfsObject[],
  chunks: ChunkStore,
  onSent: (object: StoredLfsObject) => void,
): Promise<ReadonlyMap<string, string>> {
  const answers = await askBatch(target, "upload", objects);
  const refused = new Map<string, string>();
  const left = objects.values();
  let hasFailed = false;
  const send = async (): Promise<void> => {
    try {
      for (const object of left) {
        if (hasFailed) return;
        const outcome = await sendOne(target, object, answers.get(object.oid), chunks);
        if (outcome === "sent") onSent(object);
        else if (outcome !== "there") refused.set(object.oid, outcome.refusal);
      }
    } catch (error) {
      hasFailed = true;
      throw error;
    }
  };
  const lines = await Promise.allSettled(Array.from({ length: LFS_LINES }, send));
  for (const line of lines) if (line.status === "rejected") throw line.reason;
  return refused;
}

async function sendOne(
  target: GitServer,
  object: StoredLfsObject,
  answer: LfsAnswer | undefined,
  chunks: ChunkStore,
): Promise<Outcome> {
  if (answer === undefined) return { refusal: "its Git LFS did not answer for it" };
  const { actions, error } = answer;
  if (error !== undefined && error !== null) {
    const message = quote(encodeText((error.message ?? "").slice(0, 500)));
    return { refusal: message === "" ? "its Git LFS did not say why" : message };
  }
  const { upload = null, verify = null } = actions ?? {};
  if (upload === null) return "there";
  try {
    return (await put(target, object, upload, chunks)) ?? (verify && (await confirm(target, object, verify))) ?? "sent";
  } catch (cause) {
    // The target gave an address that may not be requested.
    if (isGitError(cause, "invalid")) return { refusal: `its Git LFS wants it elsewhere: ${cause.message}` };
    throw cause;
  }
}

/** Sends an object's bytes as they are read.
 * @returns null: it was accepted */
async function put(
  target: GitServer,
  { key, sizeBytes }: StoredLfsObject,
  { href, header }: LfsAction,
  chunks: ChunkStore,
): Promise<Outcome | null> {
  const url = checkPlace(target, href);
  const headers = { "Content-Type": "application/octet-stream", ...allowed(header) };
  const body = sizeBytes === 0 ? new Uint8Array(0) : { stream: await chunks.open(key, 0, sizeBytes), sizeBytes };
  return judge(await target.send(url, headers, body, "PUT"), "did not take it");
}

/** Asks whether an accepted object is stored. @returns null: it is */
async function confirm(
  target: GitServer,
  { oid, sizeBytes }: StoredLfsObject,
  { href, header }: LfsAction,
): Promise<Outcome | null> {
  const url = checkPlace(target, href);
  const headers = { Accept: LFS_TYPE, "Content-Type": LFS_TYPE, ...allowed(header) };
  return judge(await target.send(url, headers, encodeJson({ oid, size: sizeBytes })), "took it, but does not have it");
}

/** @throws GitError "invalid" for an address that may not be requested */
function checkPlace({ base, allowsPrivate }: GitServer, href: string): string {
  const { href: url, protocol } = checkLink(href, allowsPrivate);
  if (protocol === "http:" && base.startsWith("https:"))
    throw new GitError("invalid", { what: "address", field: "url", reason: "it is http:, and the target is https:" });
  return url;
}

function allowed(header: LfsAction["header"]): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(header ?? {}).filter(([name]) => !OWN_HEADERS.has(name.toLowerCase())));
}

/** Judges an answer by its status.
 * @throws GitError "unavailable" for a status that a retry may change */
async function judge(response: Response, whatItDid: string): Promise<Outcome | null> {
  const { ok, status } = response;
  await response.body?.cancel();
  if (ok) return null;
  const isFinal = (status >= 400 && status < 500 && !PASSING_STATUSES.has(status)) || status === NO_SPACE;
  if (isFinal) return { refusal: `its Git LFS ${whatItDid}: it answered ${status}` };
  throw failed("target", `its Git LFS answered ${status} for an object`);
}
