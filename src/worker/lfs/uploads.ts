// The transfer `holdfast`, for objects that are too large for one request. The batch's answer has
// the URL at which an upload begins. The parts, of equal size except the last, arrive in any order,
// several at once, and repeatedly where needed.
import { z } from "zod";
import { GitError } from "../../base/format/errors.ts";
import type { LfsUploadName, LfsUploadStatus, NewLfsPart } from "../../contract/lfs.ts";
import { readRest } from "../../base/pacing/paced-body.ts";
import { storePart } from "../../base/bytes/part-upload.ts";
import {
  lfsAnswer,
  lfsRefusal,
  type LfsContext,
  checkOid,
  readLength,
  readLfsJson,
  readLfsQuery,
} from "./lfs-request.ts";
import { largestInParts, refuseSize } from "./size-limits.ts";

const NewUpload = z.strictObject({ size: z.number().int().min(1) });

/** `sha256`: of the part's bytes. */
const PartQuery = z.strictObject({
  sha256: z.string().regex(/^[0-9a-f]{64}$/, "it must be 64 digits of lowercase hex"),
});

/** Serves `POST objects/{oid}/uploads`: begins an upload.
 * @throws GitError as `beginLfsUpload` */
export async function beginUpload(context: LfsContext, oid: string): Promise<Response> {
  const { size } = await readLfsJson(context.request, NewUpload);
  const { largestPartBytes } = context;
  if (size > largestInParts(context))
    return lfsRefusal(413, refuseSize(context, size, true) ?? "an object of this size comes in one request");
  const client = await context.open("write");
  const begun = await client.beginLfsUpload({ oid: checkOid(oid), sizeBytes: size, largestPartBytes });
  return begun === null ? lfsAnswer(200, {}) : answerStatus(201, begun);
}

/** Serves `GET objects/{oid}/uploads/{id}`: lists the parts that are stored.
 * @throws GitError "not-found" */
export async function readUpload({ open }: LfsContext, oid: string, id: string): Promise<Response> {
  return answerStatus(200, await (await open("write")).readLfsUpload(nameOf(oid, id)));
}

/** Serves `DELETE objects/{oid}/uploads/{id}`: gives an upload up.
 * @throws GitError "not-found" */
export async function endUpload({ open }: LfsContext, oid: string, id: string): Promise<Response> {
  await (await open("write")).endLfsUpload(nameOf(oid, id));
  return lfsAnswer(200, {});
}

/** Serves `PUT objects/{oid}/uploads/{id}/{part}`: stores a part as it arrives. Bytes with another
 * SHA-256 leave the part unchanged.
 * @throws GitError "invalid" when the bytes are not the part's, "storage-failed", "timeout", and as
 * `beginLfsPart` */
export async function uploadPart(context: LfsContext, oid: string, id: string, number: string): Promise<Response> {
  const { request, chunks, open } = context;
  const client = await open("write");
  try {
    const part = readPart(request, nameOf(oid, id), number);
    const place = await client.beginLfsPart(part);
    if (place !== null) {
      const write = chunks.resumeMultipart(place.key, place.write);
      const tag = await storePart((...bytes) => write.putPart(part.part, ...bytes), request.body, part);
      await client.addLfsPart({ ...part, tag });
    }
  } finally {
    // Reads the body of a part that is refused or stored already.
    await readRest(request, context.largestPartBytes);
  }
  return lfsAnswer(200, {});
}

/** Reads the description of a part from its request.
 * @throws GitError "invalid" */
function readPart(request: Request, name: LfsUploadName, number: string): NewLfsPart {
  const { sha256: checksum } = readLfsQuery(request, PartQuery);
  if (!/^[1-9]\d{0,4}$/.test(number))
    throw new GitError("invalid", { what: "part", reason: "its number must be 1 or more" });
  return { ...name, part: Number(number), sizeBytes: readLength(request), checksum };
}

/** Serves `POST objects/{oid}/uploads/{id}`: completes an upload. Status 202 means that the object
 * is still being read and the client must ask again; 200 means that it is stored.
 * @throws GitError as `completeLfsUpload` */
export async function completeUpload({ open }: LfsContext, oid: string, id: string): Promise<Response> {
  const { isDone, checkedBytes } = await (await open("write")).completeLfsUpload(nameOf(oid, id));
  return isDone ? lfsAnswer(200, {}) : lfsAnswer(202, { checked: checkedBytes });
}

function answerStatus(status: number, { id, partBytes, parts, endsMs }: LfsUploadStatus): Response {
  return lfsAnswer(status, { id, part_size: partBytes, parts, expires_at: new Date(endsMs).toISOString() });
}

function nameOf(oid: string, id: string): LfsUploadName {
  return { oid: checkOid(oid), id };
}
