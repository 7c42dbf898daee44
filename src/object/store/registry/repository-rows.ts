// The rows of the registry's repositories, and lists of them.
import type { Caller, TokenScope } from "../../../base/access/caller.ts";
import type { RepositoryName } from "../../../base/format/repository-name.ts";
import type { Sql } from "../sql/sql.ts";
import type { Visibility, RepositoryEntry, Parent } from "../../../contract/registry.ts";

/** The tables of repositories; part of the registry. */
const REPOSITORY_TABLES = `
CREATE TABLE IF NOT EXISTS repositories (
  id TEXT PRIMARY KEY,                    -- opaque, random: names the repository's object, begins its R2 keys
  owner TEXT NOT NULL COLLATE NOCASE,     -- in their displayed form
  name TEXT NOT NULL COLLATE NOCASE,
  state TEXT NOT NULL CHECK (state IN ('reserved', 'live')),
  touched_ms INTEGER NOT NULL,            -- when the name was last reserved
  description TEXT,
  visibility TEXT NOT NULL CHECK (visibility IN ('public', 'private')),
  default_branch TEXT,                    -- byte string; from here on as last reported
  created_ms INTEGER,
  pushed_ms INTEGER,
  size INTEGER NOT NULL DEFAULT 0,
  objects INTEGER NOT NULL DEFAULT 0,
  parent TEXT,                            -- id of the repository that it is a fork of
  family TEXT,                            -- id of what the first of these was made of; NULL: its own
  shared INTEGER NOT NULL DEFAULT 0,      -- bytes that others of its family hold for it
  expires_ms INTEGER,                     -- when it deletes itself
  UNIQUE (owner, name)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS shown ON repositories(owner, name) WHERE visibility = 'public' AND state = 'live';
CREATE INDEX IF NOT EXISTS reserved ON repositories(touched_ms) WHERE state = 'reserved';
CREATE TABLE IF NOT EXISTS former_names (
  owner TEXT NOT NULL COLLATE NOCASE,
  name TEXT NOT NULL COLLATE NOCASE,
  id TEXT NOT NULL,                       -- the repository that had the name
  left_ms INTEGER NOT NULL,               -- when it was renamed
  PRIMARY KEY (owner, name)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS former_names_of ON former_names(id);
`;

/** Columns that an older release lacks. */
const FORK_COLUMNS = `
ALTER TABLE repositories ADD COLUMN parent TEXT;
ALTER TABLE repositories ADD COLUMN family TEXT;
ALTER TABLE repositories ADD COLUMN shared INTEGER NOT NULL DEFAULT 0;
ALTER TABLE repositories ADD COLUMN expires_ms INTEGER;
`;

/** Creates the tables of repositories, or brings them up to date. */
export function createRepositoryTables(sql: Sql): void {
  sql.exec(REPOSITORY_TABLES);
  const hasForks =
    sql.exec("SELECT 1 FROM pragma_table_info('repositories') WHERE name = 'parent'").toArray().length > 0;
  if (!hasForks) sql.exec(FORK_COLUMNS);
  // Drops an older release's index, which lacks the visibility.
  sql.exec("DROP INDEX IF EXISTS forks");
  sql.exec(
    "CREATE INDEX IF NOT EXISTS forks_shown ON repositories(parent, visibility, owner, name) WHERE parent IS NOT NULL",
  );
  sql.exec("CREATE INDEX IF NOT EXISTS relatives ON repositories(family, owner, name) WHERE family IS NOT NULL");
}

/** A repository, or a name reserved for one. */
export interface RepositoryRow extends Record<string, string | number | null> {
  readonly id: string;
  readonly owner: string;
  readonly name: string;
  readonly state: "reserved" | "live";
  readonly description: string | null;
  readonly visibility: Visibility;
  readonly defaultBranch: string | null;
  readonly createdMs: number;
  readonly pushedMs: number | null;
  readonly sizeBytes: number;
  readonly objectCount: number;
  readonly sharedBytes: number;
  readonly expiresMs: number | null;
  /** JSON of `Parent`. */
  readonly parentJson: string | null;
}

