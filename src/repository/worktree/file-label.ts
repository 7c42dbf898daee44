import { toHex } from "../../format/oid.ts";
import { SYMLINK_MODE } from "../../format/tree.ts";
import type { FileLabel } from "../../store/chunk-store.ts";
import type { PendingFile } from "../../store/worktree-table.ts";

/** Media types by a path's extension, of what sites are made of. */
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  avif: "image/avif",
  css: "text/css; charset=utf-8",
  csv: "text/csv; charset=utf-8",
  gif: "image/gif",
  htm: "text/html; charset=utf-8",
  html: "text/html; charset=utf-8",
  ico: "image/x-icon",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  js: "text/javascript; charset=utf-8",
  json: "application/json",
  md: "text/markdown; charset=utf-8",
  mjs: "text/javascript; charset=utf-8",
  mp3: "audio/mpeg",
  mp4: "video/mp4",
  pdf: "application/pdf",
  png: "image/png",
  svg: "image/svg+xml",
  txt: "text/plain; charset=utf-8",
  wasm: "application/wasm",
  webm: "video/webm",
  webp: "image/webp",
  woff2: "font/woff2",
  xml: "application/xml",
};

/** What a file's R2 object says of it: media type by extension, object id in hex, mode in octal. */
export function labelFile({ path, oid, mode }: PendingFile): FileLabel {
  return { contentType: mediaType(path, mode), metadata: { oid: toHex(oid), mode: mode.toString(8).padStart(6, "0") } };
}

function mediaType(path: string, mode: number): string {
  if (mode === SYMLINK_MODE) return "inode/symlink";
  const extension = /\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
  return Object.hasOwn(MEDIA_TYPES, extension) ? MEDIA_TYPES[extension]! : "application/octet-stream";
}
