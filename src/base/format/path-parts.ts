// Encoding of byte strings in URLs: names and paths of a repository need not be UTF-8.
import { fromByteString } from "./byte-string.ts";

const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Characters that need no encoding in a URL's path. */
const PLAIN = /^[A-Za-z0-9._~!$'()*,;:@/-]*$/;

/** Parts that URL parsers remove, encoded or not. */
const DOT_PART = /(?:^|\/)\.\.?(?:\/|$)/;

/** Splits a part of a URL's path at its slashes, and decodes the pieces. Encoded slashes do not
 * split.
 * @param path as received: percent-encoded
 * @returns byte strings */
export function decodePathParts(path: string): string[] {
  return path.split("/").map(percentDecode);
}

/** Decodes percent-encoding.
 * @returns byte string */
export function percentDecode(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}

/** Whether a byte string is UTF-8. */
export function isUtf8(bytes: string): boolean {
  try {
    strictUtf8.decode(fromByteString(bytes));
    return true;
  } catch {
    return false;
  }
}

/** Encodes a byte string for a URL's path. Slashes are not encoded, except around `.` and `..`: URL
 * parsers would remove these parts if they stood alone.
 * @see https://url.spec.whatwg.org/#double-dot-path-segment */
export function encodePath(path: string): string {
  if (PLAIN.test(path) && !DOT_PART.test(path)) return path;
  const encoded = path.replace(/[^A-Za-z0-9._~!$'()*,;:@/-]/g, encodeByte);
  return DOT_PART.test(path) ? encoded.replaceAll("/", "%2F") : encoded;
}

function encodeByte(byte: string): string {
  return `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
}
