import type { ChunkId, ObjectNumber } from "../numbers/kinds.ts";
import { GitError } from "../../format/errors.ts";
import { BLOB_MAX_BYTES, type Sql } from "../sql/sql.ts";
import type { ObjectIndex } from "./object-index.ts";

/** A chunk to insert: a run of whole entries, contiguous in the pack of one push, or assembled by
 * maintenance. */
export interface NewChunk {
  /** R2 object; null: `bytes` are stored inline. */
  readonly key: string | null;
  /** Offset of the chunk in the R2 object, bytes; default: 0. */
  readonly start?: number;
  /** The chunk's bytes, at most `BLOB_MAX_BYTES`; null: they are in R2. */
  readonly bytes: Uint8Array | null;
  /** Size of the chunk, bytes. */
  readonly size: number;
  /** SHA-1 of the chunk's bytes. */
  readonly checksum: Uint8Array;
  /** Id of its push; if there are several, of the newest. */
  readonly push: number;
  /** Offset of its first byte in that push's pack. Never 0 there, because of the pack's header: 0
   * means that it was assembled later. */
  readonly packOffset: number;
  /** The objects in it have numbers from this one to `lastNumber`. */
  readonly firstNumber: ObjectNumber;
  readonly lastNumber: ObjectNumber;
  /** Every byte belongs to an indexed object, and entries are in the order of their numbers, none
   * before its delta base. */
  readonly whole: boolean;
  /** Lowest object number that an OFS delta in this chunk is based on; 0: none. */
  readonly ofsFloor: ObjectNumber;
  /** Lowest object number that any delta in this chunk is based on; 0: none. */
  readonly baseFloor: ObjectNumber;
  /** The index of its objects, from `encodeObjectPage`, if it is kept beside the chunk; null: it is
   * in `ObjectPages`. */
  readonly objects: Uint8Array | null;
}

/** A chunk's row, without its bytes. */
export interface ChunkRow extends Omit<NewChunk, "bytes" | "objects"> {
  readonly id: ChunkId;
  /** Offset of the chunk in the R2 object, bytes; 0 while hot. */
  readonly start: number;
}

/** A chunk, and how much of it is in use. */
export interface ChunkUse extends ChunkRow {
  /** Bytes of the objects in it. */
  readonly usedBytes: number;
}

/** A chunk's new place. */
export interface SealedChunk {
  readonly id: ChunkId;
  /** Its offset in the R2 object, bytes. */
  readonly start: number;
}

/** Totals of the inline chunks. */
export interface HotChunks {
  /** Bytes of all of them. */
  readonly sizeBytes: number;
  /** Bytes of those assembled by maintenance. */
  readonly mergedBytes: number;
  /** How many are as they were pushed. */
  readonly unmerged: number;
}

const COLUMNS = `id, key, start, size, checksum, push, pack_offset AS packOffset, first_number AS firstNumber,
  last_number AS lastNumber, whole, ofs_floor AS ofsFloor, base_floor AS baseFloor`;

type StoredChunk = { [Field in keyof ChunkRow]: ChunkRow[Field] extends boolean ? number : ChunkRow[Field] } & {
  checksum: ArrayBuffer;
};

/** Equals no checksum. */
const NO_CHECKSUM = new Uint8Array(0);

/** The chunks: table `chunks`. A chunk is hot while its bytes are inline. Later it is sealed into
 * an R2 object, and may be moved to a larger one. Nothing else about it ever changes. */
export class ChunkTable {
  readonly #sql: Sql;
  readonly #objects: ObjectIndex;
  /** The inline bytes that were read last. A walk down through directories reads the same chunk for
   * each level, and its bytes from the database would be garbage each time. */
  #lastHot: WeakRef<{ readonly checksum: Uint8Array; readonly bytes: Uint8Array }> | null = null;

  constructor(sql: Sql, objects: ObjectIndex) {
    this.#sql = sql;
    this.#objects = objects;
  }

  /** The id that the next inserted chunk will get. */
  nextId(): ChunkId {
    return this.#sql.exec<{ id: number }>("SELECT ifnull(max(id), 0) + 1 AS id FROM chunks").one().id;
  }

