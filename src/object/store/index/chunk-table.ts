import type { ChunkId } from "../../../base/numbers/kinds.ts";
import { GitError } from "../../../base/format/errors.ts";
import { equalOids } from "../../../base/format/oid.ts";
import type { Sql } from "../sql/sql.ts";
import type { ChunkRow, NewChunk, SealedRow } from "./chunk-row.ts";
import type { HotChunks } from "./hot-chunks.ts";
import type { ObjectIndex } from "./object-index.ts";
import { SealedChunks } from "./sealed-chunks.ts";

/** A chunk with the size of its used part. */
export interface ChunkUse extends ChunkRow {
  /** Bytes of the chunk's objects. */
  readonly usedBytes: number;
}

/** A chunk's new place. */
export interface SealedChunk {
  readonly id: ChunkId;
  /** Its offset in the R2 object, bytes. */
  readonly start: number;
}

/** Totals of the inline chunks. */
interface HotTotals {
  /** Bytes of all inline chunks. */
  readonly sizeBytes: number;
  /** Bytes of the chunks that maintenance assembled. */
  readonly mergedBytes: number;
  /** Number of chunks that are as they were pushed. */
  readonly unmerged: number;
}

/** The chunks. A chunk is hot while its bytes are inline (`HotChunks`). Later it is sealed into an
 * R2 object (`SealedChunks`), and may be moved to a larger one. Nothing else about it ever
 * changes.
 *
 * All rows are in memory after the first use. So a repository has one table, which must
 * `forget` after a transaction was rolled back. Writing methods must run in a transaction. */
export class ChunkTable {
  readonly #sql: Sql;
  readonly #objects: ObjectIndex;
  readonly #hot: HotChunks;
  readonly #sealed: SealedChunks;
  /** Key prefix of the repository's own R2 objects; null: not read yet. */
  #ownPrefix: string | null = null;
  /** The inline bytes that were read last. A walk down through directories reads the same chunk
   * for each level, and fresh copies from the database would be garbage each time. */
  #lastHot: WeakRef<{ readonly checksum: Uint8Array; readonly bytes: Uint8Array }> | null = null;

  /** @param objects the index of the same repository, which also caches the inline chunks */
  constructor(sql: Sql, objects: ObjectIndex) {
    this.#sql = sql;
    this.#objects = objects;
    this.#hot = objects.hot;
    this.#sealed = new SealedChunks(sql);
  }

  /** Clears the cache, which may differ from the table. The index clears its own. */
  forget(): void {
    this.#sealed.forget();
  }

