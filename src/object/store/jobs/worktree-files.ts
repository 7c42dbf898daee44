// The files of a worktree, by path. Many share a row of table `worktree_files`, a page: the paths
// from its `first` to before the next page's; the first page also has all lower ones. Changes go
// first into `recent` in the worktree's own row, which overrides the pages. So a small push writes
// one row, wherever its files are. When `recent` is full, it is merged into the pages.
import { fromByteString, toByteString } from "../../../base/format/byte-string.ts";
import { checkLimit } from "../../../base/format/limits.ts";
import type { Sql } from "../sql/sql.ts";
import { decodeFiles, encodeFiles, GONE, sizeOf, sizeOfAll, type StoredFile } from "./worktree-records.ts";

/** Size limit of a page, unless a single file is larger: some 300 files. A search for one takes 0.2
 * ms. */
const PAGE_BYTES = 32_768;

/** Size limit of `recent`, which every change rewrites: some 150 files. */
const RECENT_BYTES = 16_384;

/** Limit of a path's bytes: a longer one fits no page, whose row has it twice. */
const MAX_PATH_BYTES = 500_000;

/** The bounds of a page. */
interface Fence {
  readonly first: Uint8Array;
  /** Exclusive upper bound of the page's paths, and lower bound of the next page's; null: it is the
   * last page. */
  readonly end: string | null;
}

/** The files of one worktree. Create it anew for each use, because it caches `recent`. */
export class WorktreeFiles {
  readonly #sql: Sql;
  readonly #id: number;
  readonly #recent: Map<string, StoredFile>;

  /** @param id id of the worktree, which must exist */
  constructor(sql: Sql, id: number) {
    this.#sql = sql;
    this.#id = id;
    const { recent } = sql.exec<{ recent: ArrayBuffer | null }>("SELECT recent FROM worktrees WHERE id = ?", id).one();
    this.#recent = byPath(recent === null ? [] : decodeFiles(recent));
  }

  /** Finds files, including those to be removed, in the order of their paths.
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

  /** Yields all files from a path on, including those to be removed, in the order of their paths.
   * Reads each page only when it is reached. */
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

  /** Yields the files with work left for their R2 objects, in the order of their paths, but recent
   * ones first.
   * @param count number of all such files: reading stops after them */
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

  /** Changes files. Must run in a transaction, whose caller stores the result.
   * @returns the worktree's `recent`
   * @throws GitError "too-large" for a path that fits no row */
  put(changed: readonly StoredFile[]): Uint8Array | null {
    for (const file of changed) {
      checkLimit("a path in a worktree (bytes)", MAX_PATH_BYTES, file.path.length);
      this.#recent.set(file.path, file);
    }
    let recent = [...this.#recent.values()].sort(compareFiles);
    // Without pages there is no file to hide, so `GONE` records are dropped.
    if (recent.some(({ source }) => source === GONE) && this.#fenceOf("") === null)
      recent = recent.filter(({ source }) => source !== GONE);
    if (recent.length === 0) return null;
    if (sizeOfAll(recent) <= RECENT_BYTES) return encodeFiles(recent);
    this.#writePages(recent);
    return null;
  }

  /** Removes all files permanently. */
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

  /** Writes files into their pages.
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

  /** Writes files as one page, or as several if they do not fit.
   * @param first first path of the page that they replace; null: none */
  #writePage(first: Uint8Array | null, files: readonly StoredFile[]): void {
    // A page keeps its `first`, unless it is the first page and has a lower path now.
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

  /** Finds the page of a path; null: there are none. */
  #fenceOf(path: string): Fence | null {
    const query = (rest: string, bound: Uint8Array): Uint8Array | null => {
      const rows = `SELECT first FROM worktree_files WHERE worktree = ? AND first ${rest} LIMIT 1`;
      const [row] = this.#sql.exec<{ first: ArrayBuffer }>(rows, this.#id, bound).toArray();
      return row === undefined ? null : new Uint8Array(row.first);
    };
    // Uses NUL for the lowest path, since no path contains one.
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

/** Merges a page's files and recent ones, both ascending by path; leaves out `GONE` files. */
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

/** Divides files evenly among pages of about `PAGE_BYTES` at most, unless a single file is
 * larger. */
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
