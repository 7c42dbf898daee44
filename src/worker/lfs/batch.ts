import { z } from "zod";
import { GitError, isGitError } from "../../base/format/errors.ts";
import { isLfsOid, type LfsOid } from "../../base/format/lfs.ts";
import { MAX_LFS_BATCH } from "../../base/format/limits.ts";
import type { LfsBatch, LfsBatchAnswer, LfsObject } from "../../contract/lfs.ts";
import { batchActions, type LfsActions } from "./batch-actions.ts";
import { lfsAnswer, lfsFailure, lfsRefusal, type LfsContext, readLfsJson, Ref } from "./lfs-request.ts";
import { largestBasicBytes, largestInParts, refuseSize } from "./size-limits.ts";

const Batch = z.object({
  operation: z.enum(["upload", "download"]),
  transfers: z.array(z.string()).nullish(),
  ref: Ref,
  // An invalid object is refused alone, not with its batch. The API's schema allows further keys in
  // a request, but none in its objects.
  objects: z.array(
    z
      .strictObject({ oid: z.string(), size: z.number(), authenticated: z.boolean().optional() })
      .transform(({ oid, size }) => ({ oid, size })),
  ),
  hash_algo: z.string().nullish(),
});

/** The transfer that sends objects in parts if they are too large for one request. A transfer
 * applies to a whole batch: the client sends the smaller objects in one request each, as in the
 * transfer `basic`. */
const IN_PARTS = "holdfast";

type WantedObject = z.output<typeof Batch>["objects"][number];

/** An object in the answer, with the requests that the client is to send; none: the object is
 * stored already. */
type AnsweredObject = WantedObject & {
  readonly authenticated?: true;
  readonly actions?: LfsActions;
  readonly error?: { readonly code: number; readonly message: string };
};

/** Serves `POST objects/batch`: says which objects are stored, and where to send the others.
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
  const refusals = objects.map((object) => refuse(object));
  const known = new Map<LfsOid, number>();
  for (const [i, { oid, size }] of objects.entries()) if (refusals[i] === null) known.set(oid, size);
  const wanted: LfsObject[] = Array.from(known, ([oid, sizeBytes]) => ({ oid, sizeBytes }));
  const takesParts = operation === "upload" && transfers?.includes(IN_PARTS) === true;
  const basicBytes = largestBasicBytes(context);
  const largestBytes = Math.max(basicBytes, takesParts ? largestInParts(context) : 0);
  const signedAboveBytes = context.signed === null ? null : context.maxBodyBytes;
  let answer: LfsBatchAnswer;
  try {
    answer = await find(context, { operation, ref, objects: wanted, largestBytes, signedAboveBytes });
  } catch (error) {
    // "too-large" here means that the objects do not fit into quota or limits. The status must differ
    // from that of a batch with too many objects, after which the client tries smaller batches.
    if (!isGitError(error, "too-large")) throw error;
    return lfsRefusal(507, (await (await lfsFailure(error)).json<{ message: string }>()).message);
  }
  const found = new Map(answer.found.map(({ oid, sizeBytes }) => [oid, sizeBytes]));
  const actions = await batchActions(context, operation, wanted, answer);
  const answered = objects.map((object, i): AnsweredObject => {
    const { oid, size } = object;
    const message = refusals[i] ?? refuseStored(size, found.get(oid) ?? null);
    if (message !== null) return { ...object, error: { code: 422, message } };
    if (operation === "upload") {
      if (found.has(oid)) return object;
      const reason = refuseSize(context, size, takesParts);
      if (reason !== null) return { ...object, error: { code: 422, message: reason } };
    }
    const needed = actions.get(oid);
    if (needed !== undefined) return { ...object, authenticated: true, actions: needed };
    return { ...object, error: { code: 404, message: "the repository does not have this object" } };
  });
  const inParts = answered.some(({ size, actions: needed }) => needed?.upload !== undefined && size > basicBytes);
  return lfsAnswer(200, { transfer: inParts ? IN_PARTS : "basic", objects: answered, hash_algo: "sha256" });
}

/** Asks the repository for the objects. The first upload creates the repository. */
async function find(context: LfsContext, batch: LfsBatch): Promise<LfsBatchAnswer> {
  const needed = batch.operation === "upload" ? "write" : "read";
  const ask = async () => (await context.open(needed)).lfsBatch(batch);
  return ask().catch(async (error: unknown) => {
    if (batch.operation === "download" || !isGitError(error, "not-found")) throw error;
    await context.create();
    return ask();
  });
}

/** Says why the id or size of an object is invalid; null: valid. */
function refuse({ oid, size }: WantedObject): string | null {
  if (!isLfsOid(oid)) return "the id must be a SHA-256, 64 digits of lowercase hex";
  return Number.isSafeInteger(size) && size >= 0 ? null : "the size must be a number of bytes";
}

/** Refuses a size that is not the stored object's.
 * @param storedBytes size of the stored object; null: it is not stored */
function refuseStored(size: number, storedBytes: number | null): string | null {
  if (storedBytes === null || storedBytes === size) return null;
  return `the object has ${storedBytes} bytes, not ${size}`;
}
