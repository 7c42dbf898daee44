import { serveBatch } from "./batch.ts";
import { z } from "zod";
import { isGitError } from "../../base/format/errors.ts";
import {
  LFS_TYPE,
  lfsFailure,
  lfsRefusal,
  lfsAnswer,
  type LfsContext,
  checkOid,
  readLfsJson,
  readLfsQuery,
} from "./lfs-request.ts";
import type { LfsObject } from "../../contract/lfs.ts";
import { hashStored } from "../../base/chunks/stored-hash.ts";
import { createLock, listLocks, unlock, verifyLocks } from "./locks.ts";
import { downloadObject, uploadObject } from "./objects.ts";
import { beginUpload, completeUpload, endUpload, readUpload, uploadPart } from "./uploads.ts";

type Serve = (context: LfsContext, first: string, second: string, third: string) => Promise<Response>;

/** The routes below `/info/lfs`, by method. Groups in the path become arguments. */
const ROUTES: readonly { readonly path: RegExp; readonly methods: Readonly<Record<string, Serve>> }[] = [
  { path: /^objects\/batch$/, methods: { POST: serveBatch } },
  { path: /^objects\/([^/]+)$/, methods: { GET: downloadObject, HEAD: downloadObject, PUT: uploadObject } },
  { path: /^objects\/([^/]+)\/uploads$/, methods: { POST: beginUpload } },
  {
    path: /^objects\/([^/]+)\/uploads\/([^/]+)$/,
    methods: { GET: readUpload, POST: completeUpload, DELETE: endUpload },
  },
  { path: /^objects\/([^/]+)\/uploads\/([^/]+)\/([^/]+)$/, methods: { PUT: uploadPart } },
  { path: /^verify$/, methods: { POST: verifyObject } },
  { path: /^locks$/, methods: { GET: listLocks, POST: createLock } },
  { path: /^locks\/verify$/, methods: { POST: verifyLocks } },
  { path: /^locks\/([^/]+)\/unlock$/, methods: { POST: unlock } },
];

/** Serves a request of the LFS client. Callers without the right to read the repository are refused
 * first.
 * @param path below `/info/lfs/`
 * @see git-lfs, docs/api */
export async function serveLfs(context: LfsContext, path: string): Promise<Response> {
  const { request } = context;
  try {
    await context.open("read");
    const route = ROUTES.find((one) => one.path.test(path));
    if (route === undefined) return lfsRefusal(404, `the API of Git LFS has no ${path.slice(0, 200)} here`);
    const serve = route.methods[request.method];
    const allowed = Object.keys(route.methods).join(", ");
    if (serve === undefined) return lfsRefusal(405, `method not allowed: use ${allowed}`, { Allow: allowed });
    const isJson = !path.startsWith("objects/") || path === "objects/batch";
    if (isJson && !accepts(request.headers.get("Accept")))
      return lfsRefusal(406, `the answer is ${LFS_TYPE}: accept it`);
    const [, first = "", second = "", third = ""] = route.path.exec(path)!;
    return await serve(context, first, second, third);
  } catch (error) {
    return lfsFailure(error);
  }
}

/** Whether a client accepts the API's media type, which is JSON. */
function accepts(accept: string | null): boolean {
  if (accept === null) return true;
  const types = accept.split(",").map((type) => type.split(";")[0]!.trim().toLowerCase());
  return types.some((type) => [LFS_TYPE, "application/json", "application/*", "*/*"].includes(type));
}

const Verification = z.object({ oid: z.string(), size: z.number().int().min(0) });

/** `upload`: the end of the key under which a signed request has stored the object. */
const Query = z.strictObject({ upload: z.string().max(40).optional() });

/** Serves `POST verify`: says whether an object is stored. An object that the client sent to the
 * bucket directly is added to the repository here, if it is complete.
 * @throws GitError "too-large" when the quota has been used meanwhile, "timeout"
 * @see git-lfs, docs/api/basic-transfers.md */
async function verifyObject(context: LfsContext): Promise<Response> {
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

/** Adds an object that the client has sent to the bucket directly.
 * @returns why not; null: it is stored now, by this upload or by another one
 * @throws GitError "not-found" when the upload has not arrived, and as `addLfsObject` */
async function enter({ chunks, open }: LfsContext, object: LfsObject, upload: string): Promise<string | null> {
  const { oid, sizeBytes } = object;
  const client = await open("write");
  const key = await client.findSignedUpload({ oid, upload });
  const stat = await chunks.stat(key);
  if (stat === null) return "the object has not come yet: send it first";
  const refusal = refuseBytes(stat.sizeBytes, sizeBytes);
  if (refusal !== null) return refusal;
  // A bucket that does not check the SHA-256 would accept any bytes, so they are read once.
  const actual = stat.sha256 ?? (await hashStored(chunks, key, sizeBytes));
  if (actual !== oid) return `the object's SHA-256 is ${actual}, not ${oid}; send it again`;
  await client.addLfsObject({ ...object, key });
  return null;
}

function refuseBytes(actualBytes: number, sizeBytes: number): string | null {
  return actualBytes === sizeBytes ? null : `the object has ${actualBytes} bytes, not ${sizeBytes}`;
}
