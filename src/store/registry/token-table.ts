import type { Token, TokenRefRule, TokenScope } from "../../access/caller.ts";
import type { Sql } from "../sql/sql.ts";

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
`;

/** Precision of a token's time of last use, since each update is a write. */
const USE_STEP_MS = 60 * 60_000;

/** Maximum number of tokens of one owner, or of one repository. */
export const MAX_TOKENS = 1_000;

/** A token to create. */
export type NewToken = Pick<Token, "id" | "name" | "scope" | "right" | "refs" | "expiresMs">;

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
 * stored nowhere. */
export class TokenTable {
  readonly #sql: Sql;

  /** @param sql a database with `TOKEN_TABLE` */
  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Stores a token.
   * @param hash
   * @see hashToken
   * @returns null: its scope already has `MAX_TOKENS` */
  create(token: NewToken, hash: string, nowMs: number): Token | null {
    const { id, name, scope, right, refs, expiresMs } = token;
    if (this.list(scope, "", MAX_TOKENS).length === MAX_TOKENS) return null;
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

  /** The token with a hash, recording its use; null: there is none, or it has expired. */
  use(hash: string, nowMs: number): Token | null {
    return this.#use("hash", hash, nowMs);
  }

  /** The token with an id, as `use`. */
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

  /** A token by its id; null: there is none. */
  read(id: string): Token | null {
    const [row] = this.#sql.exec<Row>(`SELECT ${COLUMNS} FROM tokens WHERE id = ?`, id).toArray();
    return row === undefined ? null : toToken(row);
  }

  /** The tokens with exactly this scope, including expired ones, by id.
   * @param after only ids after this one, "": from the beginning */
  list(scope: TokenScope, after: string, limit: number): Token[] {
    const [column, value] = "owner" in scope ? ["owner", scope.owner] : ["repository", scope.repositoryId];
    const query = `SELECT ${COLUMNS} FROM tokens WHERE ${column} = ? AND id > ? ORDER BY id LIMIT ?`;
    return this.#sql.exec<Row>(query, value, after, limit).toArray().map(toToken);
  }

  /** Those of the ids that belong to no token for a repository or for its owner.
   * @returns in the given order, each once */
  findUnknown(ids: readonly string[], owner: string, repositoryId: string): string[] {
    const query = `SELECT DISTINCT value AS id FROM json_each(?) WHERE NOT EXISTS
      (SELECT 1 FROM tokens WHERE id = value AND (owner = ? OR repository = ?))`;
    const rows = this.#sql.exec<{ id: string }>(query, JSON.stringify(ids), owner, repositoryId);
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

function toToken({ owner, repository, rights, refs, ...rest }: Row): Token {
  return {
    ...rest,
    scope: owner === null ? { repositoryId: repository! } : { owner },
    right: rights,
    refs: refs === null ? null : (JSON.parse(refs) as TokenRefRule[]),
  };
}
