import { OID_BYTES } from "../format/oid.ts";
import {
  decodeEntryHeader,
  decodeOfsDistance,
  encodeEntryHeader,
  encodeOfsDistance,
  type EntryType,
  OFS_DELTA,
  REF_DELTA,
} from "../format/pack.ts";

/** The part of an entry before its zlib stream. */
interface EntryHead {
  readonly type: EntryType;
  /** Inflated size of the entry's own data. */
  readonly sizeBytes: number;
  /** The offset of the zlib stream: after the header and, in a delta, the name of its base. */
  readonly dataOffset: number;
}

/** Reads an entry's head.
 * @param bytes from the entry's first byte on
 * @throws GitError "corrupt-pack" @see gitformat-pack(5) */
export function decodeEntryHead(bytes: Uint8Array): EntryHead {
  const { type, sizeBytes, headerBytes } = decodeEntryHeader(bytes);
  let dataOffset = headerBytes;
  if (type === OFS_DELTA) dataOffset += decodeOfsDistance(bytes, headerBytes).lengthBytes;
  else if (type === REF_DELTA) dataOffset += OID_BYTES;
  return { type, sizeBytes, dataOffset };
}

/** Makes the head of a delta of `sizeBytes` whose base is `distance` bytes before it. */
export function encodeOfsHead(sizeBytes: number, distance: number): Uint8Array {
  return joined(encodeEntryHeader(OFS_DELTA, sizeBytes), encodeOfsDistance(distance));
}

/** Makes the head of a delta of `sizeBytes` whose base is named by its id. */
export function encodeRefHead(sizeBytes: number, base: Uint8Array): Uint8Array {
  return joined(encodeEntryHeader(REF_DELTA, sizeBytes), base);
}

function joined(header: Uint8Array, base: Uint8Array): Uint8Array {
  const head = new Uint8Array(header.length + base.length);
  head.set(header);
  head.set(base, header.length);
  return head;
}
