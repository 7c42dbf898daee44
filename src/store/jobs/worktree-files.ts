// The files of a worktree, by path. Many share a row of table `worktree_files`, a page: those from
// its `first` to before the next page's; the first page also has all lower ones. What changes is in
// the worktree's own row first, in `recent`, which comes before the pages. So a small push writes one
// row, wherever its files are. When `recent` is full, it is written into the pages.
//
// Pages and `recent` are one record after another, ascending by path:
//
//   how many bytes the path shares with the one before, how many follow, and these
//   source, zigzag; mode; the object id's bytes; size
//   the length of the ETag, 0: none; its bytes
//
// Integers are LEB128 varints.
import { fromByteString, toByteString } from "../../format/byte-string.ts";
import { GitError } from "../../format/errors.ts";
import { checkLimit } from "../../format/limits.ts";
import { type Oid, OID_BYTES } from "../../format/oid.ts";
import { VarintReader, VarintWriter } from "../sql/varints.ts";
import type { Sql } from "../sql/sql.ts";

/** A file of a worktree as it is stored. */
export interface StoredFile {
  /** Byte string. */
  readonly path: string;
  /** 0: the R2 object is this. A number: it must be made from this object. `REMOVED`, `GONE`. */
  readonly source: number;
  /** As the tree has it. */
  readonly mode: number;
  readonly oid: Oid;
  readonly sizeBytes: number;
  /** Of the R2 object; null unless it is this. */
  readonly etag: string | null;
}

/** The `source` of a file that must be removed. */
export const REMOVED = -1;

/** The `source` of a file that was removed, and is not a file of the worktree any more. Only in
 * `recent`, over a page that still has it. */
export const GONE = -2;

/** Bytes of a page, unless a single file takes more: some 300 files, of which one is
 * found in 0.2 ms. */
const PAGE_BYTES = 32_768;

/** Bytes of `recent`, which every change writes as a whole: some 150 files. */
const RECENT_BYTES = 16_384;

/** A longer path fits no page: its row has it twice. */
const MAX_PATH_BYTES = 500_000;

/** Bytes of a record but for its path and ETag, at most. */
const RECORD_BYTES = 46;

/** Characters of an ETag, unless the object was written in parts. */
const ETAG_BYTES = 32;

/** The place of a page. */
interface Fence {
  readonly first: Uint8Array;
  /** Its paths are below this one, and so are not the next page's; null: it is the last page. */
  readonly end: string | null;
}

/** The files of one worktree. Made anew for each use: it has `recent` in memory, as it was then. */
export class WorktreeFiles {
  readonly #sql: Sql;
  readonly #id: number;
  readonly #recent: Map<string, StoredFile>;

  /** @param id of the worktree, which exists */
  constructor(sql: Sql, id: number) {
    this.#sql = sql;
    this.#id = id;
    const { recent } = sql.exec<{ recent: ArrayBuffer | null }>("SELECT recent FROM worktrees WHERE id = ?", id).one();
    this.#recent = byPath(recent === null ? [] : decodeFiles(recent));
  }

  /** Finds files, with those to be removed, in the order of their paths.
   * @throws GitError "storage-failed" when a page is corrupt; the same below */
  find(paths: Iterable<string>): Map<string, StoredFile> {
    const found = new Map<string, StoredFile>();
    const sorted = [...new Set(paths)].sort();
    const stored = this.#inPages(sorted.filter((path) => !this.#recent.has(path)));
    for (const path of sorted) {
      const file = this.#recent.get(path) ?? stored.get(path);
      if (file !== undefined && file.source !== GONE) found.set(path, file);
    }
    return found;
  }

