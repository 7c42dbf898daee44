import { contentDisposition, safeContentType } from "../../../base/format/content-type.ts";
import { answerBytes } from "../../../base/format/conditional-request.ts";
import { ARCHIVE_TYPES, nameArchive, planArchive, splitArchiveName } from "../../files/sent-archive.ts";
import { PAGE_HEADERS, RAW_POLICY, UNLISTED } from "../parts/page-headers.ts";
import { GitError } from "../../../base/format/errors.ts";
import { urlParts } from "../parts/urls.ts";
import { readLfsObject, requireStored } from "../../files/blob-reader.ts";
import type { PageContext } from "../parts/web-env.ts";
import { readFile } from "../../files/read-file.ts";

/** `/{owner}/{repo}/raw/{rev}/{path}`: the bytes of a file. They cannot act here: any type that
 * could hold a script is served as plain text, except SVG for an image, where browsers run no
 * scripts. With `?lfs=true`, the bytes of the Git LFS object that the file points to.
 * @see RFC 9110, sections 13 and 14 */
export async function rawPage(context: PageContext): Promise<Response> {
  const request = context.req.raw;
  const repository = context.get("repository");
  const parts = urlParts(context);
  if (parts.length < 2) throw new GitError("not-found", { what: "path" });
  const file = await repository.locateFile(parts);
  const { path } = file;
  const isFollowed = new URL(request.url).searchParams.get("lfs") === "true" && file.lfs !== null;
  const lfs = isFollowed ? requireStored(file.lfs!, path) : null;
  const { oid, sizeBytes } = lfs ?? file;
  const answer = answerBytes(request, { etag: `"${oid}"`, sizeBytes, cacheControl: "private, no-cache" });
  switch (answer.kind) {
    case "unchanged":
      return new Response(null, { status: 304, headers: answer.headers });
    case "precondition-failed":
      throw new GitError("stale", { what: "file", expected: request.headers.get("If-Match"), actual: oid });
    case "unsatisfiable":
      return new Response(null, { status: 416, headers: answer.headers });
    case "bytes":
  }
  const { status, headers, range } = answer;
  const { "Content-Type": _, "Cache-Control": __, ...safe } = PAGE_HEADERS;
  for (const [name, value] of Object.entries({ ...safe, ...UNLISTED })) headers.set(name, value);
  headers.set("Vary", "Cookie, Sec-Fetch-Dest");
  headers.set("Content-Type", isSvgImage(path, request) ? "image/svg+xml" : safeContentType(path));
  headers.set("Content-Security-Policy", RAW_POLICY);
  headers.set("Content-Disposition", contentDisposition("inline", path.slice(path.lastIndexOf("/") + 1)));
  if (request.method === "HEAD") return new Response(null, { status, headers });
  const { reading } = context.get("host");
  const body =
    lfs === null
      ? await readFile(file, range, reading, (blob) => repository.locateBlob(blob))
      : await readLfsObject(lfs, range, reading);
  return new Response(body, { status, headers });
}

function isSvgImage(path: string, { headers }: Request): boolean {
  return /\.svg$/i.test(path) && headers.get("Sec-Fetch-Dest") === "image";
}

/** `/{owner}/{repo}/archive/{rev}.zip`, `.tar.gz` or `.tar`: the files of a commit, in a directory
 * with the archive's name. */
export async function archivePage(context: PageContext): Promise<Response> {
  const place = context.get("place");
  const { ref, format } = splitArchiveName(urlParts(context).join("/"));
  const name = nameArchive(place.name, ref);
  const request = { ref, path: "", prefix: `${name}/`, lfs: false };
  const archive = await planArchive(context.get("repository"), request, context.get("host").reading);
  const headers = {
    ...PAGE_HEADERS,
    "Content-Type": ARCHIVE_TYPES[format],
    "Content-Security-Policy": RAW_POLICY,
    "Content-Disposition": contentDisposition("attachment", `${name}.${format}`),
  };
  return new Response(context.req.method === "HEAD" ? null : await archive.open(format), { headers });
}
