import { contentDisposition } from "../../../base/format/content-disposition.ts";
import { ARCHIVE_TYPES, nameArchive, planArchive, splitArchiveName } from "../../files/sent-archive.ts";
import { PAGE_HEADERS, RAW_POLICY } from "../parts/page-headers.ts";
import { urlParts } from "../parts/url-parts.ts";
import type { PageContext } from "../parts/web-env.ts";

/** `/{owner}/{repo}/archive/{rev}.zip`, `.tar.gz` or `.tar`: the files of a commit, below a
 * directory that is named as the archive. */
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
