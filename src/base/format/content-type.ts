import { decodeText } from "./byte-string.ts";
/** Types that browsers display and never execute: images that cannot hold scripts, audio, video,
 * fonts. */
const SHOWN: Readonly<Record<string, string>> = {
  png: "image/png",
  apng: "image/apng",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  avif: "image/avif",
  bmp: "image/bmp",
  ico: "image/x-icon",
  tif: "image/tiff",
  tiff: "image/tiff",
  mp3: "audio/mpeg",
  m4a: "audio/mp4",
  flac: "audio/flac",
  ogg: "audio/ogg",
  opus: "audio/ogg",
  wav: "audio/wav",
  mp4: "video/mp4",
  webm: "video/webm",
  ttf: "font/ttf",
  otf: "font/otf",
  woff: "font/woff",
  woff2: "font/woff2",
  json: "application/json",
  pdf: "application/pdf",
  wasm: "application/wasm",
};

/** Extensions of binary files that are not displayed. */
const BINARY = new Set(
  (
    "7z a bin br bundle bz2 class db deb dll dmg doc docx dylib eot exe gz iso jar key lib lz4 mov o obj odt pack pkg ppt pptx psd pyc rar rpm so " +
    "sqlite tar tgz xls xlsx xz zip zst"
  ).split(" "),
);

/** Finds the type under which a file may safely be served to logged-in users: types that could hold
 * a script (HTML, SVG, XML) are served as plain text. The type depends on the name only, so it is
 * known before any byte is read.
 * @param path byte string */
export function safeContentType(path: string): string {
  const extension = /\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
  if (Object.hasOwn(SHOWN, extension)) return SHOWN[extension]!;
  return BINARY.has(extension) ? "application/octet-stream" : "text/plain; charset=utf-8";
}

/** Encodes a `Content-Disposition` header that no file name can break out of: the name in ASCII for
 * old clients, and in UTF-8 if it is not ASCII.
 * @param name byte string, of any bytes
 * @see RFC 6266, RFC 8187 */
export function contentDisposition(disposition: "inline" | "attachment", name: string): string {
  const text = decodeText(name);
  // oxlint-disable-next-line no-control-regex -- these must not get through.
  const plain = text.replace(/[\u0000-\u001f\u007f-\u{10ffff}]/gu, "_");
  const quoted = plain.replace(/["\\]/g, "\\$&");
  if (plain === text) return `${disposition}; filename="${quoted}"`;
  const extended = encodeURIComponent(text).replace(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16)}`);
  return `${disposition}; filename="${quoted}"; filename*=UTF-8''${extended}`;
}
