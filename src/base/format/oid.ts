import { joinBytes } from "./byte-string.ts";
import { GitError } from "./errors.ts";

/** An object id in binary, `OID_BYTES` long, as in tables, trees and packs. */
export type Oid = Uint8Array;

/** The hash of object ids, by its name in git's `object-format`. */
export const OBJECT_FORMAT = "sha1";

/** Bytes of an object id. SHA-256 repositories (32) are planned, so no other file states the
 * length. */
export const OID_BYTES = 20;

/** Hex digits of an object id. */
export const OID_HEX_LENGTH = 2 * OID_BYTES;

/** The null id: an absent old or new value in a push's command. Shared: do not write to it. */
export const NULL_OID: Oid = new Uint8Array(OID_BYTES);

/** `NULL_OID` in hex. */
export const NULL_OID_HEX = "0".repeat(OID_HEX_LENGTH);

/** Char codes of the two hex digits of each byte, in sequence. */
const HEX_CODES = Uint8Array.from({ length: 512 }, (_, at) =>
  "0123456789abcdef".charCodeAt(at % 2 === 0 ? at >> 5 : (at >> 1) & 15),
);

/** Scratch space for the digits of `toHex`: one flat string made at once hashes 3× faster as a Map
 * key than one concatenated from pairs. */
const hexScratch = Array.from({ length: OID_HEX_LENGTH }, () => 0);

/** An object id in lower-case hex, as part of a regular expression. */
export const HEX_OID = `[0-9a-f]{${OID_HEX_LENGTH}}`;

const LOWER_HEX = new RegExp(`^${HEX_OID}$`);

/** Converts an id to lower-case hex, which also serves as its Map key.
 * @param offset where the id begins, in a table or tree */
export function toHex(bytes: Uint8Array, offset = 0): string {
  for (let at = 0; at < OID_BYTES; at++) {
    const pair = 2 * bytes[offset + at]!;
    hexScratch[2 * at] = HEX_CODES[pair]!;
    hexScratch[2 * at + 1] = HEX_CODES[pair + 1]!;
  }
  // oxlint-disable-next-line bounded/no-call-spread -- as many as an id has digits.
  return String.fromCharCode(...hexScratch);
}

/** Converts hex to an id.
 * @throws GitError "bad-request" if the text is not exactly one id in lower-case hex */
export function fromHex(hex: string): Oid {
  if (!isHexOid(hex)) throw new GitError("bad-request", { reason: `'${hex}' is not an object id` });
  const oid = new Uint8Array(OID_BYTES);
  for (let at = 0; at < OID_BYTES; at++) {
    oid[at] = (hexDigit(hex.charCodeAt(2 * at)) << 4) | hexDigit(hex.charCodeAt(2 * at + 1));
  }
  return oid;
}

/** Whether the text is one full oid in lower-case hex, the only form that git writes. */
export function isHexOid(text: string): boolean {
  return LOWER_HEX.test(text);
}

/** Whether the oid is `NULL_OID`. */
export function isNullOid(oid: Oid): boolean {
  return oid === NULL_OID || oid.every((byte) => byte === 0);
}

/** Whether two oids are the same. */
export function equalOids(a: Oid, b: Oid): boolean {
  return compareOids(a, b) === 0;
}

/** Compares oids by their bytes, in the order of pack indexes and of their hex: negative, zero or
 * positive. */
export function compareOids(a: Oid, b: Oid): number {
  for (let at = 0; at < OID_BYTES; at++) {
    const difference = a[at]! - b[at]!;
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Concatenates oids: the packed form for tables and calls. */
export function concatOids(oids: readonly Uint8Array[]): Uint8Array {
  return joinBytes(oids);
}

function hexDigit(code: number): number {
  return code < 0x3a ? code - 0x30 : code - 0x57;
}
