import { tableExists } from "../sql/schema.ts";
import type { Sql } from "../sql/sql.ts";
import type { StoredLfsUpload } from "../../../contract/lfs.ts";

/** Created with the first upload in parts: most repositories never have one. */
const TABLES = `
CREATE TABLE IF NOT EXISTS lfs_uploads (
  id TEXT PRIMARY KEY,
  oid TEXT NOT NULL,               -- of the object: SHA-256, hex
  size INTEGER NOT NULL,
  part_size INTEGER NOT NULL,      -- of each part but the last
  key TEXT NOT NULL,               -- the R2 object that the parts become
  write_id TEXT NOT NULL,          -- by which the bucket knows the parts
  ends_ms INTEGER NOT NULL,        -- when it ends unless it is continued
  stored INTEGER NOT NULL,         -- bytes of the parts that are there
  joined INTEGER NOT NULL          -- 1: the parts have become the R2 object
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS lfs_parts (
  upload TEXT NOT NULL,
  part INTEGER NOT NULL,           -- from 1
  size INTEGER NOT NULL,
  checksum TEXT NOT NULL,          -- SHA-256 of its bytes, hex
  tag TEXT NOT NULL,               -- by which the bucket knows what was written last
  PRIMARY KEY (upload, part)
) WITHOUT ROWID;
`;

/** A stored part. */
interface StoredLfsPart {
  readonly part: number;
  readonly sizeBytes: number;
  /** SHA-256, hex. */
  readonly checksum: string;
  /** The bucket's tag. */
  readonly tag: string;
}

const UPLOAD = `id, oid, size AS sizeBytes, part_size AS partBytes, key, write_id AS "write", ends_ms AS endsMs,
  stored AS storedBytes, joined AS isJoined`;
const PART = "part, size AS sizeBytes, checksum, tag";

/** Uploads of LFS objects in parts: tables `lfs_uploads` and `lfs_parts`. Writing methods must run
 * in a transaction. */
export class LfsUploadTable {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Stores an upload without parts. */
  begin(upload: Omit<StoredLfsUpload, "storedBytes" | "isJoined">): void {
    const { id, oid, sizeBytes, partBytes, key, write, endsMs } = upload;
    this.#sql.exec(TABLES);
    this.#sql.exec(
      `INSERT INTO lfs_uploads (id, oid, size, part_size, key, write_id, ends_ms, stored, joined)
        VALUES (?, ?, ?, ?, ?, ?, ?, 0, 0)`,
      id,
      oid,
      sizeBytes,
      partBytes,
      key,
      write,
      endsMs,
    );
  }

  /** Finds an upload; null: it does not exist (any more). */
  find(id: string): StoredLfsUpload | null {
    return this.#select("WHERE id = ?", id);
  }

  /** Finds the upload whose parts form an R2 object; null: there is none. */
  findKey(key: string): StoredLfsUpload | null {
    return this.#select("WHERE key = ?", key);
  }

  /** Counts the uploads. */
  count(): number {
    if (!this.#exists) return 0;
    return this.#sql.exec<{ count: number }>("SELECT count(*) AS count FROM lfs_uploads").one().count;
  }

  /** Bytes of all stored parts. */
  sizeBytes(): number {
    if (!this.#exists) return 0;
    return this.#sql.exec<{ bytes: number }>("SELECT ifnull(sum(stored), 0) AS bytes FROM lfs_uploads").one().bytes;
  }

  /** Finds a stored part; null: it has not arrived. */
  findPart(id: string, part: number): StoredLfsPart | null {
    const query = `SELECT ${PART} FROM lfs_parts WHERE upload = ? AND part = ?`;
    return this.#sql.exec<Record<keyof StoredLfsPart, never>>(query, id, part).toArray()[0] ?? null;
  }

  /** Lists the stored parts of an upload that exists, by number. */
  parts(id: string): StoredLfsPart[] {
    const query = `SELECT ${PART} FROM lfs_parts WHERE upload = ? ORDER BY part`;
    return this.#sql.exec<Record<keyof StoredLfsPart, never>>(query, id).toArray();
  }

  /** Stores a part, replacing one of the same number. */
  putPart(id: string, { part, sizeBytes, checksum, tag }: StoredLfsPart): void {
    const addedBytes = sizeBytes - (this.findPart(id, part)?.sizeBytes ?? 0);
    this.#sql.exec(
      "INSERT OR REPLACE INTO lfs_parts (upload, part, size, checksum, tag) VALUES (?, ?, ?, ?, ?)",
      id,
      part,
      sizeBytes,
      checksum,
      tag,
    );
    this.#sql.exec("UPDATE lfs_uploads SET stored = stored + ? WHERE id = ?", addedBytes, id);
  }

  /** Sets the end of an upload. */
  renew(id: string, endsMs: number): void {
    this.#sql.exec("UPDATE lfs_uploads SET ends_ms = ? WHERE id = ?", endsMs, id);
  }

  /** Records that the parts were joined to the R2 object. */
  join(id: string): void {
    this.#sql.exec("UPDATE lfs_uploads SET joined = 1 WHERE id = ?", id);
  }

  /** Removes an upload. */
  remove(id: string): void {
    this.#sql.exec("DELETE FROM lfs_parts WHERE upload = ?", id);
    this.#sql.exec("DELETE FROM lfs_uploads WHERE id = ?", id);
  }

  #select(where: string, value: string): StoredLfsUpload | null {
    if (!this.#exists) return null;
    const query = `SELECT ${UPLOAD} FROM lfs_uploads ${where}`;
    const [row] = this.#sql.exec<Record<keyof StoredLfsUpload, never>>(query, value).toArray();
    return row === undefined ? null : { ...(row as Omit<StoredLfsUpload, "isJoined">), isJoined: row.isJoined === 1 };
  }

  get #exists(): boolean {
    return tableExists(this.#sql, "lfs_uploads");
  }
}
