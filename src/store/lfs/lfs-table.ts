import type { LfsOid } from "../../format/lfs.ts";
import { tableExists } from "../sql/schema.ts";
import type { Sql } from "../sql/sql.ts";

/** Created with the first LFS object: most repositories never have one. */
const TABLES = `
CREATE TABLE IF NOT EXISTS lfs_objects (
  oid TEXT PRIMARY KEY,            -- SHA-256, hex
  size INTEGER NOT NULL,
  key TEXT NOT NULL,               -- R2 object; it may be of another repository of the family
  added_ms INTEGER NOT NULL
) WITHOUT ROWID;
`;

/** An LFS object that is there. */
export interface StoredLfsObject {
  readonly oid: LfsOid;
  readonly sizeBytes: number;
  /** Its R2 object. */
  readonly key: string;
}

/** What a repository's LFS objects amount to. */
export interface LfsSums {
  readonly count: number;
  readonly sizeBytes: number;
  /** Bytes of those that are in R2 objects of this repository. */
  readonly ownBytes: number;
}

/** The folder of the R2 keys below the repository's id: `<id>/lfs/<oid>-<random>`. */
const FOLDER = "lfs";

/** A key for an LFS object. Each upload has its own, so that none can overwrite or remove what
 * another one has written.
 * @param repository its key */
export function newLfsKey(repository: string, oid: LfsOid): string {
  return `${repository}/${FOLDER}/${oid}-${crypto.randomUUID().slice(0, 8)}`;
}

const COLUMNS = "oid, size AS sizeBytes, key";

/** The LFS objects of a repository: table `lfs_objects`. What writes must run in a transaction. */
export class LfsTable {
  readonly #sql: Sql;
  /** Null: not read yet, or it may differ from what is stored. */
  #sums: (LfsSums & { readonly own: string }) | null = null;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Makes the table, if it is missing. */
  create(): void {
    this.#sql.exec(TABLES);
  }

  /** Forgets what is in memory: it may differ from what is stored. */
  forget(): void {
    this.#sums = null;
  }

  /** Those of some objects that are there, by id. */
  findMany(oids: readonly LfsOid[]): Map<LfsOid, StoredLfsObject> {
    if (oids.length === 0 || !this.#exists) return new Map();
    const query = `SELECT ${COLUMNS} FROM lfs_objects WHERE oid IN (SELECT value FROM json_each(?))`;
    const rows = this.#sql.exec<Record<keyof StoredLfsObject, never>>(query, JSON.stringify(oids)).toArray();
    return new Map(rows.map((row: StoredLfsObject) => [row.oid, row]));
  }

  /** One object; null: it is not there. */
  find(oid: LfsOid): StoredLfsObject | null {
    return this.findMany([oid]).get(oid) ?? null;
  }

  /** Some of the objects, by id.
   * @param after only those with higher ids; "": from the first on */
  page(after: LfsOid, limit: number): StoredLfsObject[] {
    if (!this.#exists) return [];
    const query = `SELECT ${COLUMNS} FROM lfs_objects WHERE oid > ? ORDER BY oid LIMIT ?`;
    return this.#sql.exec<Record<keyof StoredLfsObject, never>>(query, after, limit).toArray();
  }

  /** How many objects there are, and their bytes. Read once. */
  sums(): LfsSums {
    if (!this.#exists) return { count: 0, sizeBytes: 0, ownBytes: 0 };
    if (this.#sums !== null) return this.#sums;
    const { key } = this.#sql.exec<{ key: string }>("SELECT key FROM repository").one();
    const query = `SELECT count(*) AS count, ifnull(sum(size), 0) AS sizeBytes,
      ifnull(sum(iif(substr(key, 1, length(?1)) = ?1, size, 0)), 0) AS ownBytes FROM lfs_objects`;
    const own = `${key}/`;
    this.#sums = { ...this.#sql.exec<Record<keyof LfsSums, number>>(query, own).one(), own };
    return this.#sums;
  }

  /** Whether an object is in an R2 object. */
  hasKey(key: string): boolean {
    const oid = /\/lfs\/([0-9a-f]{64})-[^/]*$/.exec(key)?.[1];
    return oid !== undefined && this.find(oid)?.key === key;
  }

  /** The R2 objects of all. */
  keys(): string[] {
    if (!this.#exists) return [];
    const rows = this.#sql.exec<{ key: string }>("SELECT key FROM lfs_objects").toArray();
    return rows.map(({ key }) => key);
  }

  /** Enters an object that is not there. */
  add({ oid, sizeBytes, key }: StoredLfsObject, nowMs: number): void {
    this.create();
    const insert = "INSERT INTO lfs_objects (oid, size, key, added_ms) VALUES (?, ?, ?, ?)";
    this.#sql.exec(insert, oid, sizeBytes, key, nowMs);
    const sums = this.#sums;
    if (sums === null) return;
    const ownBytes = sums.ownBytes + (key.startsWith(sums.own) ? sizeBytes : 0);
    this.#sums = { ...sums, count: sums.count + 1, sizeBytes: sums.sizeBytes + sizeBytes, ownBytes };
  }

  get #exists(): boolean {
    return tableExists(this.#sql, "lfs_objects");
  }
}
