// ZIP records. A library takes a millisecond for each file, and only a tenth of that is the
// compression.
import { decodeText, encodeText, writeByteString } from "./byte-string.ts";

/** Values from here on are written in 64 bits. */
const MAX_32 = 0xffff_ffff;
const MAX_16 = 0xffff;

/** Size from which a streamed entry is prepared for more than 32 bits, because deflate may
 * enlarge it a little. */
const STREAM_64_BYTES = 0xf000_0000;

/** Versions needed to extract: for deflated entries, and for 64 bits. */
const VERSION = { plain: 20, zip64: 45 };

/** Unix, specification version 2.3: the upper half of the attributes is a mode. */
const MADE_BY = 0x0317;

const FLAG = { descriptor: 0x0008, utf8: 0x0800 };

/** An entry of a ZIP. */
export interface ZipEntry {
  /** Byte string; a directory's ends in "/". */
  readonly path: string;
  /** Kind and permissions, as in Unix. */
  readonly mode: number;
  readonly timeSeconds: number;
  /** Whether its content is deflated. */
  readonly isDeflated: boolean;
  /** Whether sizes and checksum follow the content. */
  readonly isStreamed: boolean;
  /** Inflated size. */
  readonly sizeBytes: number;
  /** Size within the ZIP; 0 in a streamed entry's header. */
  readonly storedBytes: number;
  readonly crc32: number;
}

/** A field of a record: its value and its length. */
type Field = readonly [value: number, bytes: 1 | 2 | 4 | 8];

/** Encodes the header before an entry's content.
 * @see APPNOTE.TXT 4.3.7 */
export function encodeZipHeader(entry: ZipEntry): Uint8Array {
  const { path, timeSeconds, isStreamed, sizeBytes, storedBytes } = entry;
  const is64 = isStreamed ? sizeBytes >= STREAM_64_BYTES : Math.max(sizeBytes, storedBytes) >= MAX_32;
  const marker = is64 ? MAX_32 : 0;
  const extra = [...timeField(timeSeconds), ...(is64 ? zip64Field([isStreamed ? 0 : sizeBytes, storedBytes]) : [])];
  return encode(
    [
      [0x04034b50, 4],
      [is64 ? VERSION.zip64 : VERSION.plain, 2],
      ...commonFields(entry),
      [isStreamed ? 0 : entry.crc32, 4],
      [marker || (isStreamed ? 0 : storedBytes), 4],
      [marker || (isStreamed ? 0 : sizeBytes), 4],
      [path.length, 2],
      [bytesOf(extra), 2],
    ],
    path,
    extra,
  );
}

/** Encodes the descriptor after the content of a streamed entry.
 * @see APPNOTE.TXT 4.3.9 */
export function encodeZipDescriptor({ sizeBytes, storedBytes, crc32 }: ZipEntry): Uint8Array {
  const bytes = sizeBytes >= STREAM_64_BYTES ? 8 : 4;
  return encode([
    [0x08074b50, 4],
    [crc32, 4],
    [storedBytes, bytes],
    [sizeBytes, bytes],
  ]);
}

/** Encodes an entry of the central directory at the end.
 * @param offset of the entry's header in the ZIP
 * @see APPNOTE.TXT 4.3.12 */
export function encodeZipDirectoryEntry(entry: ZipEntry, offset: number): Uint8Array {
  const { path, mode, timeSeconds, sizeBytes, storedBytes } = entry;
  const large = [sizeBytes, storedBytes, offset].filter((value) => value >= MAX_32);
  const extra = [...timeField(timeSeconds), ...(large.length > 0 ? zip64Field(large) : [])];
  return encode(
    [
      [0x02014b50, 4],
      [MADE_BY, 2],
      [large.length > 0 ? VERSION.zip64 : VERSION.plain, 2],
      ...commonFields(entry),
      [entry.crc32, 4],
      [Math.min(storedBytes, MAX_32), 4],
      [Math.min(sizeBytes, MAX_32), 4],
      [path.length, 2],
      [bytesOf(extra), 2],
      // No comment, first disk, no text.
      [0, 2],
      [0, 2],
      [0, 2],
      // DOS attributes: only directories have one.
      [mode * 0x10000 + (path.endsWith("/") ? 0x10 : 0), 4],
      [Math.min(offset, MAX_32), 4],
    ],
    path,
    extra,
  );
}

