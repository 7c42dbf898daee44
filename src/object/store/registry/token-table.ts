import type { Token, TokenRefRule, TokenScope } from "../../../base/access/caller.ts";
import type { Sql } from "../sql/sql.ts";
import type { NewToken } from "../../../contract/registry.ts";
import { MAX_TOKENS } from "../../../base/format/table-limits.ts";

/** The table of tokens; part of the registry. */
export const TOKEN_TABLE = `
CREATE TABLE IF NOT EXISTS tokens (
  id TEXT PRIMARY KEY,                    -- identifies it; not secret
  hash TEXT NOT NULL UNIQUE,              -- SHA-256 of the token, hex
  name TEXT NOT NULL,
  owner TEXT COLLATE NOCASE,              -- valid for everything of this owner, or
  repository TEXT,                        -- for the repository with this id
  rights TEXT NOT NULL CHECK (rights IN ('read', 'write', 'admin')),
  refs TEXT,                              -- JSON, TokenRefRule[]; NULL: all refs
  created_ms INTEGER NOT NULL,
  expires_ms INTEGER,
  used_ms INTEGER,                        -- precise to an hour
  CHECK ((owner IS NULL) <> (repository IS NULL))
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS tokens_of_owner ON tokens(owner, id);
CREATE INDEX IF NOT EXISTS tokens_of_repository ON tokens(repository, id);
CREATE INDEX IF NOT EXISTS tokens_by_end ON tokens(expires_ms) WHERE expires_ms IS NOT NULL;
`;

/** Precision of a token's time of last use in ms, since each update is a write. */
const USE_STEP_MS = 60 * 60_000;

/** Time for which an expired token is still shown, in ms: its owner may look for the reason of a
 * refusal. */
export const SHOWN_EXPIRED_MS = 24 * 60 * 60_000;

/** Number of hidden tokens that are removed whenever one is created, so that removal outpaces
 * creation. */
const REMOVED_AT_ONCE = 100;

/** SQL: whether a token is shown, given the result of `shownFrom`. */
const IS_SHOWN = "(expires_ms IS NULL OR expires_ms > ?)";

interface Row extends Record<string, string | number | null> {
  readonly id: string;
  readonly name: string;
  readonly owner: string | null;
  readonly repository: string | null;
  readonly rights: "read" | "write" | "admin";
  readonly refs: string | null;
  readonly createdMs: number;
  readonly expiresMs: number | null;
  readonly lastUsedMs: number | null;
}

const COLUMNS = `id, name, owner, repository, rights, refs, created_ms AS createdMs, expires_ms AS expiresMs,
  used_ms AS lastUsedMs`;

/** The tokens of a deployment, by their hashes. A token's secret is shown to its creator once and
 * stored nowhere. A token disappears a day after it has expired; its row is removed when another
 * token is created. */
export class TokenTable {
  readonly #sql: Sql;

