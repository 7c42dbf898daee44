import { z } from "zod";
import { GitError, isGitError } from "../../format/errors.ts";
import { isLfsOid, type LfsOid } from "../../format/lfs.ts";
import { MAX_LFS_BATCH } from "../../format/limits.ts";
import type { LfsBatch } from "../../repository/lfs/lfs-objects.ts";
import { lfsAnswer, lfsFailure, lfsRefusal } from "./lfs-answer.ts";
import type { LfsContext } from "./lfs-context.ts";
import { readLfsJson, Ref } from "./lfs-request.ts";

const Batch = z.object({
  operation: z.enum(["upload", "download"]),
  transfers: z.array(z.string()).nullish(),
  ref: Ref,
  // One that is not as it must be is answered by itself.
  objects: z.array(z.object({ oid: z.string(), size: z.number() })),
  hash_algo: z.string().nullish(),
});

type WantedObject = z.output<typeof Batch>["objects"][number];

interface LfsAction {
  readonly href: string;
  readonly header: Readonly<Record<string, string>>;
}

/** An object in the answer, with what the client has to do for it: nothing, if it is there. */
type AnsweredObject = WantedObject & {
  readonly authenticated?: true;
  readonly actions?: Partial<Readonly<Record<"upload" | "download", LfsAction>>>;
  readonly error?: { readonly code: number; readonly message: string };
};

/** Serves `POST objects/batch`: says which objects are there, and where to send the others.
 * @see git-lfs, docs/api/batch.md */
export async function serveBatch(context: LfsContext): Promise<Response> {
  const { operation, transfers, ref, objects, hash_algo: hash } = await readLfsJson(context.request, Batch);
  if (hash !== undefined && hash !== null && hash !== "sha256")
    return lfsRefusal(409, `the hash algorithm must be sha256, not ${JSON.stringify(hash.slice(0, 100))}`);
  if (transfers !== undefined && transfers !== null && transfers.length > 0 && !transfers.includes("basic"))
    throw new GitError("invalid", { what: "request", reason: "transfers: 'basic' must be among them" });
  if (objects.length > MAX_LFS_BATCH) {
    const reason = "ask for fewer at a time: git config lfs.transfer.batchSize";
    throw new GitError("too-large", {
      what: "the batch (objects)",
      limit: MAX_LFS_BATCH,
      actual: objects.length,
      reason,
    });
  }
  const known = new Map<LfsOid, number>();
  for (const { oid, size } of objects) if (refuse({ oid, size }) === null) known.set(oid, size);
  const wanted = Array.from(known, ([oid, sizeBytes]) => ({ oid, sizeBytes }));
  let found: Map<LfsOid, number>;
  try {
    found = await find(context, { operation, ref, objects: wanted });
  } catch (error) {
    // A batch whose objects do not fit is not one of too many objects, for which the client asks in
    // smaller ones.
    if (!isGitError(error, "too-large")) throw error;
    return lfsRefusal(507, (await (await lfsFailure(error)).json<{ message: string }>()).message);
  }
  const answered = objects.map((object) => answer(context, operation, object, found.get(object.oid) ?? null));
  return lfsAnswer(200, { transfer: "basic", objects: answered, hash_algo: "sha256" });
}

/** Asks the repository, which the first upload makes.
 * @returns the sizes of those that are there */
async function find(context: LfsContext, batch: LfsBatch): Promise<Map<LfsOid, number>> {
  const needed = batch.operation === "upload" ? "write" : "read";
  const ask = async () => (await context.open(needed)).lfsBatch(batch);
  const found = await ask().catch(async (error: unknown) => {
    if (batch.operation === "download" || !isGitError(error, "not-found")) throw error;
    await context.create();
    return ask();
  });
  return new Map(found.map(({ oid, sizeBytes }) => [oid, sizeBytes]));
}

/** @param storedBytes of the object; null: it is not there */
function answer(
  { request, url, maxBodyBytes }: LfsContext,
  operation: LfsBatch["operation"],
  { oid, size }: WantedObject,
  storedBytes: number | null,
): AnsweredObject {
  const fail = (code: number, message: string) => ({ oid, size, error: { code, message } });
  const refusal = refuse({ oid, size });
  if (refusal !== null) return fail(422, refusal);
  if (storedBytes !== null && storedBytes !== size)
    return fail(422, `the object has ${storedBytes} bytes, not ${size}`);
  if (operation === "download" && storedBytes === null) return fail(404, "the repository does not have this object");
  if (operation === "upload" && storedBytes !== null) return { oid, size };
  if (operation === "upload" && size > maxBodyBytes) return fail(422, explainLimit(size, maxBodyBytes));
  // The caller's own, so that its client need not look for it again for each object.
  const authorization = request.headers.get("Authorization");
  const header = authorization === null ? {} : { Authorization: authorization };
  return { oid, size, authenticated: true, actions: { [operation]: { href: `${url}/objects/${oid}`, header } } };
}

/** Why an object cannot be one; null: it can. */
function refuse({ oid, size }: WantedObject): string | null {
  if (!isLfsOid(oid)) return "the id must be a SHA-256, 64 digits of lowercase hex";
  return Number.isSafeInteger(size) && size >= 0 ? null : "the size must be a number of bytes";
}

/** What to do about an object that no body can bring. */
export function explainLimit(sizeBytes: number, maxBodyBytes: number): string {
  return `the object has ${sizeBytes} bytes, and a request to this server may have ${maxBodyBytes}: the operator can raise MAX_BODY_BYTES as far as the platform's plan allows`;
}
