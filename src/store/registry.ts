// Which repositories there are: the database of the registry, one for the deployment. It knows each repository by an opaque id, which
// names the repository's own object, and shows what that last told of itself. docs/storage.md tells the tables' life.
//
// A row comes and goes only with the repository's word: `reserve` and `create` enter a name before there is anything, and from then on
// the object says what became of it (`report`). So no row is lost whose repository exists.
import { foldRepositoryName, type RepositoryName } from "../format/repository-name.ts";
import type { Sql, Transactor } from "./sql.ts";

const TABLES = `
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

/** How long whoever asked where a name leads may remember it. What leads elsewhere meanwhile is safe: a deleted repository
 * answers that it is unknown, and a name that was left is given to nobody else for `NAME_HOLD_MS`. */
export const ROUTE_LIFE_MS = 30_000;

/** How long a name stays with the repository that left it, whoever wants it: longer than it is remembered by any clock. */
export const NAME_HOLD_MS = 2 * ROUTE_LIFE_MS;

/** How long a reserved name waits for its repository before that is asked what became of it. */
export const RESERVATION_MS = 60 * 60_000;

/** Reservations looked into at a time. */
const LAPSED_AT_ONCE = 100;

/** Who may see a repository. */
export type Visibility = "public" | "private";

/** What is said of a repository and kept by the registry alone. */
export interface RepositoryDetails {
  readonly description: string | null;
  readonly visibility: Visibility;
}

/** Of a repository that a push creates. */
const PUSHED_DETAILS: RepositoryDetails = { description: null, visibility: "private" };

/** What a repository tells of itself. */
export type RepositoryStanding =
  | ({ readonly kind: "live" } & RepositoryFigures)
  /** Nothing has been created so far, and nothing is under way. */
  | { readonly kind: "absent" }
  | { readonly kind: "deleted" };

/** What a repository needs of the registry. */
export interface RegistryPort {
  /** @see Registry.admit */
  admit(id: string): Promise<boolean>;
  /** @see Registry.report */
  report(id: string, standing: RepositoryStanding): Promise<void>;
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

/** Where a name leads. */
export interface RepositoryRoute {
  readonly id: string;
  /** The repository has another name now: this one may be given away, and is not to be remembered. */
  readonly isFormer: boolean;
}

/** Why a name cannot be had: another repository has it (as it is shown), or left it less than `NAME_HOLD_MS` ago. */
export type NameRefusal =
  | { readonly kind: "taken"; readonly by: RepositoryName }
  | { readonly kind: "held"; readonly retryAfterMs: number };

/** What to change; what is left out stays. */
export type RepositoryChange = {
  readonly [Field in keyof (RepositoryName & RepositoryDetails)]?:
    | (RepositoryName & RepositoryDetails)[Field]
    | undefined;
};

interface Row extends Record<string, string | number | null> {
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

const COLUMNS = `id, owner, name, state, description, visibility, default_branch AS defaultBranch, created_ms AS createdMs,
  pushed_ms AS pushedMs, size AS sizeBytes, objects AS objectCount`;

/** The repositories of a deployment by name. */
export class Registry {
  readonly #sql: Sql;
  readonly #transactor: Transactor;

  /** Makes the tables if need be. */
  constructor(sql: Sql, transactor: Transactor) {
    this.#sql = sql;
    this.#transactor = transactor;
    sql.exec(TABLES);
  }

  /** Where a name leads; null: nowhere. What it leads to need not be created yet. */
  find({ owner, name }: RepositoryName): RepositoryRoute | null {
    const row = this.#named({ owner, name });
    if (row !== null) return { id: row.id, isFormer: false };
    const former = this.#former({ owner, name });
    return former === null ? null : { id: former.id, isFormer: true };
  }

  /** Where a name leads; a name that leads nowhere is reserved, for a push that may create its repository. */
  reserve(name: RepositoryName, nowMs: number): RepositoryRoute {
    return this.#transactor.transactionSync(() => {
      const found = this.find(name);
      if (found === null) return { id: this.#enter(name, PUSHED_DETAILS, nowMs), isFormer: false };
      this.#touch(found.id, nowMs);
      return found;
    });
  }

  /** Reserves a name for a new repository. One that a push has reserved is taken over: both want the same. */
  create(
    name: RepositoryName,
    details: RepositoryDetails,
    nowMs: number,
  ): { readonly kind: "reserved"; readonly id: string } | NameRefusal {
    return this.#transactor.transactionSync(() => {
      const row = this.#named(name);
      if (row?.state === "live") return { kind: "taken", by: row };
      if (row !== null) {
        this.#sql.exec(
          "UPDATE repositories SET owner = ?, name = ?, description = ?, visibility = ?, touched_ms = ? WHERE id = ?",
          name.owner,
          name.name,
          details.description,
          details.visibility,
          nowMs,
          row.id,
        );
        return { kind: "reserved", id: row.id };
      }
      const refusal = this.#takeFormer(name, null, nowMs);
      return refusal ?? { kind: "reserved", id: this.#enter(name, details, nowMs) };
    });
  }

  /** Whether an object may become a repository: a name is kept for it, from now on for `RESERVATION_MS` again. */
  admit(id: string, nowMs: number): boolean {
    this.#touch(id, nowMs);
    return this.#sql.exec("SELECT 1 FROM repositories WHERE id = ?", id).toArray().length > 0;
  }

  /** Takes note of what a repository tells of itself. */
  report(id: string, standing: RepositoryStanding, nowMs: number): void {
    switch (standing.kind) {
      case "live":
        this.#sql.exec(
          `UPDATE repositories SET state = 'live', default_branch = ?, created_ms = ?, pushed_ms = ?, size = ?, objects = ?
            WHERE id = ?`,
          standing.defaultBranch,
          standing.createdMs,
          standing.pushedMs,
          standing.sizeBytes,
          standing.objectCount,
          id,
        );
        return;
      case "absent":
        // A reservation made since it was asked is another's.
        this.#sql.exec(
          "DELETE FROM repositories WHERE id = ? AND state = 'reserved' AND touched_ms <= ?",
          id,
          nowMs - RESERVATION_MS,
        );
        return;
      case "deleted":
        this.#transactor.transactionSync(() => {
          this.#sql.exec("DELETE FROM repositories WHERE id = ?", id);
          this.#sql.exec("DELETE FROM former_names WHERE id = ?", id);
        });
    }
  }

  /** A repository that exists, by the name it has or had; null: there is none. */
  read(name: RepositoryName): RepositoryEntry | null {
    const route = this.find(name);
    const row = route === null ? null : this.#row("id = ?", route.id);
    return row?.state === "live" ? toEntry(row) : null;
  }

  /** Repositories that exist, in the order of their names.
   * @param owner only of this owner, null: of all
   * @param after only those behind this name, null: from the beginning */
  list(owner: string | null, after: RepositoryName | null, limit: number): RepositoryEntry[] {
    // One range of the index whatever is asked: no owner sorts before the empty one, none has a character behind "~".
    const rows = this.#sql.exec<Row>(
      `SELECT ${COLUMNS} FROM repositories
        WHERE (owner, name) > (?, ?) AND owner BETWEEN ? AND ? AND state = 'live' ORDER BY owner, name LIMIT ?`,
      after?.owner ?? "",
      after?.name ?? "",
      owner ?? "",
      owner ?? "~",
      limit,
    );
    return rows.toArray().map(toEntry);
  }

  /** Changes what is said of a repository, and its name: the one it had goes on leading to it, until another takes it.
   * @returns null: there is no such repository */
  update(
    id: string,
    change: RepositoryChange,
    nowMs: number,
  ): { readonly kind: "updated"; readonly entry: RepositoryEntry } | NameRefusal | null {
    return this.#transactor.transactionSync(() => {
      const row = this.#row("id = ?", id);
      if (row?.state !== "live") return null;
      const next = {
        ...toEntry(row),
        owner: change.owner ?? row.owner,
        name: change.name ?? row.name,
        description: change.description === undefined ? row.description : change.description,
        visibility: change.visibility ?? row.visibility,
      };
      const refusal = this.#rename(row, next, nowMs);
      if (refusal !== null) return refusal;
      this.#sql.exec(
        "UPDATE repositories SET owner = ?, name = ?, description = ?, visibility = ? WHERE id = ?",
        next.owner,
        next.name,
        next.description,
        next.visibility,
        id,
      );
      return { kind: "updated", entry: next };
    });
  }

  /** Has repositories asked whose names were reserved and never became live; each `report`s what became of it.
   * @param ask has one report; what it throws is left for the next time
   * @returns when to come again (ms since 1970), null: nothing is reserved */
  async lookIntoReservations(nowMs: number, ask: (id: string) => Promise<void>): Promise<number | null> {
    const lapsed = this.#sql.exec<{ id: string }>(
      "SELECT id FROM repositories WHERE state = 'reserved' AND touched_ms <= ? ORDER BY touched_ms LIMIT ?",
      nowMs - RESERVATION_MS,
      LAPSED_AT_ONCE,
    );
    await Promise.allSettled(lapsed.toArray().map(({ id }) => ask(id)));
    const oldestMs = this.#oldestReservationMs();
    return oldestMs === null ? null : Math.max(oldestMs, nowMs) + RESERVATION_MS;
  }

  #oldestReservationMs(): number | null {
    const query = "SELECT min(touched_ms) AS oldest FROM repositories WHERE state = 'reserved'";
    return this.#sql.exec<{ oldest: number | null }>(query).one().oldest;
  }

  /** Gives a row another name, or says why not; belongs in a transaction. */
  #rename(row: Row, to: RepositoryName, nowMs: number): NameRefusal | null {
    if (foldRepositoryName(row) === foldRepositoryName(to)) return null;
    const other = this.#named(to);
    if (other !== null) return { kind: "taken", by: other };
    const refusal = this.#takeFormer(to, row.id, nowMs);
    if (refusal !== null) return refusal;
    this.#sql.exec(
      "INSERT INTO former_names (owner, name, id, left_ms) VALUES (?, ?, ?, ?)",
      row.owner,
      row.name,
      row.id,
      nowMs,
    );
    return null;
  }

  /** Takes a name from the repository that had it, if that left it long ago, or is the one that wants it back. */
  #takeFormer(name: RepositoryName, forId: string | null, nowMs: number): NameRefusal | null {
    const former = this.#former(name);
    if (former === null) return null;
    const retryAfterMs = former.leftMs + NAME_HOLD_MS - nowMs;
    if (former.id !== forId && retryAfterMs > 0) return { kind: "held", retryAfterMs };
    this.#sql.exec("DELETE FROM former_names WHERE owner = ? AND name = ?", name.owner, name.name);
    return null;
  }

  #enter({ owner, name }: RepositoryName, { description, visibility }: RepositoryDetails, nowMs: number): string {
    const id = crypto.randomUUID();
    this.#sql.exec(
      `INSERT INTO repositories (id, owner, name, state, touched_ms, description, visibility)
        VALUES (?, ?, ?, 'reserved', ?, ?, ?)`,
      id,
      owner,
      name,
      nowMs,
      description,
      visibility,
    );
    return id;
  }

  #touch(id: string, nowMs: number): void {
    this.#sql.exec("UPDATE repositories SET touched_ms = ? WHERE id = ? AND state = 'reserved'", nowMs, id);
  }

  #named({ owner, name }: RepositoryName): Row | null {
    return this.#row("owner = ? AND name = ?", owner, name);
  }

  #row(condition: string, ...bindings: string[]): Row | null {
    const query = `SELECT ${COLUMNS} FROM repositories WHERE ${condition}`;
    return this.#sql.exec<Row>(query, ...bindings).toArray()[0] ?? null;
  }

  #former({ owner, name }: RepositoryName): { id: string; leftMs: number } | null {
    const query = "SELECT id, left_ms AS leftMs FROM former_names WHERE owner = ? AND name = ?";
    return this.#sql.exec<{ id: string; leftMs: number }>(query, owner, name).toArray()[0] ?? null;
  }
}

function toEntry(row: Row): RepositoryEntry {
  const { state: _state, ...entry } = row;
  return entry;
}
