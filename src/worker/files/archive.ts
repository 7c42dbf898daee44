import { toByteString, CR, LF, fromByteString } from "../../base/format/byte-string.ts";
import { isDirectory } from "../../base/format/tar.ts";
import { checkLimit, MAX_ARCHIVE_PATH_BYTES, MAX_OMITTED_PATHS, MAX_SUBST_BYTES } from "../../base/format/limits.ts";
import { CONVERT } from "../../contract/files.ts";
import { SYMLINK_MODE, TREE_MODE } from "../../base/format/tree.ts";
import type { StoredLfsObject } from "../../contract/lfs.ts";
import { expandFormats } from "./export-subst.ts";
import { type PlannedFile, readPieces, readWhole } from "./planned-files.ts";

/** An entry of an archive. */
export interface ArchiveEntry {
  /** Byte string, with the archive's prefix. A directory's path ends in "/". */
  readonly path: string;
  readonly mode: number;
  /** Hex; for an LFS object, the id of that object. */
  readonly oid: string;
  /** Bytes of `content`. */
  readonly sizeBytes: number;
  /** Byte string, for a symbolic link. */
  readonly target: string;
  /** A file's content. Must be consumed before the next entry is requested; each piece is valid
   * only until the next one is. */
  readonly content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** The input of an archive. */
interface ArchiveSource {
  /** The commit's time in seconds. Every entry gets it. */
  readonly timeSeconds: number;
  /** Hex. */
  readonly commit: string;
  readonly tree: string;
  /** Byte string prepended to all paths. */
  readonly prefix: string;
  readonly files: AsyncIterable<PlannedFile>;
  readonly openLfs: (object: StoredLfsObject) => Promise<ReadableStream<Uint8Array>>;
}

/** An archive whose entries are read one by one, as they are requested. */
export interface Archive extends Pick<ArchiveSource, "timeSeconds" | "commit"> {
  readonly entries: AsyncIterable<ArchiveEntry>;
}

/** Bytes that an entry counts for, in addition to its path. */
const ENTRY_BYTES = 64;

/** The cost of an empty directory, in left-out files. */
const FILES_PER_DIRECTORY = 5;

const NOTHING = { sizeBytes: 0, target: "", content: [] };

/** Opens an archive and reads its first file. Until then a failure can still be an error response.
 * @throws GitError as `archiveEntries` */
export async function openArchive(source: ArchiveSource): Promise<Archive> {
  const { timeSeconds, commit, tree, prefix } = source;
  const entries = archiveEntries(source);
  const first = await entries.next();
  const all = async function* (): AsyncGenerator<ArchiveEntry, void, void> {
    if (prefix.endsWith("/")) yield { path: prefix.replace(/\/+$/, "/"), mode: TREE_MODE, oid: tree, ...NOTHING };
    if (first.done === true) return;
    yield first.value;
    yield* entries;
  };
  return { timeSeconds, commit, entries: all() };
}

/** Yields the entries that git puts into an archive, in git's order. A directory is included once a
 * file in it is met, even if that file is left out. A submodule is an empty directory.
 * @throws GitError "too-large" when there are too many paths, or too many consecutive ones are left
 * out
 * @see git's archive.c: write_archive_entries() */
async function* archiveEntries({ prefix, files, openLfs }: ArchiveSource): AsyncGenerator<ArchiveEntry, void, void> {
  /** Directories in which no file was met so far; each is inside the previous one. */
  let waiting: ArchiveEntry[] = [];
  let pathBytes = 0;
  /** Paths left out since the last one that was included. */
  let omitted = 0;
  for await (const file of files) {
    pathBytes += file.path.length + ENTRY_BYTES;
    checkLimit("an archive's paths (bytes)", MAX_ARCHIVE_PATH_BYTES, pathBytes);
    const path = prefix + file.path;
    const { mode, oid } = file;
    // Each directory is inside the previous ones, so a path in the last one is in all of them.
    while (waiting.length > 0 && !path.startsWith(waiting.at(-1)!.path)) waiting.pop();
    omitted += path.endsWith("/") ? FILES_PER_DIRECTORY : 1;
    checkLimit("consecutive paths that an archive leaves out", MAX_OMITTED_PATHS, omitted);
    if (path.endsWith("/")) {
      waiting.push({ path, mode, oid, ...NOTHING });
      continue;
    }
    yield* waiting;
    waiting = [];
    if ((file.conversion & CONVERT.omit) !== 0) continue;
    omitted = 0;
    if (isDirectory(mode)) yield { path: `${path}/`, mode, oid, ...NOTHING };
    else yield file.lfs === null ? await toEntry(path, file) : toLfsEntry(path, file, file.lfs, openLfs);
  }
}

async function toEntry(path: string, file: PlannedFile): Promise<ArchiveEntry> {
  const { mode, oid, sizeBytes, conversion, subst } = file;
  if (mode === SYMLINK_MODE) {
    const target = await readWhole(file);
    return { path, mode, oid, sizeBytes, target: toByteString(target), content: [target] };
  }
  const plain: ArchiveEntry = { path, mode, oid, sizeBytes, target: "", content: readPieces(file) };
  if (conversion === 0) return plain;
  const isExpanded = (conversion & CONVERT.subst) !== 0 && sizeBytes <= MAX_SUBST_BYTES && subst !== null;
  // A large file stays in pieces if no other conversion applies.
  if (conversion === CONVERT.subst && !isExpanded) return plain;
  const own = convertFile(await readWhole(file), conversion, oid);
  const converted = isExpanded ? expandFormats(own, subst) : own;
  return { path, mode, oid, sizeBytes: converted.length, target: "", content: [converted] };
}

/** Replaces the blob of a pointer file by its LFS object, unconverted. */
function toLfsEntry(
  path: string,
  { mode }: PlannedFile,
  object: StoredLfsObject,
  openLfs: ArchiveSource["openLfs"],
): ArchiveEntry {
  const { oid, sizeBytes } = object;
  const read = async function* () {
    if (sizeBytes > 0) yield* await openLfs(object);
  };
  return { path, mode, oid, sizeBytes, target: "", content: read() };
}

const DEL = 127;

/** Converts a file's content as git does at checkout.
 * @param conversion bits of `CONVERT`
 * @param oid of the file, hex
 * @see gitattributes(5) "Checking-out and checking-in", git's convert.c:
 * convert_to_working_tree_ca_internal() */
function convertFile(content: Uint8Array, conversion: number, oid: string): Uint8Array {
  const identified = (conversion & CONVERT.ident) === 0 ? content : expandIdent(content, oid);
  if ((conversion & (CONVERT.crlf | CONVERT.autoCrlf)) === 0) return identified;
  const { loneLf, loneCr, crlf, isBinary } = countLineEnds(identified);
  if (loneLf === 0) return identified;
  const isAuto = (conversion & CONVERT.autoCrlf) !== 0;
  if (isAuto && (loneCr > 0 || crlf > 0 || isBinary)) return identified;
  const converted = new Uint8Array(identified.length + loneLf);
  let end = 0;
  identified.forEach((byte, at) => {
    if (byte === LF && identified[at - 1] !== CR) converted[end++] = CR;
    converted[end++] = byte;
  });
  return converted;
}

/** @see git's convert.c: ident_to_worktree() */
function expandIdent(content: Uint8Array, oid: string): Uint8Array {
  // An `$Id$` that another system expanded, or that contains other text, stays.
  const expanded = toByteString(content).replace(/\$Id(?:\$|:([^$\n]*)\$)/g, (whole, inner: string | undefined) => {
    const isForeign = inner !== undefined && inner.indexOf(" ", 1) >= 0 && inner.indexOf(" ", 1) < inner.length - 1;
    return isForeign ? whole : `$Id: ${oid} $`;
  });
  return fromByteString(expanded);
}

/** @see git's convert.c: gather_stats(), convert_is_binary() */
function countLineEnds(content: Uint8Array): { loneLf: number; loneCr: number; crlf: number; isBinary: boolean } {
  let [loneLf, loneCr, crlf, printable, nonPrintable, nul] = [0, 0, 0, 0, 0, 0];
  for (let at = 0; at < content.length; at++) {
    const byte = content[at]!;
    if (byte === CR && content[at + 1] === LF) {
      crlf++;
      at++;
    } else if (byte === CR) loneCr++;
    else if (byte === LF) loneLf++;
    else if (byte === DEL) nonPrintable++;
    // Backspace, tab, escape and form feed occur in text.
    else if (byte >= 32 || byte === 8 || byte === 9 || byte === 27 || byte === 12) printable++;
    else {
      nonPrintable++;
      if (byte === 0) nul++;
    }
  }
  // A trailing end-of-file character (Ctrl-Z) is allowed.
  if (content.at(-1) === 26) nonPrintable--;
  return { loneLf, loneCr, crlf, isBinary: loneCr > 0 || nul > 0 || printable >> 7 < nonPrintable };
}