/** The columns of `RepositoryRow`. */
export const REPOSITORY_COLUMNS = `id, owner, name, state, description, visibility, default_branch AS defaultBranch, created_ms AS createdMs,
  pushed_ms AS pushedMs, size AS sizeBytes, objects AS objectCount, shared AS sharedBytes, expires_ms AS expiresMs,
  (SELECT json_object('id', of.id, 'owner', of.owner, 'name', of.name, 'visibility', of.visibility) FROM repositories AS of
    WHERE of.id = repositories.parent AND of.state = 'live') AS parentJson`;

/** Takes the fields of a row that lists show. */
export function toEntry({ state: _state, parentJson, ...entry }: RepositoryRow): RepositoryEntry {
  return { ...entry, parent: parentJson === null ? null : (JSON.parse(parentJson) as Parent) };
}

/** Lists the existing repositories that a caller may read, sorted by name.
 * @param owner only repositories of this owner; null: of all
 * @param after only names after this one; null: from the beginning */
export function listRepositories(
  sql: Sql,
  owner: string | null,
  after: RepositoryName | null,
  limit: number,
  caller: Caller,
): RepositoryEntry[] {
  const page = (only: string | null, condition: string, ...bindings: string[]) =>
    readPage(sql, only, after, limit, condition, bindings);
  if (caller.kind === "anyone" || caller.kind === "operator") return page(owner, "TRUE");
  const shown = page(owner, "visibility = 'public'");
  const own = caller.kind === "token" ? ownPage(owner, caller.token.scope, page) : [];
  const byId = new Map([...shown, ...own].map((entry) => [entry.id, entry]));
  return [...byId.values()].toSorted(compareNames).slice(0, limit);
}

/** Finds a repository's relatives of an owner: forks of its parent, the parent itself, and its own
 * forks; at most 100.
 * @param name only relatives of this name; null: any */
export function findRelatives(sql: Sql, id: string, owner: string, name: string | null): RepositoryEntry[] {
  const family = "(SELECT ifnull(family, id) FROM repositories WHERE id = ?1)";
  const query = `SELECT ${REPOSITORY_COLUMNS} FROM repositories WHERE (family = ${family} OR id = ${family})
    AND owner = ?2 AND (?3 IS NULL OR name = ?3) AND state = 'live' LIMIT 100`;
  return sql.exec<RepositoryRow>(query, id, owner, name).toArray().map(toEntry);
}

/** Lists the repositories in a token's scope. */
function ownPage(
  owner: string | null,
  scope: TokenScope,
  page: (only: string | null, condition: string, ...bindings: string[]) => RepositoryEntry[],
): RepositoryEntry[] {
  if ("repositoryId" in scope) return page(owner, "id = ?", scope.repositoryId);
  return owner === null || owner.toLowerCase() === scope.owner.toLowerCase() ? page(scope.owner, "TRUE") : [];
}

/** Reads a page. It is always one range of an index: no owner sorts before the empty string, and no
 * name has a character after "~". */
function readPage(
  sql: Sql,
  owner: string | null,
  after: RepositoryName | null,
  limit: number,
  condition: string,
  bindings: readonly string[],
): RepositoryEntry[] {
  const rows = sql.exec<RepositoryRow>(
    `SELECT ${REPOSITORY_COLUMNS} FROM repositories
      WHERE (owner, name) > (?, ?) AND owner BETWEEN ? AND ? AND state = 'live' AND ${condition}
      ORDER BY owner, name LIMIT ?`,
    after?.owner ?? "",
    after?.name ?? "",
    owner ?? "",
    owner ?? "~",
    // oxlint-disable-next-line bounded/no-call-spread -- at most one.
    ...bindings,
    limit,
  );
  return rows.toArray().map(toEntry);
}

/** Compares names in the order of lists, ignoring case. */
export function compareNames(a: RepositoryName, b: RepositoryName): number {
  const compare = (one: string, other: string) => (one < other ? -1 : Number(one > other));
  return compare(a.owner.toLowerCase(), b.owner.toLowerCase()) || compare(a.name.toLowerCase(), b.name.toLowerCase());
}
