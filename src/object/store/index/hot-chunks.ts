import { GitError } from "../../../base/format/errors.ts";
import type { ChunkId } from "../../../base/numbers/kinds.ts";
import { BLOB_MAX_BYTES, type Sql } from "../sql/sql.ts";
import type { ChunkRow } from "./chunk-row.ts";

/** The cached data of an inline chunk. */
interface HotChunk {
  readonly row: ChunkRow;
  /** The index of the chunk's objects, from `encodeObjectPage`; null: it is in `ObjectPages`. */
  readonly objects: Uint8Array | null;
}

type StoredRow = { [Field in keyof Omit<ChunkRow, "key" | "start">]: number } & {
  checksum: ArrayBuffer;
  objects: ArrayBuffer | null;
};

/** The inline chunks: table `hot_chunks`. There are few, and all except their bytes are in
 * memory. Writing methods must run in a transaction. */
export class HotChunks {
  readonly #sql: Sql;
  #chunks: Map<ChunkId, HotChunk> | null = null;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Clears the cache, which may differ from the table. */
  forget(): void {
    this.#chunks = null;
  }

  /** All inline chunks by id, ascending. */
  all(): ReadonlyMap<ChunkId, HotChunk> {
    return this.#all();
  }

  /** The rows, ascending by id. */
  rows(): ChunkRow[] {
    return Array.from(this.#all().values(), ({ row }) => row);
  }

  /** Reads the inline bytes of a chunk as stored; null: there is no such chunk. */
  bytesOf(id: ChunkId): Uint8Array | null {
    const [row] = this.#sql.exec<{ bytes: ArrayBuffer }>("SELECT bytes FROM hot_chunks WHERE id = ?", id).toArray();
    return row === undefined ? null : new Uint8Array(row.bytes);
  }

  /** Inserts a chunk whose id is above all others.
   * @throws GitError "too-large" when the bytes do not fit into a row */
  insert(row: ChunkRow, objects: Uint8Array | null, bytes: Uint8Array): void {
    if (bytes.length > BLOB_MAX_BYTES) {
      throw new GitError("too-large", { what: "an inline chunk", limit: BLOB_MAX_BYTES, actual: bytes.length });
    }
    const chunks = this.#all();
    this.#sql.exec(
      `INSERT INTO hot_chunks (id, size, checksum, push, pack_offset, first_number, last_number, whole, ofs_floor, base_floor,
        objects, bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      row.id,
      row.size,
      row.checksum,
      row.push,
      row.packOffset,
      row.firstNumber,
      row.lastNumber,
      row.whole ? 1 : 0,
      row.ofsFloor,
      row.baseFloor,
      objects,
      bytes,
    );
    chunks.set(row.id, { row, objects });
  }

  /** Changes the mutable fields of a chunk. */
  change(id: ChunkId, whole: boolean, objects: Uint8Array | null): void {
    this.#sql.exec("UPDATE hot_chunks SET whole = ?, objects = ? WHERE id = ?", whole ? 1 : 0, objects, id);
    const chunks = this.#all();
    chunks.set(id, { row: { ...chunks.get(id)!.row, whole }, objects });
  }

  /** Removes chunks. */
  remove(ids: ReadonlySet<ChunkId>): void {
    if (ids.size === 0) return;
    this.#sql.exec("DELETE FROM hot_chunks WHERE id IN (SELECT value FROM json_each(?))", JSON.stringify([...ids]));
    for (const id of ids) this.#all().delete(id);
  }

  #all(): Map<ChunkId, HotChunk> {
    this.#chunks ??= new Map(
      this.#sql
        .exec<StoredRow>(
          `SELECT id, size, checksum, push, pack_offset AS packOffset, first_number AS firstNumber,
            last_number AS lastNumber, whole, ofs_floor AS ofsFloor, base_floor AS baseFloor, objects
            FROM hot_chunks ORDER BY id`,
        )
        .toArray()
        .map(({ objects, checksum, whole, ...row }) => [
          row.id,
          {
            row: { ...row, key: null, start: 0, checksum: new Uint8Array(checksum), whole: whole === 1 },
            objects: objects === null ? null : new Uint8Array(objects),
          },
        ]),
    );
    return this.#chunks;
  }
}
