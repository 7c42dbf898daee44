// Git's names and identities are bytes without an encoding. The code holds them as *byte strings*:
// JavaScript strings in which each char code, 0 to 255, is one byte. They compare in byte order
// with `<`, work as Map keys, and need not be UTF-8. They are decoded only for display.

/** Codes per call of `String.fromCharCode`, which takes them as arguments; engines overflow the
 * stack at far higher numbers. */
const CODES_PER_CALL = 8_192;

const utf8Encoder = new TextEncoder();
const utf8Decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });

/** Converts bytes to a byte string. (TextDecoder's "latin1" is windows-1252, which maps
 * 0x80–0x9f elsewhere.) */
export function toByteString(bytes: Uint8Array): string {
  // Uses no spread: engines iterate over spread arguments, which takes ten times as long.
  if (bytes.length <= CODES_PER_CALL) return Reflect.apply(String.fromCharCode, null, bytes);
  let result = "";
  for (let at = 0; at < bytes.length; at += CODES_PER_CALL) {
    result += Reflect.apply(String.fromCharCode, null, bytes.subarray(at, at + CODES_PER_CALL));
  }
  return result;
}

/** Converts a byte string to bytes.
 * @throws RangeError on a char code above 255: the text is not a byte string */
export function fromByteString(byteString: string): Uint8Array {
  const bytes = new Uint8Array(byteString.length);
  writeByteString(byteString, bytes, 0);
  return bytes;
}

/** Writes a byte string into a buffer with enough space.
 * @returns the offset after its last byte
 * @throws RangeError on a char code above 255 */
export function writeByteString(byteString: string, into: Uint8Array, offset: number): number {
  for (let i = 0; i < byteString.length; i++) {
    const code = byteString.charCodeAt(i);
    if (code > 255) throw new RangeError("a byte string holds a char code above 255");
    into[offset + i] = code;
  }
  return offset + byteString.length;
}

/** Encodes text (from JSON, or a message for people) as UTF-8, in a byte string. */
export function encodeText(text: string): string {
  return toByteString(utf8Encoder.encode(text));
}

/** Decodes a byte string to text for people: UTF-8, with U+FFFD for invalid bytes. */
export function decodeText(byteString: string): string {
  return utf8Decoder.decode(fromByteString(byteString));
}

/** Bytes that separate parts of formats and texts. */
export const LF = 0x0a;
export const CR = 0x0d;
export const SPACE = 0x20;
export const SLASH = 0x2f;

/** Copies arrays of bytes, one after the other, into one. */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((size, { length }) => size + length, 0));
  let end = 0;
  for (const part of parts) {
    joined.set(part, end);
    end += part.length;
  }
  return joined;
}