  /** Reads all files from a path on, with those to be removed, in the order of their paths. Reads a
   * page when it gets there. */
  *from(path: string): Generator<StoredFile> {
    const recent = [...this.#recent.values()].filter((file) => file.path >= path).sort(compareFiles);
    let next = 0;
    for (
      let fence = this.#fenceOf(path);
      fence !== null;
      fence = fence.end === null ? null : this.#fenceOf(fence.end)
    ) {
      const { end } = fence;
      const own: StoredFile[] = [];
      for (; next < recent.length && (end === null || recent[next]!.path < end); next++) own.push(recent[next]!);
      yield* merge(
        this.#readPage(fence.first).filter((file) => file.path >= path),
        own,
      );
    }
    for (; next < recent.length; next++) if (recent[next]!.source !== GONE) yield recent[next]!;
  }

  /** The files whose R2 objects are not right, in the order of their paths, but recent ones first.
   * @param count how many there are in all: what need not be read for them is not read */
  *pending(count: number): Generator<StoredFile> {
    let left = count;
    for (const file of [...this.#recent.values()].sort(compareFiles)) {
      if (file.source === 0 || file.source === GONE) continue;
      left -= 1;
      yield file;
    }
    let fence = left > 0 ? this.#fenceOf("") : null;
    for (; fence !== null && left > 0; fence = fence.end === null ? null : this.#fenceOf(fence.end)) {
      for (const file of this.#readPage(fence.first)) {
        if (file.source === 0 || this.#recent.has(file.path)) continue;
        left -= 1;
        yield file;
      }
    }
  }

  /** Changes files. Must run in a transaction, whose caller writes what this returns.
   * @returns the worktree's `recent`
   * @throws GitError "too-large" for a path that fits no row */
  put(changed: readonly StoredFile[]): Uint8Array | null {
    for (const file of changed) {
      checkLimit("a path in a worktree (bytes)", MAX_PATH_BYTES, file.path.length);
      this.#recent.set(file.path, file);
    }
    let recent = [...this.#recent.values()].sort(compareFiles);
    // Nothing is gone that was in no page.
    if (recent.some(({ source }) => source === GONE) && this.#fenceOf("") === null)
      recent = recent.filter(({ source }) => source !== GONE);
    if (recent.length === 0) return null;
    if (sizeOfAll(recent) <= RECENT_BYTES) return encodeFiles(recent);
    this.#writePages(recent);
    return null;
  }

  /** Removes all of them, for good. */
  clear(): void {
    this.#sql.exec("DELETE FROM worktree_files WHERE worktree = ?", this.#id);
  }

  /** @param sorted ascending */
  #inPages(sorted: readonly string[]): Map<string, StoredFile> {
    const found = new Map<string, StoredFile>();
    for (let i = 0; i < sorted.length;) {
      const fence = this.#fenceOf(sorted[i]!);
      if (fence === null) break;
      const page = byPath(this.#readPage(fence.first));
      for (; i < sorted.length && (fence.end === null || sorted[i]! < fence.end); i++) {
        const file = page.get(sorted[i]!);
        if (file !== undefined) found.set(file.path, file);
      }
    }
    return found;
  }

  /** Writes files into the pages where they belong.
   * @param files ascending by path */
  #writePages(files: readonly StoredFile[]): void {
    for (let i = 0; i < files.length;) {
      const fence = this.#fenceOf(files[i]!.path);
      const own: StoredFile[] = [];
      for (; i < files.length && ((fence?.end ?? null) === null || files[i]!.path < fence!.end!); i++)
        own.push(files[i]!);
      const all = [...merge(fence === null ? [] : this.#readPage(fence.first), own)];
      this.#writePage(fence?.first ?? null, all);
    }
  }

  /** Writes files as one page, or as several when they do not fit into it.
   * @param first of the page that they replace; null: none */
  #writePage(first: Uint8Array | null, files: readonly StoredFile[]): void {
    // A page stays where it is, unless it is the first, with a lower path now.
    const keeps = first !== null && files.length > 0 && toByteString(first) <= files[0]!.path;
    if (first !== null && !keeps)
      this.#sql.exec("DELETE FROM worktree_files WHERE worktree = ? AND first = ?", this.#id, first);
    for (const [i, page] of inPages(files).entries()) {
      this.#sql.exec(
        `INSERT INTO worktree_files (worktree, first, files) VALUES (?, ?, ?)
          ON CONFLICT (worktree, first) DO UPDATE SET files = excluded.files`,
        this.#id,
        i === 0 && keeps ? first : fromByteString(page[0]!.path),
        encodeFiles(page),
      );
    }
  }

  /** The page that a path belongs to; null: there are none. */
  #fenceOf(path: string): Fence | null {
    const query = (rest: string, bound: Uint8Array): Uint8Array | null => {
      const rows = `SELECT first FROM worktree_files WHERE worktree = ? AND first ${rest} LIMIT 1`;
      const [row] = this.#sql.exec<{ first: ArrayBuffer }>(rows, this.#id, bound).toArray();
      return row === undefined ? null : new Uint8Array(row.first);
    };
    // No path has a NUL: none is lower.
    const from = fromByteString(path === "" ? "\0" : path);
    const first = query("<= ? ORDER BY first DESC", from) ?? query("> ? ORDER BY first", from);
    if (first === null) return null;
    const end = query("> ? ORDER BY first", first);
    return { first, end: end === null ? null : toByteString(end) };
  }

  #readPage(first: Uint8Array): StoredFile[] {
    const query = "SELECT files FROM worktree_files WHERE worktree = ? AND first = ?";
    return decodeFiles(this.#sql.exec<{ files: ArrayBuffer }>(query, this.#id, first).one().files);
  }
}

function byPath(files: readonly StoredFile[]): Map<string, StoredFile> {
  return new Map(files.map((file) => [file.path, file]));
}

function compareFiles(a: StoredFile, b: StoredFile): number {
  return a.path < b.path ? -1 : a.path > b.path ? 1 : 0;
}

/** Joins a page's files and recent ones, both ascending by path; leaves out what is gone. */
function* merge(page: readonly StoredFile[], recent: readonly StoredFile[]): Generator<StoredFile> {
  let next = 0;
  for (const file of page) {
    for (; next < recent.length && recent[next]!.path < file.path; next++)
      if (recent[next]!.source !== GONE) yield recent[next]!;
    const isReplaced = recent[next]?.path === file.path;
    if (!isReplaced) yield file;
  }
  for (; next < recent.length; next++) if (recent[next]!.source !== GONE) yield recent[next]!;
}

/** Divides files evenly among pages of about `PAGE_BYTES` at most, unless a single file takes more. */
function inPages(files: readonly StoredFile[]): StoredFile[][] {
  const total = sizeOfAll(files);
  const share = total / Math.ceil(total / PAGE_BYTES);
  const pages: StoredFile[][] = [];
  let bytes = 0;
  for (const file of files) {
    if (pages.length === 0 || bytes + sizeOf(file) > share * pages.length) pages.push([]);
    bytes += sizeOf(file);
    pages.at(-1)!.push(file);
  }
  return pages;
}

/** Bytes of a file's record, at most; with an ETag, so that it does not grow when it is written. */
function sizeOf({ path, etag }: StoredFile): number {
  return RECORD_BYTES + path.length + Math.max(ETAG_BYTES, etag?.length ?? 0);
}

function sizeOfAll(files: readonly StoredFile[]): number {
  return files.reduce((sum, file) => sum + sizeOf(file), 0);
}

/** Encodes files, ascending by path. */
export function encodeFiles(files: readonly StoredFile[]): Uint8Array<ArrayBuffer> {
  const writer = new VarintWriter(sizeOfAll(files));
  let before = "";
  for (const { path, source, mode, oid, sizeBytes, etag } of files) {
    let shared = 0;
    while (shared < before.length && before.charCodeAt(shared) === path.charCodeAt(shared)) shared++;
    before = path;
    writer.varint(shared);
    writer.varint(path.length - shared);
    writer.bytes(fromByteString(path.slice(shared)));
    writer.zigzag(source);
    writer.varint(mode);
    writer.bytes(oid);
    writer.varint(sizeBytes);
    writer.varint(etag?.length ?? 0);
    if (etag !== null) writer.bytes(fromByteString(etag));
  }
  return writer.finish();
}

/** Reads what `encodeFiles` wrote.
 * @throws GitError "storage-failed" when it is corrupt */
export function decodeFiles(buffer: ArrayBuffer): StoredFile[] {
  const bytes = new Uint8Array(buffer);
  const reader = new VarintReader(bytes, 0, "worktree_files");
  // Parts of one string take a fifth of the time of many made from bytes.
  const text = toByteString(bytes);
  const take = (length: number): number => {
    reader.at += length;
    if (reader.at > bytes.length)
      throw new GitError("storage-failed", { key: "worktree_files", reason: "a page is cut" });
    return reader.at - length;
  };
  const takeText = (length: number): string => text.slice(take(length), reader.at);
  const files: StoredFile[] = [];
  let path = "";
  while (reader.at < bytes.length) {
    const shared = reader.varint();
    path = path.slice(0, shared) + takeText(reader.varint());
    const source = reader.zigzag();
    const mode = reader.varint();
    const start = take(OID_BYTES);
    const oid = bytes.subarray(start, reader.at);
    const sizeBytes = reader.varint();
    const etag = takeText(reader.varint());
    files.push({ path, source, mode, oid, sizeBytes, etag: etag === "" ? null : etag });
  }
  return files;
}
