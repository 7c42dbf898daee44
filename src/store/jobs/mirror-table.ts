import { tableExists } from "../sql/schema.ts";
import type { Sql } from "../sql/sql.ts";

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

/** What the owner of a mirror chooses. */
export interface MirrorSettings {
  readonly url: string;
  /** Refs are mirrored whose names begin with one of these. Byte strings. */
  readonly prefixes: readonly string[];
  /** Whether the target's refs may lose commits, and its tags move. */
  readonly force: boolean;
  /** Whether the target's refs that are not here are removed there. */
  readonly prune: boolean;
  /** The most that one pack may have (bytes, approximately); lowered when the target takes less;
   * null: as much as a mirror ever sends at once. */
  readonly maxPackBytes: number | null;
}

/** The objects of Git LFS that go to a mirror's target. */
export interface MirroredLfs {
  /** Whether commits that the target has may name objects that it was not sent. */
  readonly isBehind: boolean;
  /** That were sent, in all. */
  readonly objects: number;
  readonly bytes: number;
  /** That the target's commits name and that it does not have: they are not here; it does not take
   * them, and why not one of these; null: it took all. */
  readonly missing: number;
  readonly refused: number;
  readonly refusal: string | null;
}

/** A mirror: another host's repository that is sent what is pushed here. Times are ms since
 * 1970. */
export interface MirrorRecord extends MirrorSettings {
  readonly id: string;
  /** Changes with the settings: a run that began before them ends. */
  readonly session: string;
  readonly createdMs: number;
  /** Runs in a row that failed. */
  readonly failures: number;
  /** When the next run may begin. */
  readonly dueMs: number;
  /** Why the last run failed; null: it has not. */
  readonly error: string | null;
  /** When the target last answered that it has all refs but those that are refused; null: never. */
  readonly syncedMs: number | null;
  /** As of the last look: refs here that are mirrored, those of them that are refused, and refs of
   * the target that are not here. */
  readonly refs: number;
  readonly refused: number;
  readonly extra: number;
  /** Packs that were sent, and what they held, in all. */
  readonly pushes: number;
  readonly objects: number;
  readonly packBytes: number;
  /** Null: objects of Git LFS are not sent; absent: an older release made it. */
  readonly lfs?: MirroredLfs | null;
}

/** What is known of a ref at the target. */
export interface MirroredRef {
  readonly name: string;
  /** 20 bytes; null: it is not there, as far as is known. */
  readonly oid: Uint8Array | null;
  readonly refusal: string | null;
}

type RefRow = { name: string; oid: ArrayBuffer | null; refusal: string | null };

/** A repository's mirrors: tables `mirrors` and `mirrored_refs`. What writes must run in a
 * transaction. */
export class MirrorTable {
  readonly #sql: Sql;
  /** As they are stored; null: not read yet. Each push asks. */
  #records: readonly MirrorRecord[] | null = null;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** All mirrors, the oldest first. */
  all(): readonly MirrorRecord[] {
    this.#records ??= this.#read();
    return this.#records;
  }

  /** One of them; null: there is none. */
  find(id: string): MirrorRecord | null {
    return this.all().find((one) => one.id === id) ?? null;
  }

  /** The encrypted credential for the target; null: none. */
  readAuthorization(id: string): Uint8Array | null {
    if (this.find(id) === null) return null;
    const query = "SELECT authorization FROM mirrors WHERE id = ?";
    const { authorization } = this.#sql.exec<{ authorization: ArrayBuffer | null }>(query, id).one();
    return authorization === null ? null : new Uint8Array(authorization);
  }

  /** Enters a mirror, or replaces its credential, too. */
  put(record: MirrorRecord, authorization: Uint8Array | null): void {
    this.#sql.exec(TABLES);
    const insert = "INSERT OR REPLACE INTO mirrors (id, record, authorization) VALUES (?, ?, ?)";
    this.#sql.exec(insert, record.id, JSON.stringify(record), authorization);
    this.#records = null;
  }

  /** Changes a mirror. */
  update(record: MirrorRecord): void {
    this.#sql.exec("UPDATE mirrors SET record = ? WHERE id = ?", JSON.stringify(record), record.id);
    this.#records = null;
  }

  /** Removes a mirror and what is known of its target. */
  remove(id: string): void {
    this.#sql.exec("DELETE FROM mirrors WHERE id = ?", id);
    this.forgetRefs(id);
    this.#records = null;
  }

  /** What is known of refs, by name. */
  *refs(id: string): Generator<MirroredRef> {
    if (!tableExists(this.#sql, "mirrored_refs")) return;
    const query = "SELECT name, oid, refusal FROM mirrored_refs WHERE mirror = ? ORDER BY name";
    for (const { name, oid, refusal } of this.#sql.exec<RefRow>(query, id))
      yield { name, oid: oid === null ? null : new Uint8Array(oid), refusal };
  }

  /** Notes what is known of a ref. One that is not there, and not refused, has no row. */
  putRef(id: string, { name, oid, refusal }: MirroredRef): void {
    if (oid === null && refusal === null) {
      this.#sql.exec("DELETE FROM mirrored_refs WHERE mirror = ? AND name = ?", id, name);
      return;
    }
    const insert = "INSERT OR REPLACE INTO mirrored_refs (mirror, name, oid, refusal) VALUES (?, ?, ?, ?)";
    this.#sql.exec(insert, id, name, oid, refusal);
  }

  /** Forgets what is known of a target. */
  forgetRefs(id: string): void {
    this.#sql.exec("DELETE FROM mirrored_refs WHERE mirror = ?", id);
  }

  /** Forgets what is in memory: it may differ from what is stored. */
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
