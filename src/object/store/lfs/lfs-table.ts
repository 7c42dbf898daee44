import type { LfsOid } from "../../../base/format/lfs.ts";
import type { ObjectNumber } from "../../../base/numbers/kinds.ts";
import type { NumberSet } from "../../../base/numbers/number-set.ts";
import { tableExists } from "../sql/schema.ts";
import type { Sql } from "../sql/sql.ts";
import type { StoredLfsObject, NamedLfsObject } from "../../../contract/lfs.ts";

/** Created with the first LFS object or pointer file: most repositories never have one. */
const TABLES = `
CREATE TABLE IF NOT EXISTS lfs_objects (
  oid TEXT PRIMARY KEY,            -- SHA-256, hex
  size INTEGER NOT NULL,
  key TEXT NOT NULL,               -- R2 object; it may be of another repository of the family
  wanted_ms INTEGER NOT NULL       -- when a client last had it to send
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS lfs_pointers (
  object INTEGER PRIMARY KEY,      -- number of a blob that is a pointer file
  oid TEXT NOT NULL,               -- of the LFS object that it names
  size INTEGER NOT NULL            -- that it tells of this
);
CREATE INDEX IF NOT EXISTS lfs_named ON lfs_pointers(oid);
CREATE TABLE IF NOT EXISTS lfs_scan (  -- one row
  id INTEGER PRIMARY KEY CHECK (id = 1),
  unread INTEGER NOT NULL          -- objects up to this number may be pointer files that were not noted; 0: none
);
`;

/** Created with the first fork that needs it. */
const WITHHELD = `
CREATE TABLE IF NOT EXISTS lfs_withheld (  -- objects of the parent that no pointer file names, as far as is known
  oid TEXT PRIMARY KEY,
  size INTEGER NOT NULL,
  key TEXT NOT NULL
) WITHOUT ROWID;
`;

/** A blob that is a pointer file. */
export interface LfsPointer {
  /** Object number of the blob. */
  readonly object: ObjectNumber;
  /** The LFS object that it names. */
  readonly oid: LfsOid;
  readonly sizeBytes: number;
}

/** Number of pointers that are written in one statement: some hundred bytes of JSON each. */
const SLICE_POINTERS = 5_000;

/** Sums over a repository's LFS objects. */
interface LfsSums {
  readonly count: number;
  readonly sizeBytes: number;
  /** Bytes of the objects that are in R2 objects of this repository. */
  readonly ownBytes: number;
}

/** Folder of the R2 keys below the repository's id: `<id>/lfs/<oid>-<random>`. */
const FOLDER = "lfs";

/** Prefix of the keys of a repository's LFS objects.
 * @param repository key of the repository */
export function lfsPrefix(repository: string): string {
  return `${repository}/${FOLDER}/`;
}

/** Makes a key for an LFS object. Each upload has its own, so that none can overwrite or remove
 * another upload's bytes.
 * @param repository key of the repository */
export function newLfsKey(repository: string, oid: LfsOid): string {
  return lfsKey(repository, oid, crypto.randomUUID().slice(0, 8));
}

/** Makes the key of one upload of an LFS object.
 * @param upload distinguishes the uploads */
export function lfsKey(repository: string, oid: LfsOid, upload: string): string {
  return `${lfsPrefix(repository)}${oid}-${upload}`;
}

/** SQL: whether a pointer's object is missing. */
const IS_MISSING = "NOT EXISTS (SELECT 1 FROM lfs_objects WHERE lfs_objects.oid = lfs_pointers.oid)";

/** SQL: whether no pointer names an object. */
const IS_UNNAMED = "NOT EXISTS (SELECT 1 FROM lfs_pointers WHERE lfs_pointers.oid = lfs_objects.oid)";

const COLUMNS = "oid, size AS sizeBytes, key";

/** The LFS objects of a repository, and the blobs that name them: tables `lfs_objects`,
 * `lfs_pointers`, `lfs_scan` and `lfs_withheld`. Writing methods must run in a transaction. */
export class LfsTable {
  readonly #sql: Sql;
  /** Cached sums; null: not read yet, or possibly outdated. */
  #sums: (LfsSums & { readonly own: string }) | null = null;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Creates the tables of a fork, if they are missing, without the row of `lfs_scan`. */
  createOfFork(): void {
    this.#sql.exec(TABLES);
    this.#sql.exec(WITHHELD);
  }