  /** Id of the next inserted chunk. */
  nextId(): ChunkId {
    return Math.max(this.#hot.rows().at(-1)?.id ?? 0, this.#sealed.lastId()) + 1;
  }

  /** Inserts chunks; their ids count up from `nextId()`.
   * @throws GitError "too-large" when inline bytes do not fit into a row */
  insert(chunks: readonly NewChunk[], firstId = this.nextId()): void {
    const sealed: SealedRow[] = [];
    chunks.forEach(({ key, bytes, objects, ...chunk }, i) => {
      const row = { ...chunk, id: firstId + i, start: chunk.start ?? 0 };
      if (key !== null) return sealed.push({ ...row, key });
      // Updates the index before the table, because its cache may be read only now.
      if (objects !== null) this.#objects.noteUnfiled(row.id, objects);
      this.#hot.insert({ ...row, key }, objects, bytes!);
    });
    this.#sealed.put(sealed);
  }

  /** Finds a chunk; null: there is none with this id. */
  find(id: ChunkId): ChunkRow | null {
    return this.#hot.all().get(id)?.row ?? this.#sealed.find(id);
  }

  /** Finds the chunks with these ids, ascending, each once.
   * @throws GitError "storage-failed" when one is missing */
  byIds(ids: Iterable<ChunkId>): ChunkRow[] {
    const wanted = [...new Set(ids)].sort((a, b) => a - b);
    const rows = wanted.map((id) => this.find(id)).filter((row) => row !== null);
    if (rows.length !== wanted.length) throw damaged(`has ${rows.length} of ${wanted.length} chunks`);
    return rows;
  }

  /** Lists all chunks, by the numbers of their objects. */
  allInOrder(): ChunkRow[] {
    return inOrder([...this.#hot.rows(), ...this.#sealed.all()]);
  }

  /** Finds the chunk with the next higher id; null: none. */
  next(afterId: number): ChunkRow | null {
    const hot = this.#hot.rows().find(({ id }) => id > afterId) ?? null;
    const sealed = this.#sealed.next(afterId);
    return hot !== null && (sealed === null || hot.id < sealed.id) ? hot : sealed;
  }

  /** Size of all chunks, bytes. */
  totalBytes(): number {
    return this.hot().sizeBytes + this.#sealed.sizeBytes();
  }

  /** Bytes of the chunks in R2 objects of other repositories. */
  sharedBytes(): number {
    const sizes = this.#sealed.bytesByKey().entries();
    return sizes.reduce((sum, [key, bytes]) => sum + (this.#isOwn(key) ? 0 : bytes), 0);
  }

  /** Totals of the inline chunks. */
  hot(): HotTotals {
    const totals = { sizeBytes: 0, mergedBytes: 0, unmerged: 0 };
    for (const { size, packOffset } of this.#hot.rows()) {
      totals.sizeBytes += size;
      if (packOffset === 0) totals.mergedBytes += size;
      else totals.unmerged += 1;
    }
    return totals;
  }

  /** Lists the first chunks, by number, that are inline as they were pushed. */
  unmerged(limit: number): ChunkRow[] {
    return inOrder(this.#hot.rows().filter(({ packOffset }) => packOffset > 0)).slice(0, limit);
  }

  /** Totals of the repository's own R2 objects whose chunks use less than `limitBytes`. */
  objectsBelow(limitBytes: number): { count: number; sizeBytes: number } {
    const found = { count: 0, sizeBytes: 0 };
    for (const [key, sizeBytes] of this.#sealed.bytesByKey()) {
      if (sizeBytes >= limitBytes || !this.#isOwn(key)) continue;
      found.count += 1;
      found.sizeBytes += sizeBytes;
    }
    return found;
  }

  /** Lists the chunks, by number, that are inline and repacked, or in own R2 objects whose
   * chunks use less than `smallBytes`. */
  sealable(smallBytes: number): ChunkRow[] {
    const bytes = this.#sealed.bytesByKey();
    const isSmall = ({ key }: SealedRow): boolean => bytes.get(key)! < smallBytes && this.#isOwn(key);
    const merged = this.#hot.rows().filter(({ packOffset }) => packOffset === 0);
    return inOrder([...merged, ...this.#sealed.all().filter(isSmall)]);
  }

  /** Reads the inline bytes of a chunk, which must not be changed; null: the chunk was sealed.
   * @throws GitError "storage-failed" when there is no such chunk, or its bytes are truncated */
  hotBytesOf(id: ChunkId): Uint8Array | null {
    const row = this.find(id);
    if (row !== null && row.key !== null) return null;
    const last = this.#lastHot?.deref();
    if (row !== null && last !== undefined && equalOids(last.checksum, row.checksum)) return last.bytes;
    const bytes = this.#hot.bytesOf(id);
    if (row === null || bytes?.length !== row.size) throw damaged(`chunk ${id} has no bytes`);
    this.#lastHot = new WeakRef({ checksum: row.checksum, bytes });
    return bytes;
  }

  /** Records that chunks are now in one R2 object, and drops their inline bytes. Object rows stay
   * unchanged.
   * @throws GitError "storage-failed" when a chunk is missing, or its index is still beside
   *   it */
  seal(key: string, chunks: readonly SealedChunk[]): void {
    const hot = new Set<ChunkId>();
    const sealed = chunks.map(({ id, start }): SealedRow => {
      const row = this.find(id);
      if (row === null) throw damaged(`chunk ${id} is missing`);
      if (this.#objects.besideChunk(id) !== null) throw damaged(`chunk ${id} has the index of its objects`);
      if (row.key === null) hot.add(id);
      return { ...row, key, start };
    });
    this.#hot.remove(hot);
    this.#sealed.put(sealed.sort((a, b) => a.id - b.id));
  }

  /** Lists the chunks that are not whole, with the size of their objects. Reads all object rows
   * within their ranges. */
  unwhole(): ChunkUse[] {
    return [...this.#hot.rows(), ...this.#sealed.all()]
      .filter(({ whole }) => !whole)
      .map((row) => ({ ...row, usedBytes: this.#objects.bytesIn(row.id, row.firstNumber, row.lastNumber) }));
  }

  /** Removes those of the chunks without any object, and marks the others as not whole. */
  release(ids: Iterable<ChunkId>): void {
    const gone = new Set<ChunkId>();
    const left: SealedRow[] = [];
    for (const row of this.byIds(ids)) {
      if (this.#objects.inChunk(row.id, row.firstNumber, row.lastNumber).size === 0) gone.add(row.id);
      else if (row.key !== null) left.push({ ...row, key: row.key, whole: false });
      else this.#hot.change(row.id, false, this.#objects.besideChunk(row.id));
    }
    this.#hot.remove(gone);
    this.#sealed.remove(gone);
    this.#sealed.put(left);
  }

  /** Whether a chunk is in this R2 object. Below the repository's chunk prefix, an R2 object
   * without chunks is garbage. */
  hasKey(key: string): boolean {
    return this.#sealed.bytesByKey().has(key);
  }

  /** Whether this repository wrote an R2 object. */
  #isOwn(key: string): boolean {
    this.#ownPrefix ??= `${this.#sql.exec<{ key: string }>("SELECT key FROM repository").one().key}/`;
    return key.startsWith(this.#ownPrefix);
  }

  /** Lists all R2 objects that contain chunks. */
  keys(): Set<string> {
    return new Set(this.#sealed.bytesByKey().keys());
  }
}

/** Sorts rows by the numbers of their objects. */
function inOrder(rows: ChunkRow[]): ChunkRow[] {
  return rows.sort((a, b) => a.firstNumber - b.firstNumber || a.id - b.id);
}

function damaged(reason: string): GitError {
  return new GitError("storage-failed", { key: "chunks", reason });
}
