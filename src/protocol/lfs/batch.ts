import { z } from "zod";
import { GitError, isGitError } from "../../format/errors.ts";
import { isLfsOid, type LfsOid } from "../../format/lfs.ts";
import { MAX_LFS_BATCH } from "../../format/limits.ts";
import type { LfsBatch, LfsBatchAnswer } from "../../repository/lfs/lfs-objects.ts";
import type { LfsObject } from "../../repository/lfs/lfs-uploads.ts";
import { batchActions, type LfsActions } from "./batch-actions.ts";
import { lfsAnswer, lfsFailure, lfsRefusal } from "./lfs-answer.ts";
import type { LfsContext } from "./lfs-context.ts";
import { readLfsJson, Ref } from "./lfs-request.ts";
import { refuseSize } from "./size-limits.ts";

const Batch = z.object({
  operation: z.enum(["upload", "download"]),
  transfers: z.array(z.string()).nullish(),
  ref: Ref,
  // One that is not as it must be is answered by itself.
  objects: z.array(z.object({ oid: z.string(), size: z.number() })),
  hash_algo: z.string().nullish(),
});

type WantedObject = z.output<typeof Batch>["objects"][number];

/** An object in the answer, with what the client has to do for it: nothing, if it is there. */
type AnsweredObject = WantedObject & {
  readonly authenticated?: true;
  readonly actions?: LfsActions;
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
  const refusals = objects.map((object) => refuse(context, operation, object));
  const known = new Map<LfsOid, number>();
  for (const [i, { oid, size }] of objects.entries()) if (refusals[i] === null) known.set(oid, size);
  const wanted: LfsObject[] = Array.from(known, ([oid, sizeBytes]) => ({ oid, sizeBytes }));
  const signedAboveBytes = context.signed === null ? null : context.maxBodyBytes;
  let found: LfsBatchAnswer;
  try {
    found = await find(context, { operation, ref, objects: wanted, signedAboveBytes });
  } catch (error) {
    // A batch whose objects do not fit is not one of too many objects, for which the client asks in
    // smaller ones.
    if (!isGitError(error, "too-large")) throw error;
    return lfsRefusal(507, (await (await lfsFailure(error)).json<{ message: string }>()).message);
  }
  const sizes = new Map(found.found.map(({ oid, sizeBytes }) => [oid, sizeBytes]));
  const actions = await batchActions(context, operation, wanted, found);
  const answered = objects.map((object, i): AnsweredObject => {
    const message = refusals[i] ?? refuseStored(object, sizes.get(object.oid) ?? null);
    if (message !== null) return { ...object, error: { code: 422, message } };
    const needed = actions.get(object.oid);
    if (needed !== undefined) return { ...object, authenticated: true, actions: needed };
    if (operation === "upload") return object;
    return { ...object, error: { code: 404, message: "the repository does not have this object" } };
  });
  return lfsAnswer(200, { transfer: "basic", objects: answered, hash_algo: "sha256" });
}

/** Asks the repository, which the first upload makes. */
async function find(context: LfsContext, batch: LfsBatch): Promise<LfsBatchAnswer> {
  const needed = batch.operation === "upload" ? "write" : "read";
  const ask = async () => (await context.open(needed)).lfsBatch(batch);
  return ask().catch(async (error: unknown) => {
    if (batch.operation === "download" || !isGitError(error, "not-found")) throw error;
    await context.create();
    return ask();
  });
}

/** Why an object cannot be one, or cannot be sent; null: it can. */
function refuse(context: LfsContext, operation: LfsBatch["operation"], { oid, size }: WantedObject): string | null {
  if (!isLfsOid(oid)) return "the id must be a SHA-256, 64 digits of lowercase hex";
  if (!Number.isSafeInteger(size) || size < 0) return "the size must be a number of bytes";
  return operation === "upload" ? refuseSize(context, size) : null;
}

/** @param storedBytes of the object; null: it is not there */
function refuseStored({ size }: WantedObject, storedBytes: number | null): string | null {
  if (storedBytes === null || storedBytes === size) return null;
  return `the object has ${storedBytes} bytes, not ${size}`;
}
