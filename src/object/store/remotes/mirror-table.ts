import { tableExists } from "../sql/schema.ts";
import type { Sql } from "../sql/sql.ts";
import type { MirrorRecord } from "../../../contract/remotes.ts";

/** Created with the first mirror: most repositories never have one. */
const TABLES = `
CREATE TABLE IF NOT EXISTS mirrors (
  id TEXT PRIMARY KEY,
  record TEXT NOT NULL,            -- JSON of a MirrorRecord
  authorization BLOB               -- for the target, encrypted; NULL: none
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS mirrored_refs ( -- of the refs here that are mirrored
  mirror TEXT NOT NULL,
  name TEXT NOT NULL,              -- byte string
  oid BLOB,                        -- what it is at the target, as far as is known; NULL: it is not there
  refusal TEXT,                    -- why it is not made as here; NULL: nothing is in the way
  PRIMARY KEY (mirror, name)
) WITHOUT ROWID;
`;

/** The known state of a ref at the target. */
export interface MirroredRef {
  readonly name: string;
  /** 20 bytes; null: absent, as far as known. */
  readonly oid: Uint8Array | null;
  readonly refusal: string | null;
}

type RefRow = { name: string; oid: ArrayBuffer | null; refusal: string | null };

/** A repository's mirrors: tables `mirrors` and `mirrored_refs`. Writing methods must run in a
 * transaction. */
export class MirrorTable {
  readonly #sql: Sql;
  /** Cached rows, which every push needs; null: not read yet. */
  #records: readonly MirrorRecord[] | null = null;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Lists all mirrors, oldest first. */
  all(): readonly MirrorRecord[] {
    this.#records ??= this.#read();
    return this.#records;
  }

  /** Finds a mirror; null: there is none. */
  find(id: string): MirrorRecord | null {
    return this.all().find((one) => one.id === id) ?? null;
  }

  /** Reads the encrypted credential for the target; null: none. */
  readAuthorization(id: string): Uint8Array | null {
    if (this.find(id) === null) return null;
    const query = "SELECT authorization FROM mirrors WHERE id = ?";
    const { authorization } = this.#sql.exec<{ authorization: ArrayBuffer | null }>(query, id).one();
    return authorization === null ? null : new Uint8Array(authorization);
  }

  /** Stores or replaces a mirror, with its credential. */
  put(record: MirrorRecord, authorization: Uint8Array | null): void {
    this.#sql.exec(TABLES);
    const insert = "INSERT OR REPLACE INTO mirrors (id, record, authorization) VALUES (?, ?, ?)";
    this.#sql.exec(insert, record.id, JSON.stringify(record), authorization);
    this.#records = null;
  }

  /** Changes a mirror, without its credential. */
  update(record: MirrorRecord): void {
    this.#sql.exec("UPDATE mirrors SET record = ? WHERE id = ?", JSON.stringify(record), record.id);
    this.#records = null;
  }

  /** Removes a mirror and the known state of its target. */
  remove(id: string): void {
    this.#sql.exec("DELETE FROM mirrors WHERE id = ?", id);
    this.forgetRefs(id);
    this.#records = null;
  }

  /** Lists the known states of refs, by name. */
  *refs(id: string): Generator<MirroredRef> {
    if (!tableExists(this.#sql, "mirrored_refs")) return;
    const query = "SELECT name, oid, refusal FROM mirrored_refs WHERE mirror = ? ORDER BY name";
    for (const { name, oid, refusal } of this.#sql.exec<RefRow>(query, id))
      yield { name, oid: oid === null ? null : new Uint8Array(oid), refusal };
  }

  /** Stores the known state of a ref. A ref that is absent and not refused has no row. */
  putRef(id: string, { name, oid, refusal }: MirroredRef): void {
    if (oid === null && refusal === null) {
      this.#sql.exec("DELETE FROM mirrored_refs WHERE mirror = ? AND name = ?", id, name);
      return;
    }
    const insert = "INSERT OR REPLACE INTO mirrored_refs (mirror, name, oid, refusal) VALUES (?, ?, ?, ?)";
    this.#sql.exec(insert, id, name, oid, refusal);
  }

  /** Removes the known state of a target. */
  forgetRefs(id: string): void {
    this.#sql.exec("DELETE FROM mirrored_refs WHERE mirror = ?", id);
  }

  /** Clears the cache, which may differ from the tables. */
  forget(): void {
    this.#records = null;
  }

  #read(): readonly MirrorRecord[] {
    if (!tableExists(this.#sql, "mirrors")) return [];
    const rows = this.#sql.exec<{ record: string }>("SELECT record FROM mirrors").toArray();
    const records = rows.map(({ record }) => JSON.parse(record) as MirrorRecord);
    return records.toSorted((a, b) => a.createdMs - b.createdMs);
  }
}
