import { answerBytes } from "../../base/format/conditional-request.ts";
import { MAX_PUT_BYTES } from "../../base/format/limits.ts";
import { type LfsObject, lfsWaitMs } from "../../contract/lfs.ts";
import { storePart } from "../../base/bytes/part-upload.ts";
import { openInWindows } from "../../base/chunks/open-in-windows.ts";
import { lfsRefusal, type LfsContext, checkOid, readLength } from "./lfs-request.ts";
import { refuseSize } from "./size-limits.ts";

/** Headers that keep a browser from running stored content. */
const INERT = {
  "Content-Type": "application/octet-stream",
  "Content-Disposition": "attachment",
  "Content-Security-Policy": "default-src 'none'; sandbox",
  "X-Content-Type-Options": "nosniff",
};

/** The bytes of an id never change, but the callers who may read them do. */
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
  if (isEmpty) return new Response(null, { status, headers });
  // An object larger than one request can bring was stored in parts.
  const isInParts = sizeBytes > MAX_PUT_BYTES;
  const { start, length } = range;
  const openPart = (from: number, partBytes: number) => chunks.open(key, from, partBytes);
  const bytes = isInParts ? openInWindows(openPart, start, length) : openPart(start, length);
  return new Response(await bytes, { status, headers });
}

/** Serves `PUT objects/{oid}`: stores an object as it arrives, and adds it once its SHA-256 is
 * right. A wrong object is never visible, and its bytes are removed.
 * @throws GitError "invalid" when the bytes are not the object's, "too-large", "storage-failed",
 * "timeout" */
export async function uploadObject(context: LfsContext, oid: string): Promise<Response> {
  const { request, chunks, open } = context;
  const client = await open("write");
  const object: LfsObject = { oid: checkOid(oid), sizeBytes: readLength(request) };
  const { sizeBytes } = object;
  // This request is limited to its own body, even where a signed request could bring more.
  const refusal = refuseSize({ ...context, signed: null }, sizeBytes, false);
  if (refusal !== null) return lfsRefusal(413, refusal);
  const key = await client.beginLfsObject(object);
  if (key === null) {
    // The object is stored already.
    await request.body?.cancel();
    return new Response(null, { status: 200 });
  }
  try {
    const sent = { what: "LFS object", waitMs: lfsWaitMs(sizeBytes) };
    await storePart((...bytes) => chunks.putStream(key, ...bytes), request.body, { sizeBytes, checksum: oid }, sent);
    if (!(await client.addLfsObject({ ...object, key }))) await client.dropLfsObject(key);
  } catch (error) {
    // If this fails as well, a job removes the bytes later.
    await client.dropLfsObject(key).catch(() => undefined);
    throw error;
  }
  return new Response(null, { status: 200 });
}
