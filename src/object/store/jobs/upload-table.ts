import { concatOids } from "../../../base/format/oid.ts";
import { tableExists } from "../sql/schema.ts";
import type { Sql } from "../sql/sql.ts";

/** Created with the first upload: most repositories never have one. */
const TABLES = `
CREATE TABLE IF NOT EXISTS uploads (
  id TEXT PRIMARY KEY,
  started_ms INTEGER NOT NULL,
  ends_ms INTEGER NOT NULL,        -- when it ends unless it is continued
  options TEXT NOT NULL,           -- JSON: its push options, byte strings
  steps INTEGER NOT NULL,
  objects INTEGER NOT NULL,        -- that the steps brought
  pack_bytes INTEGER NOT NULL,     -- of their packs
  tips BLOB NOT NULL,              -- ids that steps ended with and no later step reaches
  done INTEGER NOT NULL            -- 1: its refs have moved
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS upload_parts (
  upload TEXT NOT NULL,
  part INTEGER NOT NULL,           -- chosen by the client, from 1
  key TEXT NOT NULL,               -- R2 object
  size INTEGER NOT NULL,
  checksum TEXT NOT NULL,          -- SHA-256 of its bytes, hex
  PRIMARY KEY (upload, part)
) WITHOUT ROWID;
`;

/** An upload session. */
export interface StoredUpload {
  readonly id: string;
  readonly startedMs: number;
  readonly endsMs: number;
  readonly options: readonly string[];
  readonly steps: number;
  readonly objects: number;
  readonly packBytes: number;
  /** Packed ids. */
  readonly tips: Uint8Array;
  readonly isDone: boolean;
}

/** A part whose bytes are stored but not indexed yet. */
export interface StoredPart {
  readonly part: number;
  readonly key: string;
  readonly sizeBytes: number;
  /** SHA-256, hex. */
  readonly checksum: string;
}

type UploadRow = Omit<StoredUpload, "options" | "tips" | "isDone"> & {
  options: string;
  tips: ArrayBuffer | null;
  isDone: number;
};

const PART = "part, key, size AS sizeBytes, checksum";

/** The upload sessions, and their parts that are not indexed yet: tables `uploads` and
 * `upload_parts`. Writing methods must run in a transaction. */
