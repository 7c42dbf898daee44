// The rows of the registry, and its lists.
import type { Caller, Target, TokenScope } from "../../access/caller.ts";
import type { RepositoryName } from "../../format/repository-name.ts";
import type { Sql } from "../sql/sql.ts";

/** The tables of repositories; part of the registry. */
export const REPOSITORY_TABLES = `
CREATE TABLE IF NOT EXISTS repositories (
  id TEXT PRIMARY KEY,                    -- opaque, random: names the repository's object, begins its R2 keys
  owner TEXT NOT NULL COLLATE NOCASE,     -- as they are shown
  name TEXT NOT NULL COLLATE NOCASE,
  state TEXT NOT NULL CHECK (state IN ('reserved', 'live')),
  touched_ms INTEGER NOT NULL,            -- when the name was last reserved
  description TEXT,
  visibility TEXT NOT NULL CHECK (visibility IN ('public', 'private')),
  default_branch TEXT,                    -- byte string; from here on as the repository last told
  created_ms INTEGER,
  pushed_ms INTEGER,
  size INTEGER NOT NULL DEFAULT 0,
  objects INTEGER NOT NULL DEFAULT 0,
  UNIQUE (owner, name)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS shown ON repositories(owner, name) WHERE visibility = 'public' AND state = 'live';
CREATE INDEX IF NOT EXISTS reserved ON repositories(touched_ms) WHERE state = 'reserved';
CREATE TABLE IF NOT EXISTS former_names (
  owner TEXT NOT NULL COLLATE NOCASE,
  name TEXT NOT NULL COLLATE NOCASE,
  id TEXT NOT NULL,                       -- the repository that had the name
  left_ms INTEGER NOT NULL,               -- when it took another
  PRIMARY KEY (owner, name)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS former_names_of ON former_names(id);
`;

/** Who may see a repository: everybody, or who has a token for it. */
export type Visibility = Target["visibility"];

/** What is said of a repository and kept by the registry alone. */
export interface RepositoryDetails {
  readonly description: string | null;
  readonly visibility: Visibility;
}

/** A repository in figures. */
export interface RepositoryFigures {
  /** Without `refs/heads/`, byte string; null: no branch is. */
  readonly defaultBranch: string | null;
  readonly createdMs: number;
  /** Null: nothing was ever pushed. */
  readonly pushedMs: number | null;
  /** Of the objects as they are stored. */
  readonly sizeBytes: number;
  readonly objectCount: number;
}

/** A repository as a list shows it. */
export interface RepositoryEntry extends RepositoryName, RepositoryDetails, RepositoryFigures {
  readonly id: string;
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
}

/** Selects a row. */
export const REPOSITORY_COLUMNS = `id, owner, name, state, description, visibility, default_branch AS defaultBranch, created_ms AS createdMs,
  pushed_ms AS pushedMs, size AS sizeBytes, objects AS objectCount`;

/** What a list shows of a row. */
export function toEntry({ state: _state, ...entry }: RepositoryRow): RepositoryEntry {
  return entry;
}

/** Repositories that exist and that a caller may read, in the order of their names.
 * @param owner only of this owner, null: of all
 * @param after only those behind this name, null: from the beginning */
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

/** The repositories that a token holds for. */
function ownPage(
  owner: string | null,
  scope: TokenScope,
  page: (only: string | null, condition: string, ...bindings: string[]) => RepositoryEntry[],
): RepositoryEntry[] {
  if ("repositoryId" in scope) return page(owner, "id = ?", scope.repositoryId);
  return owner === null || owner.toLowerCase() === scope.owner.toLowerCase() ? page(scope.owner, "TRUE") : [];
}

/** One range of an index, whatever is asked: no owner sorts before the empty one, none has a character behind "~". */
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
    // oxlint-disable-next-line bounded/no-call-spread -- one at the most.
    ...bindings,
    limit,
  );
  return rows.toArray().map(toEntry);
}

/** The order of the lists, in which case does not count. */
function compareNames(a: RepositoryName, b: RepositoryName): number {
  const compare = (one: string, other: string) => (one < other ? -1 : Number(one > other));
  return compare(a.owner.toLowerCase(), b.owner.toLowerCase()) || compare(a.name.toLowerCase(), b.name.toLowerCase());
}