  /** Inserts chunks; their ids count up from `nextId()`.
   * @throws GitError "too-large" when inline bytes do not fit into a row */
  insert(chunks: readonly NewChunk[], firstId = this.nextId()): void {
    let id = firstId;
    for (const chunk of chunks) {
      if (chunk.bytes !== null && chunk.bytes.length > BLOB_MAX_BYTES) {
        throw new GitError("too-large", { what: "an inline chunk", limit: BLOB_MAX_BYTES, actual: chunk.bytes.length });
      }
      // First, because what is in memory may be read only now.
      if (chunk.objects !== null) this.#objects.noteUnfiled(id, chunk.objects);
      this.#sql.exec(
        `INSERT INTO chunks (id, key, start, size, checksum, push, pack_offset, first_number, last_number, whole, ofs_floor,
          base_floor, objects, bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        id,
        chunk.key,
        chunk.start ?? 0,
        chunk.size,
        chunk.checksum,
        chunk.push,
        chunk.packOffset,
        chunk.firstNumber,
        chunk.lastNumber,
        chunk.whole ? 1 : 0,
        chunk.ofsFloor,
        chunk.baseFloor,
        chunk.objects,
        chunk.bytes,
      );
      id += 1;
    }
  }

  /** The chunks with these ids, ascending, each once.
   * @throws GitError "storage-failed" when one is missing */
  byIds(ids: Iterable<ChunkId>): ChunkRow[] {
    const wanted = [...new Set(ids)];
    const rows = this.#select("WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id", JSON.stringify(wanted));
    if (rows.length !== wanted.length) {
      throw new GitError("storage-failed", { key: "chunks", reason: `has ${rows.length} of ${wanted.length} chunks` });
    }
    return rows;
  }

  /** All chunks, by the numbers of their objects. */
  allInOrder(): ChunkRow[] {
    return this.#select("ORDER BY first_number");
  }

  /** The chunk with the next higher id; null: none. */
  next(afterId: number): ChunkRow | null {
    return this.#select("WHERE id > ? ORDER BY id LIMIT 1", afterId)[0] ?? null;
  }

  /** Size of all chunks, bytes. */
  totalBytes(): number {
    return this.#sql.exec<{ bytes: number }>("SELECT ifnull(sum(size), 0) AS bytes FROM chunks").one().bytes;
  }

  /** Bytes of the chunks in R2 objects whose keys do not begin with a prefix of ASCII. */
  bytesOutside(prefix: string): number {
    const query = "SELECT ifnull(sum(size), 0) AS bytes FROM chunks WHERE substr(key, 1, ?) <> ?";
    return this.#sql.exec<{ bytes: number }>(query, prefix.length, prefix).one().bytes;
  }

  /** Totals of the inline chunks. */
  hot(): HotChunks {
    return this.#sql
      .exec<{ sizeBytes: number; mergedBytes: number; unmerged: number }>(
        `SELECT ifnull(sum(size), 0) AS sizeBytes, ifnull(sum(iif(pack_offset = 0, size, 0)), 0) AS mergedBytes,
          ifnull(sum(pack_offset > 0), 0) AS unmerged FROM chunks WHERE key IS NULL`,
      )
      .one();
  }

  /** The first chunks, by number, that are inline as they were pushed. */
  unmerged(limit: number): ChunkRow[] {
    return this.#select("WHERE key IS NULL AND pack_offset > 0 ORDER BY first_number LIMIT ?", limit);
  }

  /** The R2 objects of which chunks use less than `limitBytes`. */
  objectsBelow(limitBytes: number): { count: number; sizeBytes: number } {
    const small = "SELECT sum(size) AS size FROM chunks WHERE key IS NOT NULL GROUP BY key HAVING sum(size) < ?";
    return this.#sql
      .exec<{ count: number; sizeBytes: number }>(
        `SELECT count(*) AS count, ifnull(sum(size), 0) AS sizeBytes FROM (${small})`,
        limitBytes,
      )
      .one();
  }

  /** The chunks, by number, that are inline and repacked, or in R2 objects of which chunks use less
   * than `smallBytes`. */
  sealable(smallBytes: number): ChunkRow[] {
    return this.#select(
      `WHERE (key IS NULL AND pack_offset = 0) OR key IN
        (SELECT key FROM chunks WHERE key IS NOT NULL GROUP BY key HAVING sum(size) < ?) ORDER BY first_number`,
      smallBytes,
    );
  }

  /** The inline bytes of a chunk, which must not be changed; null: it was sealed.
   * @throws GitError "storage-failed" when there is no such chunk, or its bytes are truncated */
  hotBytesOf(id: ChunkId): Uint8Array | null {
    const last = this.#lastHot?.deref();
    const [row] = this.#sql
      .exec<{ key: string | null; size: number; checksum: ArrayBuffer; length: number; bytes: ArrayBuffer | null }>(
        `SELECT key, size, checksum, length(bytes) AS length, iif(checksum = ?, NULL, bytes) AS bytes
          FROM chunks WHERE id = ?`,
        last?.checksum ?? NO_CHECKSUM,
        id,
      )
      .toArray();
    if (row !== undefined && row.key !== null) return null;
    if (row === undefined || row.length !== row.size) {
      throw new GitError("storage-failed", { key: "chunks", reason: `chunk ${id} has no bytes` });
    }
    if (row.bytes === null) return last!.bytes;
    const hot = { checksum: new Uint8Array(row.checksum), bytes: new Uint8Array(row.bytes) };
    this.#lastHot = new WeakRef(hot);
    return hot.bytes;
  }

  /** Records that chunks are now in one R2 object, and drops their inline bytes. Object rows stay
   * unchanged.
   * @throws GitError "storage-failed" when one of them is missing; must run in a transaction */
  seal(key: string, chunks: readonly SealedChunk[]): void {
    for (const { id, start } of chunks) {
      const update = "UPDATE chunks SET key = ?, start = ?, bytes = NULL WHERE id = ? RETURNING id";
      if (this.#sql.exec(update, key, start, id).toArray().length === 1) continue;
      throw new GitError("storage-failed", { key: "chunks", reason: `chunk ${id} is missing` });
    }
  }

  /** The chunks that are not whole, with the size of the objects in them. Reads all object rows
   * within their ranges. */
  unwhole(): ChunkUse[] {
    return this.#select("WHERE whole = 0 ORDER BY id").map((row) => ({
      ...row,
      usedBytes: this.#objects.bytesIn(row.id, row.firstNumber, row.lastNumber),
    }));
  }

  /** Removes those chunks that contain no object any more, and marks the others as not whole. */
  release(ids: Iterable<ChunkId>): void {
    for (const { id, firstNumber, lastNumber } of this.byIds(ids)) {
      if (this.#objects.inChunk(id, firstNumber, lastNumber).size === 0) {
        this.#sql.exec("DELETE FROM chunks WHERE id = ?", id);
      } else {
        this.#sql.exec("UPDATE chunks SET whole = 0, objects = ? WHERE id = ?", this.#objects.besideChunk(id), id);
      }
    }
  }

  /** Whether a chunk is in this R2 object. Below the repository's chunk prefix, an object without
   * chunks is garbage. */
  hasKey(key: string): boolean {
    return this.#sql.exec("SELECT 1 FROM chunks WHERE key = ? LIMIT 1", key).toArray().length > 0;
  }

  /** All R2 objects that contain chunks. */
  keys(): Set<string> {
    const rows = this.#sql.exec("SELECT DISTINCT key FROM chunks WHERE key IS NOT NULL").raw();
    return new Set(Iterator.from(rows).map(([key]) => key as string));
  }

  #select(rest: string, ...bindings: (string | number)[]): ChunkRow[] {
    const rows = this.#sql.exec<StoredChunk>(`SELECT ${COLUMNS} FROM chunks ${rest}`, ...bindings).toArray();
    return rows.map((row) => ({ ...row, checksum: new Uint8Array(row.checksum), whole: row.whole === 1 }));
  }
}
