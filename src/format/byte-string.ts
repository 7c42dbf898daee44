// Git's names and identities are bytes without an encoding. Across the code they are *byte strings*:
// JavaScript strings in which each char code, 0 to 255, is one byte. They compare in byte order with
// `<`, serve as Map keys, and survive when they are not UTF-8. They are decoded only for people.

/** `String.fromCharCode` takes its bytes as arguments; engines overflow the stack far above this. */
const CODES_PER_CALL = 8_192;

const utf8Encoder = new TextEncoder();
const utf8Decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });

/** Bytes → byte string. (TextDecoder's "latin1" is windows-1252, which maps 0x80–0x9f elsewhere.) */
export function toByteString(bytes: Uint8Array): string {
  let result = "";
  for (let at = 0; at < bytes.length; at += CODES_PER_CALL) {
    // Not spread: engines iterate over what is spread, which takes ten times as long.
    result += Reflect.apply(String.fromCharCode, null, bytes.subarray(at, at + CODES_PER_CALL));
  }
  return result;
}

/** Byte string → bytes.
 * @throws RangeError on a char code above 255: text that was never made into a byte string */
export function fromByteString(byteString: string): Uint8Array {
  const bytes = new Uint8Array(byteString.length);
  writeByteString(byteString, bytes, 0);
  return bytes;
}

/** Writes a byte string into a buffer that has room for it.
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

/** Text (from JSON, from a message for people) → the byte string of its UTF-8 form. */
export function encodeText(text: string): string {
  return toByteString(utf8Encoder.encode(text));
}

/** Byte string → text for people: UTF-8, with U+FFFD for bytes that are not. */
export function decodeText(byteString: string): string {
  return utf8Decoder.decode(fromByteString(byteString));
}
