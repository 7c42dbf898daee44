import { serveBatch } from "./batch.ts";
import { LFS_TYPE, lfsFailure, lfsRefusal } from "./lfs-answer.ts";
import type { LfsContext } from "./lfs-context.ts";
import { createLock, listLocks, unlock, verifyLocks } from "./locks.ts";
import { downloadObject, uploadObject } from "./objects.ts";
import { beginUpload, completeUpload, endUpload, readUpload, uploadPart } from "./uploads.ts";
import { verifyObject } from "./verify.ts";

type Serve = (context: LfsContext, first: string, second: string, third: string) => Promise<Response>;

/** The routes below `/info/lfs`, by method. Groups in the path are passed on. */
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

/** Serves a request of the LFS client. Callers who may not read the repository are told so before
 * anything else.
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

/** Whether a client takes the API's media type, which is JSON. */
function accepts(accept: string | null): boolean {
  if (accept === null) return true;
  const types = accept.split(",").map((type) => type.split(";")[0]!.trim().toLowerCase());
  return types.some((type) => [LFS_TYPE, "application/json", "application/*", "*/*"].includes(type));
}
