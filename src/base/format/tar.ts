// Tar, byte for byte as git writes it. Libraries differ in uid, names, and the use of extended
// headers.
import { fromByteString, writeByteString } from "./byte-string.ts";
import { GITLINK_MODE, isExecutable, SYMLINK_MODE, TREE_MODE } from "./tree.ts";

/** Bytes of a tar record: entries are padded to a multiple. */
const RECORD_BYTES = 512;

/** Bytes of a tar block: the archive is padded to a multiple. */
const BLOCK_BYTES = 20 * RECORD_BYTES;

/** Permissions removed from extracted files. @see git-archive(1) "tar.umask" */
const UMASK = 0o002;

/** Limit of a size and of a time in a header. */
const MAX_OCTAL = 0o77777777777;

/** Mode of headers that are not entries. */
const HEADER_MODE = 0o100666;

/** An entry to write; texts are byte strings. */
interface TarEntry {
  /** Path; a directory's ends in "/". */
  readonly path: string;
  /** Mode as in a tree. */
  readonly mode: number;
  /** Hex: used to name entries whose name is too long for the header. */
  readonly oid: string;
  readonly sizeBytes: number;
  /** Target of a symbolic link. */
  readonly target: string;
}

/** Encodes the header before all entries: the commit's id.
 * @param timeSeconds time of the commit
 * @see git's archive-tar.c: write_global_extended_header() */
export function encodeTarStart(commit: string, timeSeconds: number): Uint8Array {
  const late = timeSeconds > MAX_OCTAL ? encodeRecord("mtime", String(timeSeconds)) : "";
  return encodeExtended("g", "pax_global_header", `${encodeRecord("comment", commit)}${late}`, timeSeconds);
}

/** Encodes the header before an entry's content; an entry that is not a file consists of it.
 * @see git's archive-tar.c: write_tar_entry() */
export function encodeTarEntry({ path, mode, oid, sizeBytes, target }: TarEntry, timeSeconds: number): Uint8Array {
  let records = "";
  const header = { name: path, prefix: "", link: target, type: "0", mode: 0, sizeBytes };
  if (path.length > 100) {
    const prefixLength = path.lastIndexOf("/", Math.min(path.length - 1 - Number(path.endsWith("/")), 154));
    header.prefix = path.slice(0, Math.max(prefixLength, 0));
    header.name = path.slice(prefixLength + 1);
    if (prefixLength <= 0 || header.name.length > 100) {
      header.prefix = "";
      header.name = `${oid}.data`;
      records += encodeRecord("path", path);
    }
  }
  if (isDirectory(mode)) {
    Object.assign(header, { type: "5", mode: 0o777 & ~UMASK, sizeBytes: 0 });
  } else if (mode === SYMLINK_MODE) {
    Object.assign(header, { type: "2", mode: 0o777, sizeBytes: 0 });
    if (target.length > 100) {
      header.link = `see ${oid}.paxheader`;
      records += encodeRecord("linkpath", target);
    }
  } else {
    header.mode = (mode | (isExecutable(mode) ? 0o777 : 0o666)) & ~UMASK & 0o7777;
    if (sizeBytes > MAX_OCTAL) {
      header.sizeBytes = 0;
      records += encodeRecord("size", String(sizeBytes));
    }
  }
  const encoded = encodeHeader(header, timeSeconds);
  if (records === "") return encoded;
  const extended = encodeExtended("x", `${oid}.paxheader`, records, timeSeconds);
  const both = new Uint8Array(extended.length + encoded.length);
  both.set(extended);
  both.set(encoded, extended.length);
  return both;
}

/** Makes the padding after an entry's content. */
export function encodeTarPadding(sizeBytes: number): Uint8Array {
  return new Uint8Array((RECORD_BYTES - (sizeBytes % RECORD_BYTES)) % RECORD_BYTES);
}

/** Makes the end of an archive: at least two empty records, up to the end of a block.
 * @param sizeBytes bytes of everything before */
export function encodeTarEnd(sizeBytes: number): Uint8Array {
  const tail = BLOCK_BYTES - (sizeBytes % BLOCK_BYTES);
  return new Uint8Array(tail < 2 * RECORD_BYTES ? tail + BLOCK_BYTES : tail);
}

/** Whether an archive contains an entry of this mode as a directory; submodules are empty
 * directories. */
export function isDirectory(mode: number): boolean {
  return mode === TREE_MODE || mode === GITLINK_MODE;
}

/** Fields of a header; texts are byte strings. */
interface HeaderFields {
  readonly name: string;
  readonly prefix: string;
  readonly link: string;
  readonly type: string;
  readonly mode: number;
  readonly sizeBytes: number;
}

/** @see POSIX.1-2001, "ustar Interchange Format" */
function encodeHeader(fields: HeaderFields, timeSeconds: number): Uint8Array {
  const header = new Uint8Array(RECORD_BYTES);
  const octal = (value: number, length: number): string => value.toString(8).padStart(length, "0");
  writeByteString(fields.name, header, 0);
  writeByteString(octal(fields.mode, 7), header, 100);
  writeByteString(octal(0, 7), header, 108);
  writeByteString(octal(0, 7), header, 116);
  writeByteString(octal(fields.sizeBytes, 11), header, 124);
  writeByteString(octal(Math.min(timeSeconds, MAX_OCTAL), 11), header, 136);
  // The checksum field itself counts as spaces.
  writeByteString(" ".repeat(8), header, 148);
  writeByteString(fields.type, header, 156);
  writeByteString(fields.link, header, 157);
  writeByteString("ustar\0" + "00", header, 257);
  writeByteString("root", header, 265);
  writeByteString("root", header, 297);
  writeByteString(octal(0, 7), header, 329);
  writeByteString(octal(0, 7), header, 337);
  writeByteString(fields.prefix, header, 345);
  const sum = header.reduce((total, byte) => total + byte, 0);
  writeByteString(`${octal(sum, 7)}\0`, header, 148);
  return header;
}

/** Encodes an extended header, with records as its padded content. */
function encodeExtended(type: "g" | "x", name: string, records: string, timeSeconds: number): Uint8Array {
  const sizeBytes = records.length;
  const fields = { name, prefix: "", link: "", type, mode: HEADER_MODE & 0o7777, sizeBytes };
  const padding = encodeTarPadding(sizeBytes);
  const encoded = new Uint8Array(RECORD_BYTES + sizeBytes + padding.length);
  encoded.set(encodeHeader(fields, timeSeconds));
  encoded.set(fromByteString(records), RECORD_BYTES);
  return encoded;
}

/** Encodes "<length> <keyword>=<value>" and a newline; the length counts itself. */
function encodeRecord(keyword: string, value: string): string {
  const rest = ` ${keyword}=${value}\n`;
  let length = rest.length + 1;
  while (String(length).length + rest.length > length) length += 1;
  return `${length}${rest}`;
}