  /** @param sql a database with `TOKEN_TABLE` */
  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Stores a token, and removes some that expired long ago.
   * @param hash
   * @see hashToken
   * @returns null: its scope already has `MAX_TOKENS` */
  create(token: NewToken, hash: string, nowMs: number): Token | null {
    const { id, name, scope, right, refs, expiresMs } = token;
    this.#sql.exec(
      `DELETE FROM tokens WHERE id IN
        (SELECT id FROM tokens WHERE expires_ms IS NOT NULL AND expires_ms <= ? LIMIT ?)`,
      shownFrom(nowMs),
      REMOVED_AT_ONCE,
    );
    if (this.#count(scope, nowMs) >= MAX_TOKENS) return null;
    this.#sql.exec(
      `INSERT INTO tokens (id, hash, name, owner, repository, rights, refs, created_ms, expires_ms)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      id,
      hash,
      name,
      "owner" in scope ? scope.owner : null,
      "owner" in scope ? null : scope.repositoryId,
      right,
      refs === null ? null : JSON.stringify(refs),
      nowMs,
      expiresMs,
    );
    return { ...token, createdMs: nowMs, lastUsedMs: null };
  }

  /** Finds the token with a hash, and records its use; null: there is none, or it has expired. */
  use(hash: string, nowMs: number): Token | null {
    return this.#use("hash", hash, nowMs);
  }

  /** Finds the token with an id; as `use`. */
  useById(id: string, nowMs: number): Token | null {
    return this.#use("id", id, nowMs);
  }

  #use(column: "hash" | "id", value: string, nowMs: number): Token | null {
    const [row] = this.#sql.exec<Row>(`SELECT ${COLUMNS} FROM tokens WHERE ${column} = ?`, value).toArray();
    if (row === undefined || (row.expiresMs !== null && row.expiresMs <= nowMs)) return null;
    if (nowMs - (row.lastUsedMs ?? 0) >= USE_STEP_MS)
      this.#sql.exec("UPDATE tokens SET used_ms = ? WHERE id = ?", nowMs, row.id);
    return toToken(row);
  }

  /** Finds a token by its id; null: there is none. */
  read(id: string, nowMs: number): Token | null {
    const query = `SELECT ${COLUMNS} FROM tokens WHERE id = ? AND ${IS_SHOWN}`;
    const [row] = this.#sql.exec<Row>(query, id, shownFrom(nowMs)).toArray();
    return row === undefined ? null : toToken(row);
  }

  /** Lists the tokens with exactly this scope, by id, including those that expired within a day.
   * @param after only ids after this one; "": from the beginning */
  list(scope: TokenScope, after: string, limit: number, nowMs: number): Token[] {
    const [column, value] = columnOf(scope);
    const query = `SELECT ${COLUMNS} FROM tokens WHERE ${column} = ? AND id > ? AND ${IS_SHOWN} ORDER BY id LIMIT ?`;
    return this.#sql.exec<Row>(query, value, after, shownFrom(nowMs), limit).toArray().map(toToken);
  }

  #count(scope: TokenScope, nowMs: number): number {
    const [column, value] = columnOf(scope);
    const query = `SELECT count(*) AS count FROM tokens WHERE ${column} = ? AND ${IS_SHOWN}`;
    return this.#sql.exec<{ count: number }>(query, value, shownFrom(nowMs)).one().count;
  }

  /** Finds the ids that belong to no token for a repository or for its owner.
   * @returns in the given order, each once */
  findUnknown(ids: readonly string[], owner: string, repositoryId: string, nowMs: number): string[] {
    const query = `SELECT DISTINCT value AS id FROM json_each(?) WHERE NOT EXISTS
      (SELECT 1 FROM tokens WHERE id = value AND (owner = ? OR repository = ?) AND ${IS_SHOWN})`;
    const rows = this.#sql.exec<{ id: string }>(query, JSON.stringify(ids), owner, repositoryId, shownFrom(nowMs));
    return rows.toArray().map(({ id }) => id);
  }

  /** Revokes a token.
   * @returns whether it existed */
  revoke(id: string): boolean {
    return this.#sql.exec("DELETE FROM tokens WHERE id = ? RETURNING id", id).toArray().length > 0;
  }

  /** Revokes the tokens of a deleted repository. */
  revokeAllOf(repositoryId: string): void {
    this.#sql.exec("DELETE FROM tokens WHERE repository = ?", repositoryId);
  }
}

/** Expiry time (ms since 1970) up to which expired tokens are no longer shown. */
function shownFrom(nowMs: number): number {
  return nowMs - SHOWN_EXPIRED_MS;
}

function columnOf(scope: TokenScope): ["owner" | "repository", string] {
  return "owner" in scope ? ["owner", scope.owner] : ["repository", scope.repositoryId];
}

function toToken({ owner, repository, rights, refs, ...rest }: Row): Token {
  return {
    ...rest,
    scope: owner === null ? { repositoryId: repository! } : { owner },
    right: rights,
    refs: refs === null ? null : (JSON.parse(refs) as TokenRefRule[]),
  };
}
