import { safeContentType } from "../../base/format/content-type.ts";
import { toHex } from "../../base/format/oid.ts";
import { formatMode, SYMLINK_MODE } from "../../base/format/tree.ts";
import type { FileLabel } from "../../base/chunks/chunk-store.ts";
import type { PendingFile } from "../store/jobs/worktree-table.ts";

/** Types that make a site of the bucket's files. Nobody is logged in to the bucket's origin, so
 * scripts in them do no harm. */
const SITE_TYPES: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  csv: "text/csv; charset=utf-8",
  htm: "text/html; charset=utf-8",
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  md: "text/markdown; charset=utf-8",
  mjs: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
  xml: "application/xml",
};

/** The metadata of a file's R2 object: media type by extension, object id in hex, mode in octal. */
export function labelFile({ path, oid, mode }: PendingFile): FileLabel {
  return { contentType: mediaType(path, mode), metadata: { oid: toHex(oid), mode: formatMode(mode) } };
}

function mediaType(path: string, mode: number): string {
  if (mode === SYMLINK_MODE) return "inode/symlink";
  const extension = /\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
  return Object.hasOwn(SITE_TYPES, extension) ? SITE_TYPES[extension]! : safeContentType(path);
}
