import type { LfsOid } from "../../format/lfs.ts";
import type { Caller } from "../../access/caller.ts";
import { tableExists } from "../sql/schema.ts";
import type { Sql } from "../sql/sql.ts";

/** Created with the first import: most repositories never have one. */
const TABLE = `
CREATE TABLE IF NOT EXISTS imports ( -- at most one row
  id INTEGER PRIMARY KEY CHECK (id = 1),
  record TEXT NOT NULL,            -- JSON of an ImportRecord
  authorization BLOB               -- for the upstream, encrypted; NULL: none
);
`;

/** `running`: refs and objects are being fetched, or will be again soon. `waiting`: the mirror was
 * brought up to date, or could not be, and is looked at again later. `done` and `failed`: nothing
 * follows. */
export type ImportState = "running" | "waiting" | "done" | "failed";

/** Objects of Git LFS that an import brings. */
export interface ImportedLfs {
  /** All up to this id were asked for; "": none; null: all. */
  readonly after: LfsOid | null;
  readonly objects: number;
  readonly bytes: number;
  /** That the upstream did not have, since they were last asked for. */
  readonly missing: number;
}

/** An import, or a mirror. Times are ms since 1970. */
export interface ImportRecord {
  /** Id of the upload session that its steps belong to; differs from import to import. */
  readonly session: string;
  readonly url: string;
  /** Refs are imported whose names begin with one of these. Byte strings. */
  readonly prefixes: readonly string[];
  /** Whether the repository follows its upstream. */
  readonly isMirror: boolean;
  /** Between two looks of a mirror. */
  readonly intervalMs: number;
  /** Who began it: it may do what they may. */
  readonly caller: Caller;
  readonly state: ImportState;
  /** Why it failed, or what was left out; null: nothing. */
  readonly error: string | null;
  /** Failures in a row. */
  readonly attempts: number;
  /** The most refs that a step asks for: fewer, if all at once were too much; null: any number. */
  readonly refsPerStep: number | null;
  /** A single ref was too much: commits below it are asked for, at a depth above `low`, which was
   * too much (-1: none was), and below `high`, which is here (null: none is). Null: whole refs
   * fit. */
  readonly depths: { readonly low: number; readonly high: number | null } | null;
  /** Refs of the upstream when it was last looked at. */
  readonly refs: number;
  /** Packs, and what they brought, in all. */
  readonly steps: number;
  readonly objects: number;
  readonly packBytes: number;
  /** Null: objects of Git LFS are not brought; absent: an older release began it. */
  readonly lfs?: ImportedLfs | null;
  readonly startedMs: number;
  /** When the refs here were last brought to those of the upstream; null: never. */
  readonly syncedMs: number | null;
}

/** The repository's import: table `imports`. What writes must run in a transaction. */
export class ImportTable {
  readonly #sql: Sql;
  /** As it is stored; undefined: not read yet. Each push asks. */
  #record: ImportRecord | null | undefined;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** The last import; null: there was none, or it was removed. */
  read(): ImportRecord | null {
    if (this.#record === undefined) {
      const rows = tableExists(this.#sql, "imports")
        ? this.#sql.exec<{ record: string }>("SELECT record FROM imports").toArray()
        : [];
      this.#record = rows.length === 0 ? null : (JSON.parse(rows[0]!.record) as ImportRecord);
    }
    return this.#record;
  }

  /** The encrypted credential for the upstream; null: none. */
  readAuthorization(): Uint8Array | null {
    if (this.read() === null) return null;
    const [row] = this.#sql.exec<{ authorization: ArrayBuffer | null }>("SELECT authorization FROM imports").toArray();
    const { authorization = null } = row ?? {};
    return authorization === null ? null : new Uint8Array(authorization);
  }

  /** Enters an import, in place of the last one. */
  begin(record: ImportRecord, authorization: Uint8Array | null): void {
    this.#sql.exec(TABLE);
    this.#sql.exec(
      "INSERT OR REPLACE INTO imports (id, record, authorization) VALUES (1, ?, ?)",
      JSON.stringify(record),
      authorization,
    );
    this.#record = record;
  }

  /** Changes the import. An end removes its credential. */
  update(record: ImportRecord): void {
    const hasEnded = record.state === "done" || record.state === "failed";
    const forget = hasEnded ? ", authorization = NULL" : "";
    this.#sql.exec(`UPDATE imports SET record = ?${forget}`, JSON.stringify(record));
    this.#record = record;
  }

  /** Removes the import. */
  remove(): void {
    if (this.read() !== null) this.#sql.exec("DELETE FROM imports");
    this.#record = null;
  }

  /** Forgets what is in memory: it may differ from what is stored. */
  forget(): void {
    this.#record = undefined;
  }
}
