import { z } from "zod";
import { answerBytes } from "../../format/conditional-request.ts";
import { GitError } from "../../format/errors.ts";
import { isLfsOid, type LfsOid } from "../../format/lfs.ts";
import { type LfsObject, lfsWaitMs } from "../../repository/lfs/lfs-objects.ts";
import { storePart } from "../../repository/upload/part-upload.ts";
import { explainLimit } from "./batch.ts";
import { lfsAnswer, lfsRefusal } from "./lfs-answer.ts";
import type { LfsContext } from "./lfs-context.ts";
import { readLfsJson } from "./lfs-request.ts";

/** Headers that keep a browser from running what somebody has stored. */
const INERT = {
  "Content-Type": "application/octet-stream",
  "Content-Disposition": "attachment",
  "Content-Security-Policy": "default-src 'none'; sandbox",
  "X-Content-Type-Options": "nosniff",
};

/** The bytes of an id are always the same, but who may read them may change. */
const CACHING = "private, no-cache";

/** Serves `GET objects/{oid}`, with ranges. @throws GitError "not-found" */
export async function downloadObject({ request, chunks, open }: LfsContext, oid: string): Promise<Response> {
  const client = await open("read");
  const { key, sizeBytes } = await client.findLfsObject(checkOid(oid));
  const answer = answerBytes(request, { etag: `"${oid}"`, sizeBytes, cacheControl: CACHING });
  switch (answer.kind) {
    case "unchanged":
      return new Response(null, { status: 304, headers: answer.headers });
    case "precondition-failed":
      return lfsRefusal(412, "the object is not the one that the request expects");
    case "unsatisfiable":
      return lfsRefusal(416, `the object has ${sizeBytes} bytes`, answer.headers);
    case "bytes":
  }
  const { status, headers, range } = answer;
  for (const [name, value] of Object.entries(INERT)) headers.set(name, value);
  const isEmpty = request.method === "HEAD" || range.length === 0;
  return new Response(isEmpty ? null : await chunks.open(key, range.start, range.length), { status, headers });
}

/** Serves `PUT objects/{oid}`: stores an object as it arrives, and enters it once its SHA-256 is
 * right. Anything else leaves nothing that can be seen, and nothing that stays.
 * @throws GitError "invalid" when the bytes are not the object's, "too-large", "storage-failed",
 * "timeout" */
export async function uploadObject(
  { request, chunks, maxBodyBytes, open }: LfsContext,
  oid: string,
): Promise<Response> {
  const client = await open("write");
  const declared = request.headers.get("Content-Length");
  if (declared === null || !/^\d{1,15}$/.test(declared))
    throw new GitError("invalid", { what: "LFS object", reason: "the header Content-Length is needed" });
  const object: LfsObject = { oid: checkOid(oid), sizeBytes: Number(declared) };
  const { sizeBytes } = object;
  if (sizeBytes > maxBodyBytes) return lfsRefusal(413, explainLimit(sizeBytes, maxBodyBytes));
  const key = await client.beginLfsObject(object);
  const body = request.body ?? emptyBody();
  if (key === null) {
    // It is there already.
    await body.cancel();
    return new Response(null, { status: 200 });
  }
  try {
    const sent = { what: "LFS object", waitMs: lfsWaitMs(sizeBytes) };
    await storePart(chunks, key, body, { sizeBytes, checksum: oid }, sent);
    await client.addLfsObject({ ...object, key });
  } catch (error) {
    // If this fails as well, the job that removes it is due later.
    await client.dropLfsObject(key).catch(() => undefined);
    throw error;
  }
  return new Response(null, { status: 200 });
}

/** Serves `POST verify`: whether an object is there.
 * @see git-lfs, docs/api/basic-transfers.md */
export async function verifyObject({ request, open }: LfsContext): Promise<Response> {
  const { oid, size } = await readLfsJson(request, z.object({ oid: z.string(), size: z.number() }));
  const { sizeBytes } = await (await open("write")).findLfsObject(checkOid(oid));
  return sizeBytes === size ? lfsAnswer(200, {}) : lfsRefusal(422, `the object has ${sizeBytes} bytes, not ${size}`);
}

/** @throws GitError "invalid" */
function checkOid(oid: string): LfsOid {
  if (isLfsOid(oid)) return oid;
  throw new GitError("invalid", { what: "id", reason: "it must be a SHA-256, 64 digits of lowercase hex" });
}

/** An empty body arrives as none. */
function emptyBody(): ReadableStream<Uint8Array> {
  return new ReadableStream({
    type: "bytes",
    start(controller) {
      controller.close();
    },
  });
}