/** Encodes the end of a ZIP, after the central directory.
 * @param count of entries
 * @param start of the directory in the ZIP
 * @param comment byte string
 * @see APPNOTE.TXT 4.3.14 to 4.3.16 */
export function encodeZipEnd(count: number, start: number, sizeBytes: number, comment: string): Uint8Array {
  const is64 = count >= MAX_16 || start >= MAX_32 || sizeBytes >= MAX_32;
  const end64: Field[] = [
    [0x06064b50, 4],
    [44, 8],
    [MADE_BY, 2],
    [VERSION.zip64, 2],
    [0, 4],
    [0, 4],
    [count, 8],
    [count, 8],
    [sizeBytes, 8],
    [start, 8],
    [0x07064b50, 4],
    [0, 4],
    [start + sizeBytes, 8],
    [1, 4],
  ];
  return encode(
    [
      ...(is64 ? end64 : []),
      [0x06054b50, 4],
      [0, 2],
      [0, 2],
      [Math.min(count, MAX_16), 2],
      [Math.min(count, MAX_16), 2],
      [Math.min(sizeBytes, MAX_32), 4],
      [Math.min(start, MAX_32), 4],
      [comment.length, 2],
    ],
    comment,
  );
}

/** The fields that both records of an entry have: flags, method and time. */
function commonFields({ path, isDeflated, isStreamed, timeSeconds }: ZipEntry): Field[] {
  const isUtf8 = /[^\0-\x7f]/.test(path) && encodeText(decodeText(path)) === path;
  const date = new Date(timeSeconds * 1_000);
  // DOS has years from 1980 to 2107, and no time zones.
  const year = Math.min(Math.max(date.getUTCFullYear() - 1980, 0), 127);
  return [
    [(isStreamed ? FLAG.descriptor : 0) | (isUtf8 ? FLAG.utf8 : 0), 2],
    [isDeflated ? 8 : 0, 2],
    [(date.getUTCHours() << 11) | (date.getUTCMinutes() << 5) | (date.getUTCSeconds() >> 1), 2],
    [(year << 9) | ((date.getUTCMonth() + 1) << 5) | date.getUTCDate(), 2],
  ];
}

/** Encodes seconds since 1970, if they fit into 32 bits.
 * @see Info-ZIP's extended timestamp, 0x5455 */
function timeField(timeSeconds: number): Field[] {
  if (timeSeconds > 0x7fff_ffff) return [];
  return [
    [0x5455, 2],
    [5, 2],
    // Flags: only the modification time, of three possible times.
    [1, 1],
    [timeSeconds, 4],
  ];
}

/** @see APPNOTE.TXT 4.5.3 */
function zip64Field(values: readonly number[]): Field[] {
  return [[0x0001, 2], [values.length * 8, 2], ...values.map((value): Field => [value, 8])];
}

function bytesOf(fields: readonly Field[]): number {
  return fields.reduce((sum, [, bytes]) => sum + bytes, 0);
}

function encode(fields: readonly Field[], name = "", extra: readonly Field[] = []): Uint8Array {
  const record = new Uint8Array(bytesOf(fields) + name.length + bytesOf(extra));
  const view = new DataView(record.buffer);
  let at = 0;
  const write = ([value, bytes]: Field): void => {
    if (bytes === 1) view.setUint8(at, value);
    else if (bytes === 2) view.setUint16(at, value, true);
    else if (bytes === 4) view.setUint32(at, value, true);
    else view.setBigUint64(at, BigInt(value), true);
    at += bytes;
  };
  fields.forEach(write);
  at = writeByteString(name, record, at);
  extra.forEach(write);
  return record;
}
