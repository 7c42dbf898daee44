import type { Sql } from "../sql/sql.ts";
import type { SessionHolder } from "../../../contract/registry.ts";
import { MAX_SESSIONS } from "../../../base/format/table-limits.ts";

/** The table of sessions; part of the registry. */
export const SESSION_TABLE = `
CREATE TABLE IF NOT EXISTS sessions (
  hash TEXT PRIMARY KEY,                  -- SHA-256 of what the browser holds, hex
  token TEXT,                             -- id of the token that signed in; NULL: the operator's
  proof TEXT,                             -- the operator's: shows which admin token signed in
  created_ms INTEGER NOT NULL,
  expires_ms INTEGER NOT NULL,
  CHECK ((token IS NULL) <> (proof IS NULL))
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS sessions_of ON sessions(token, created_ms);
CREATE INDEX IF NOT EXISTS sessions_by_end ON sessions(expires_ms);
`;

/** Number of expired sessions that are removed whenever one is created, so that removal outpaces
 * creation. */
const EXPIRED_AT_ONCE = 100;

/** The sessions of browsers at the pages, by the hashes of their cookies. */
export class SessionTable {
  readonly #sql: Sql;

  /** @param sql a database with `SESSION_TABLE` */
  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Stores a session, and removes some that have expired. */
  create(hash: string, holder: SessionHolder, expiresMs: number, nowMs: number): void {
    const token = "token" in holder ? holder.token : null;
    this.#sql.exec(
      "DELETE FROM sessions WHERE hash IN (SELECT hash FROM sessions WHERE expires_ms <= ? LIMIT ?)",
      nowMs,
      EXPIRED_AT_ONCE,
    );
    this.#sql.exec(
      `DELETE FROM sessions WHERE hash IN
        (SELECT hash FROM sessions WHERE token IS ? ORDER BY created_ms DESC LIMIT -1 OFFSET ?)`,
      token,
      MAX_SESSIONS - 1,
    );
    this.#sql.exec(
      "INSERT INTO sessions (hash, token, proof, created_ms, expires_ms) VALUES (?, ?, ?, ?, ?)",
      hash,
      token,
      "proof" in holder ? holder.proof : null,
      nowMs,
      expiresMs,
    );
  }

  /** Finds the holder of a session; null: there is no such session, or it has expired. */
  find(hash: string, nowMs: number): { readonly holder: SessionHolder; readonly expiresMs: number } | null {
    const query = "SELECT token, proof, expires_ms AS expiresMs FROM sessions WHERE hash = ? AND expires_ms > ?";
    type Row = { token: string | null; proof: string | null; expiresMs: number };
    const [row] = this.#sql.exec<Row>(query, hash, nowMs).toArray();
    if (row === undefined) return null;
    const { token, proof, expiresMs } = row;
    return { holder: token === null ? { proof: proof! } : { token }, expiresMs };
  }

  /** Ends a session. */
  end(hash: string): void {
    this.#sql.exec("DELETE FROM sessions WHERE hash = ?", hash);
  }

  /** Ends the sessions of a token. */
  endAllOf(token: string): void {
    this.#sql.exec("DELETE FROM sessions WHERE token = ?", token);
  }
}
