import { decodeText } from "./byte-string.ts";

/** Encodes a `Content-Disposition` that no file name can break out of: the name in ASCII for old
 * clients, and in UTF-8 if it is not ASCII.
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
