import { z } from "zod";
import { isGitError } from "../../base/format/errors.ts";
import type { LfsObject } from "../../contract/lfs.ts";
import { hashStored } from "../../base/chunks/stored-hash.ts";
import { lfsAnswer, lfsRefusal } from "./lfs-answer.ts";
import type { LfsContext } from "./lfs-context.ts";
import { checkOid, readLfsJson, readLfsQuery } from "./lfs-request.ts";

const Verification = z.object({ oid: z.string(), size: z.number().int().min(0) });

/** `upload`: the end of the key to which a signed request has brought the object. */
const Query = z.strictObject({ upload: z.string().max(40).optional() });

/** Serves `POST verify`: whether an object is there. What the client has sent to the bucket itself
 * enters the repository here, if it is whole.
 * @throws GitError "too-large" when the quota has been used meanwhile, "timeout"
 * @see git-lfs, docs/api/basic-transfers.md */
export async function verifyObject(context: LfsContext): Promise<Response> {
  const { oid, size } = await readLfsJson(context.request, Verification);
  const { upload } = readLfsQuery(context.request, Query);
  const client = await context.open("write");
  const found = await client.findLfsObject(checkOid(oid)).catch((error: unknown) => {
    if (upload === undefined || !isGitError(error, "not-found")) throw error;
    return null;
  });
  const refusal =
    found === null ? await enter(context, { oid, sizeBytes: size }, upload!) : refuseBytes(found.sizeBytes, size);
  return refusal === null ? lfsAnswer(200, {}) : lfsRefusal(422, refusal);
}

/** Enters an object that the client has sent to the bucket.
 * @returns why not; null: it is there now, by this upload or by another one
 * @throws GitError "not-found" when it has not come, and as `addLfsObject` */
async function enter({ chunks, open }: LfsContext, object: LfsObject, upload: string): Promise<string | null> {
  const { oid, sizeBytes } = object;
  const client = await open("write");
  const key = await client.findSignedUpload({ oid, upload });
  const stat = await chunks.stat(key);
  if (stat === null) return "the object has not come yet: send it first";
  const refusal = refuseBytes(stat.sizeBytes, sizeBytes);
  if (refusal !== null) return refusal;
  // A bucket that checks no SHA-256 would take any bytes: then they are read once.
  const actual = stat.sha256 ?? (await hashStored(chunks, key, sizeBytes));
  if (actual !== oid) return `the object's SHA-256 is ${actual}, not ${oid}; send it again`;
  await client.addLfsObject({ ...object, key });
  return null;
}

function refuseBytes(actualBytes: number, sizeBytes: number): string | null {
  return actualBytes === sizeBytes ? null : `the object has ${actualBytes} bytes, not ${sizeBytes}`;
}
