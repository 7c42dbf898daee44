import { writeByteString } from "./byte-string.ts";
import { GitError } from "./errors.ts";
import { OID_BYTES } from "./oid.ts";

/** Bytes of a pack's header: signature, version, object count. */
export const PACK_HEADER_BYTES = 12;

/** Bytes of a pack's trailer: the hash of everything before it. */
export const PACK_TRAILER_BYTES = OID_BYTES;

/** Type number of a delta whose base is at a distance before it in the same pack. */
export const OFS_DELTA = 6;

/** Type number of a delta whose base is named by its oid. */
export const REF_DELTA = 7;

/** Most bytes of an entry header: 4 + 7 × 7 bits hold every size below 2^53. */
export const MAX_ENTRY_HEADER_BYTES = 8;

/** An entry's type as its header states it: an object type's number, or a delta. */
export type EntryType = 1 | 2 | 3 | 4 | typeof OFS_DELTA | typeof REF_DELTA;

/** An entry's header, which precedes its zlib stream or its delta base. */
interface EntryHeader {
  readonly type: EntryType;
  /** Inflated size of the entry's own data; for a delta, of the delta. */
  readonly sizeBytes: number;
  readonly headerBytes: number;
}

/** Encodes a pack's header, version 2.
 * @param objects fewer than 2^32
 * @see gitformat-pack(5) */
export function encodePackHeader(objects: number): Uint8Array {
  const header = new Uint8Array(PACK_HEADER_BYTES);
  const view = new DataView(header.buffer);
  writeByteString("PACK", header, 0);
  view.setUint32(4, 2);
  view.setUint32(8, objects);
  return header;
}

/** Decodes a pack's header. Versions 2 and 3 do not differ in anything that matters here.
 * @param bytes at least the pack's first 12 bytes
 * @returns the object count that the header claims
 * @throws GitError "corrupt-pack" on a wrong signature or version, or fewer bytes
 * @see gitformat-pack(5) */
export function decodePackHeader(bytes: Uint8Array): number {
  if (bytes.length < PACK_HEADER_BYTES) throw corrupt("its header is cut short");
  const view = new DataView(bytes.buffer, bytes.byteOffset, PACK_HEADER_BYTES);
  if (view.getUint32(0) !== 0x5041434b) throw corrupt("it does not begin with PACK");
  const version = view.getUint32(4);
  if (version !== 2 && version !== 3) throw corrupt(`version ${version} is unknown`);
  return view.getUint32(8);
}

/** Encodes an entry's header.
 * @param sizeBytes inflated size, a safe integer
 * @see gitformat-pack(5) "Size encoding" */
export function encodeEntryHeader(type: EntryType, sizeBytes: number): Uint8Array {
  const header = new Uint8Array(entryHeaderLength(sizeBytes));
  header[0] = (type << 4) | (sizeBytes % 16);
  let rest = Math.floor(sizeBytes / 16);
  for (let at = 1; at < header.length; at++) {
    header[at - 1]! |= 0x80;
    header[at] = rest % 128;
    rest = Math.floor(rest / 128);
  }
  return header;
}

/** Bytes of the entry header for this inflated size, 1 to 8. */
export function entryHeaderLength(sizeBytes: number): number {
  let length = 1;
  for (let rest = Math.floor(sizeBytes / 16); rest > 0; rest = Math.floor(rest / 128)) length++;
  return length;
}

/** Decodes an entry's header.
 * @param offset of the entry's first byte
 * @throws GitError "corrupt-pack" on type 0 or 5, a size of 2^53 or more, or fewer bytes
 * @see gitformat-pack(5) */
export function decodeEntryHeader(bytes: Uint8Array, offset = 0): EntryHeader {
  let byte = byteAt(bytes, offset);
  const type = (byte >> 4) & 7;
  if (type === 0 || type === 5) throw corrupt(`an entry has type ${type}`);
  let sizeBytes = byte & 15;
  let at = offset + 1;
  for (let scale = 16; byte & 0x80; scale *= 128) {
    if (at - offset === MAX_ENTRY_HEADER_BYTES) throw corrupt("an entry's size overflows");
    byte = byteAt(bytes, at++);
    sizeBytes += (byte & 0x7f) * scale;
  }
  return { type: type as EntryType, sizeBytes, headerBytes: at - offset };
}

/** Encodes the distance from an ofs-delta's entry back to its base's entry.
 * @param distance a positive safe integer
 * @see gitformat-pack(5) "offset encoding" */
export function encodeOfsDistance(distance: number): Uint8Array {
  const encoded = new Uint8Array(ofsDistanceLength(distance));
  let rest = distance;
  for (let at = encoded.length - 1; at >= 0; at--) {
    encoded[at] = (rest % 128) | (at === encoded.length - 1 ? 0 : 0x80);
    // Each continuation adds one, so that no number has two encodings.
    rest = Math.floor(rest / 128) - 1;
  }
  return encoded;
}

/** Bytes of an encoded distance, 1 to 8. */
export function ofsDistanceLength(distance: number): number {
  let length = 1;
  for (let rest = Math.floor(distance / 128); rest > 0; rest = Math.floor((rest - 1) / 128)) length++;
  return length;
}

/** Decodes an ofs-delta's distance. The caller must check that an entry begins there.
 * @param offset of its first byte, after the entry's header
 * @returns the distance, at least 1, and its encoded length
 * @throws GitError "corrupt-pack" on distance 0, one of 2^53 or more, or fewer bytes
 * @see gitformat-pack(5) */
export function decodeOfsDistance(bytes: Uint8Array, offset = 0): { distance: number; lengthBytes: number } {
  let at = offset;
  let byte = byteAt(bytes, at++);
  let distance = byte & 0x7f;
  while (byte & 0x80) {
    byte = byteAt(bytes, at++);
    distance = (distance + 1) * 128 + (byte & 0x7f);
    if (distance > Number.MAX_SAFE_INTEGER) throw corrupt("a delta's distance overflows");
  }
  if (distance === 0) throw corrupt("a delta names itself as its base");
  return { distance, lengthBytes: at - offset };
}

function byteAt(bytes: Uint8Array, offset: number): number {
  const byte = bytes[offset];
  if (byte === undefined) throw corrupt("it ends inside an entry's header");
  return byte;
}

function corrupt(reason: string): GitError {
  return new GitError("corrupt-pack", { reason });
}