export class UploadTable {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Stores a session without parts or steps. */
  begin(id: string, startedMs: number, endsMs: number, options: readonly string[]): void {
    this.#sql.exec(TABLES);
    this.#sql.exec(
      `INSERT INTO uploads (id, started_ms, ends_ms, options, steps, objects, pack_bytes, tips, done)
        VALUES (?, ?, ?, ?, 0, 0, 0, zeroblob(0), 0)`,
      id,
      startedMs,
      endsMs,
      JSON.stringify(options),
    );
  }

  /** Finds a session; null: it does not exist (any more). */
  find(id: string): StoredUpload | null {
    if (!this.#exists) return null;
    const [row] = this.#sql
      .exec<UploadRow>(
        `SELECT id, started_ms AS startedMs, ends_ms AS endsMs, options, steps, objects, pack_bytes AS packBytes, tips,
          done AS isDone FROM uploads WHERE id = ?`,
        id,
      )
      .toArray();
    if (row === undefined) return null;
    const options = JSON.parse(row.options) as string[];
    // An empty BLOB may come back as NULL.
    return { ...row, options, tips: new Uint8Array(row.tips ?? new ArrayBuffer(0)), isDone: row.isDone === 1 };
  }

  /** Counts the sessions. */
  count(): number {
    return this.#exists ? this.#sql.exec<{ count: number }>("SELECT count(*) AS count FROM uploads").one().count : 0;
  }

  /** Start of the oldest session whose refs have not moved; null: there is none. */
  oldestStartMs(): number | null {
    if (!this.#exists) return null;
    const query = "SELECT min(started_ms) AS startedMs FROM uploads WHERE done = 0";
    return this.#sql.exec<{ startedMs: number | null }>(query).one().startedMs;
  }

  /** Tips of all sessions, packed. */
  allTips(): Uint8Array {
    if (!this.#exists) return new Uint8Array(0);
    const rows = this.#sql.exec<{ tips: ArrayBuffer | null }>("SELECT tips FROM uploads WHERE done = 0").toArray();
    return concatOids(rows.map(({ tips }) => new Uint8Array(tips ?? new ArrayBuffer(0))));
  }

  /** Bytes of all stored parts. */
  sizeBytes(): number {
    if (!this.#exists) return 0;
    return this.#sql.exec<{ bytes: number }>("SELECT ifnull(sum(size), 0) AS bytes FROM upload_parts").one().bytes;
  }

  /** Sums the bytes of a session's stored parts from a number on. */
  bytesFrom(id: string, part: number): number {
    if (!this.#exists) return 0;
    const query = "SELECT ifnull(sum(size), 0) AS bytes FROM upload_parts WHERE upload = ? AND part >= ?";
    return this.#sql.exec<{ bytes: number }>(query, id, part).one().bytes;
  }

  /** The stored parts of a session, by number. */
  parts(id: string): StoredPart[] {
    if (!this.#exists) return [];
    return this.#sql
      .exec<StoredPart & Record<string, string | number>>(
        `SELECT ${PART} FROM upload_parts WHERE upload = ? ORDER BY part`,
        id,
      )
      .toArray();
  }

  /** Finds a stored part of a session; null: it is not stored. */
  part(id: string, part: number): StoredPart | null {
    if (!this.#exists) return null;
    const query = `SELECT ${PART} FROM upload_parts WHERE upload = ? AND part = ?`;
    return this.#sql.exec<StoredPart & Record<string, string | number>>(query, id, part).toArray()[0] ?? null;
  }

  /** Whether a stored part is in an R2 object. */
  hasKey(key: string): boolean {
    const id = this.ownerOf(key);
    return id !== null && this.parts(id).some((part) => part.key === key);
  }

  /** Finds the session for which an R2 object was written; null: it does not exist. */
  ownerOf(key: string): string | null {
    const [, folder, id] = key.split("/");
    return folder === UPLOADS && id !== undefined && this.find(id) !== null ? id : null;
  }

  /** Stores a part, replacing one of the same number. */
  putPart(id: string, { part, key, sizeBytes, checksum }: StoredPart): void {
    this.#sql.exec(
      "INSERT OR REPLACE INTO upload_parts (upload, part, key, size, checksum) VALUES (?, ?, ?, ?, ?)",
      id,
      part,
      key,
      sizeBytes,
      checksum,
    );
  }

  /** Removes a part, unless another one has replaced it. */
  removePart(id: string, { part, key }: Pick<StoredPart, "part" | "key">): void {
    this.#sql.exec("DELETE FROM upload_parts WHERE upload = ? AND part = ? AND key = ?", id, part, key);
  }

  /** Sets the end of a session. */
  renew(id: string, endsMs: number): void {
    this.#sql.exec("UPDATE uploads SET ends_ms = ? WHERE id = ?", endsMs, id);
  }

  /** Removes the parts of a step after its objects were stored.
   * @param step numbers of their objects and bytes, and the new end of the session
   * @param tips new tips of the session */
  addStep(
    id: string,
    parts: readonly number[],
    step: Pick<StoredUpload, "objects" | "packBytes" | "endsMs">,
    tips: Uint8Array,
  ): void {
    this.#removeParts(id, parts);
    this.#sql.exec(
      `UPDATE uploads SET steps = steps + 1, objects = objects + ?, pack_bytes = pack_bytes + ?, ends_ms = ?, tips = ?
        WHERE id = ?`,
      step.objects,
      step.packBytes,
      step.endsMs,
      tips,
      id,
    );
  }

  /** Records that a session's refs have moved; it has no parts or tips any more. */
  finish(id: string): void {
    this.#sql.exec("DELETE FROM upload_parts WHERE upload = ?", id);
    this.#sql.exec("UPDATE uploads SET done = 1, tips = zeroblob(0) WHERE id = ?", id);
  }

  /** Removes a session. */
  remove(id: string): void {
    this.#sql.exec("DELETE FROM upload_parts WHERE upload = ?", id);
    this.#sql.exec("DELETE FROM uploads WHERE id = ?", id);
  }

  #removeParts(id: string, parts: readonly number[]): void {
    const query = "DELETE FROM upload_parts WHERE upload = ? AND part IN (SELECT value FROM json_each(?))";
    this.#sql.exec(query, id, JSON.stringify(parts));
  }

  get #exists(): boolean {
    return tableExists(this.#sql, "uploads");
  }
}

/** Folder of the parts' R2 keys below the repository's id: `<id>/uploads/<session>/<uuid>`. */
const UPLOADS = "uploads";

/** Prefix of the R2 keys of a session's parts.
 * @param repository key of the repository */
export function uploadPrefix(repository: string, id: string): string {
  return `${repository}/${UPLOADS}/${id}/`;
}