  /** Creates the tables, if they are missing.
   * @param lastNumber highest number of an object that was not checked for pointers */
  begin(lastNumber: ObjectNumber): void {
    if (this.#exists) return;
    this.#sql.exec(TABLES);
    this.#sql.exec("INSERT INTO lfs_scan (id, unread) VALUES (1, ?)", lastNumber);
  }

  /** Clears the cache, which may differ from the tables. */
  forget(): void {
    this.#sums = null;
  }

  /** Finds the stored ones among some objects, by id. */
  findMany(oids: readonly LfsOid[]): Map<LfsOid, StoredLfsObject> {
    if (oids.length === 0 || !this.#exists) return new Map();
    const query = `SELECT ${COLUMNS} FROM lfs_objects WHERE oid IN (SELECT value FROM json_each(?))`;
    const rows = this.#sql.exec<Record<keyof StoredLfsObject, never>>(query, JSON.stringify(oids)).toArray();
    return new Map(rows.map((row: StoredLfsObject) => [row.oid, row]));
  }

  /** Finds an object; null: it is not stored. */
  find(oid: LfsOid): StoredLfsObject | null {
    return this.findMany([oid]).get(oid) ?? null;
  }

  /** Lists some of the objects, by id.
   * @param after only objects with higher ids; "": from the first on */
  page(after: LfsOid, limit: number): StoredLfsObject[] {
    if (!this.#exists) return [];
    const query = `SELECT ${COLUMNS} FROM lfs_objects WHERE oid > ? ORDER BY oid LIMIT ?`;
    return this.#sql.exec<Record<keyof StoredLfsObject, never>>(query, after, limit).toArray();
  }

  /** Lists some of the missing objects that pointer files name, by id.
   * @param after only objects with higher ids; "": from the first on */
  missing(after: LfsOid, limit: number): Omit<StoredLfsObject, "key">[] {
    if (!this.#exists) return [];
    const query = `SELECT oid, max(size) AS sizeBytes FROM lfs_pointers WHERE oid > ? AND ${IS_MISSING}
      GROUP BY oid ORDER BY oid LIMIT ?`;
    return this.#sql.exec<{ oid: string; sizeBytes: number }>(query, after, limit).toArray();
  }

  /** Counts the missing objects that pointer files name. Reads a row for each pointer file. */
  countMissing(): number {
    if (!this.#exists) return 0;
    const query = `SELECT count(DISTINCT oid) AS count FROM lfs_pointers WHERE ${IS_MISSING}`;
    return this.#sql.exec<{ count: number }>(query).one().count;
  }

  /** Counts the objects and their bytes, and caches the result. */
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

  /** Lists the R2 objects of all objects, including withheld ones. */
  keys(): string[] {
    if (!this.#exists) return [];
    const withheld = this.#hasWithheld ? " UNION SELECT key FROM lfs_withheld" : "";
    const rows = this.#sql.exec<{ key: string }>(`SELECT key FROM lfs_objects${withheld}`).toArray();
    return rows.map(({ key }) => key);
  }

  /** Stores an object that is not stored yet. The tables must exist. */
  add({ oid, sizeBytes, key }: StoredLfsObject, nowMs: number): void {
    const insert = "INSERT INTO lfs_objects (oid, size, key, wanted_ms) VALUES (?, ?, ?, ?)";
    this.#sql.exec(insert, oid, sizeBytes, key, nowMs);
    const sums = this.#sums;
    if (sums === null) return;
    const ownBytes = sums.ownBytes + (key.startsWith(sums.own) ? sizeBytes : 0);
    this.#sums = { ...sums, count: sums.count + 1, sizeBytes: sums.sizeBytes + sizeBytes, ownBytes };
  }

  /** Stores pointer files. The tables must exist. */
  addPointers(pointers: readonly LfsPointer[]): void {
    for (let from = 0; from < pointers.length; from += SLICE_POINTERS) {
      const rows = pointers
        .slice(from, from + SLICE_POINTERS)
        .map(({ object, oid, sizeBytes }) => [object, oid, sizeBytes]);
      this.#sql.exec(
        `INSERT OR REPLACE INTO lfs_pointers (object, oid, size)
          SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?)`,
        JSON.stringify(rows),
      );
    }
  }

  /** Finds the pointer files among some blobs. */
  pointersAmong(objects: NumberSet): LfsPointer[] {
    if (!this.#exists) return [];
    const query = "SELECT object, oid, size AS sizeBytes FROM lfs_pointers";
    const rows: LfsPointer[] = this.#sql.exec<Record<keyof LfsPointer, never>>(query).toArray();
    return rows.filter(({ object }) => objects.has(object));
  }

  /** Finds the objects that some blobs are pointers to, by blob. Blobs that are not known to be
   * pointer files are left out. */
  namedByEach(blobs: readonly ObjectNumber[]): Map<ObjectNumber, NamedLfsObject> {
    if (!this.#exists) return new Map();
    const query = `SELECT lfs_pointers.object, lfs_pointers.oid, lfs_objects.key,
      ifnull(lfs_objects.size, lfs_pointers.size) AS sizeBytes
      FROM lfs_pointers LEFT JOIN lfs_objects ON lfs_objects.oid = lfs_pointers.oid
      WHERE lfs_pointers.object IN (SELECT value FROM json_each(?))`;
    const rows = this.#sql.exec<Record<keyof NamedLfsObject | "object", never>>(query, JSON.stringify(blobs)).toArray();
    return new Map(rows.map(({ object, ...named }: NamedLfsObject & { object: ObjectNumber }) => [object, named]));
  }

  /** Finds the object that a blob points to. Null: the blob is not known to be a pointer file. */
  namedBy(blob: ObjectNumber): NamedLfsObject | null {
    return this.namedByEach([blob]).get(blob) ?? null;
  }

  /** Highest number of an object that was not checked for pointers; 0: all were checked. */
  unread(): ObjectNumber {
    if (!this.#exists) return 0;
    return this.#sql.exec<{ unread: number }>("SELECT unread FROM lfs_scan").toArray()[0]?.unread ?? 0;
  }

  /** Sets the number that `unread` returns. */
  setUnread(number: ObjectNumber): void {
    this.#sql.exec("UPDATE lfs_scan SET unread = ?", number);
  }

  /** Removes the rows of all pointer files except some blobs. */
  keepPointers(objects: NumberSet): void {
    if (!this.#exists) return;
    const all = this.#sql.exec<{ object: number }>("SELECT object FROM lfs_pointers").toArray();
    const others = all.map(({ object }) => object).filter((object) => !objects.has(object));
    for (let from = 0; from < others.length; from += SLICE_POINTERS) {
      const numbers = JSON.stringify(others.slice(from, from + SLICE_POINTERS));
      this.#sql.exec("DELETE FROM lfs_pointers WHERE object IN (SELECT value FROM json_each(?))", numbers);
    }
  }

  /** Withholds the objects that no pointer file of the repository, a new fork, names. */
  withholdUnnamed(): void {
    this.#sums = null;
    this.#sql.exec(`INSERT OR IGNORE INTO lfs_withheld (oid, size, key) SELECT oid, size, key FROM lfs_objects
      WHERE ${IS_UNNAMED}`);
    this.#sql.exec(`DELETE FROM lfs_objects WHERE ${IS_UNNAMED}`);
  }

  /** Whether objects are withheld. */
  isWithholding(): boolean {
    return this.#hasWithheld && this.#sql.exec("SELECT 1 FROM lfs_withheld LIMIT 1").toArray().length > 0;
  }

  /** Releases those of some objects that are withheld.
   * @param oids named by pointer files of the parent, which came with the fork */
  release(oids: readonly LfsOid[], nowMs: number): void {
    if (oids.length === 0 || !this.#hasWithheld) return;
    this.#sums = null;
    const named = "oid IN (SELECT value FROM json_each(?))";
    const list = JSON.stringify(oids);
    // Keeps an object that was sent to the fork meanwhile.
    this.#sql.exec(
      `INSERT OR IGNORE INTO lfs_objects (oid, size, key, wanted_ms)
        SELECT oid, size, key, ? FROM lfs_withheld WHERE ${named}`,
      nowMs,
      list,
    );
    this.#sql.exec(`DELETE FROM lfs_withheld WHERE ${named}`, list);
  }

  /** Removes the rows of the withheld objects.
   * @returns their R2 objects */
  dropWithheld(): string[] {
    if (!this.#hasWithheld) return [];
    const rows = this.#sql.exec<{ key: string }>("DELETE FROM lfs_withheld RETURNING key").toArray();
    return rows.map(({ key }) => key);
  }

  /** Lists some of the objects that no pointer file names.
   * @param wantedBeforeMs only objects that were last wanted before this time */
  unnamed(wantedBeforeMs: number, limit: number): StoredLfsObject[] {
    if (!this.#exists) return [];
    const query = `SELECT ${COLUMNS} FROM lfs_objects WHERE wanted_ms < ? AND ${IS_UNNAMED} LIMIT ?`;
    return this.#sql.exec<Record<keyof StoredLfsObject, never>>(query, wantedBeforeMs, limit).toArray();
  }

  /** Records that a client wanted to send objects that are already stored.
   * @param beforeMs only if they were last wanted before this time */
  renew(oids: readonly LfsOid[], nowMs: number, beforeMs: number): void {
    if (oids.length === 0 || !this.#exists) return;
    const query =
      "UPDATE lfs_objects SET wanted_ms = ? WHERE wanted_ms < ? AND oid IN (SELECT value FROM json_each(?))";
    this.#sql.exec(query, nowMs, beforeMs, JSON.stringify(oids));
  }

  /** Removes objects. */
  remove(objects: readonly StoredLfsObject[]): void {
    if (objects.length === 0) return;
    this.#sums = null;
    const oids = JSON.stringify(objects.map(({ oid }) => oid));
    this.#sql.exec("DELETE FROM lfs_objects WHERE oid IN (SELECT value FROM json_each(?))", oids);
  }

  get #exists(): boolean {
    return tableExists(this.#sql, "lfs_objects");
  }

  get #hasWithheld(): boolean {
    return tableExists(this.#sql, "lfs_withheld");
  }
}
