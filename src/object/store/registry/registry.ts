// The database of the registry, one for the deployment: it knows all repositories. Each has an
// opaque id, which names its object, and the registry shows the object's last report.
// docs/storage.md describes the life of the tables.
//
// Only the repository's object makes its row live and removes it. `reserve` and `create` enter a
// name before anything else exists; from then on the object reports the result (`report`). So no
// existing repository loses its row.
import { type Caller, everythingOf, type Target, type TokenScope } from "../../../base/access/caller.ts";
import { changeQuota, isLimited, type QuotaChange, type Use } from "../../../base/access/quota.ts";
import { foldRepositoryName, type RepositoryName } from "../../../base/format/repository-name.ts";
import {
  type EntryWithForks,
  type ForkPage,
  type QuotaHolder,
  PUSHED_DETAILS,
  type RepositoryDetails,
  type RepositoryEntry,
  type ListeningOwner,
  type RepositoryStanding,
  type RepositoryRoute,
  type QuotaStanding,
  type NameRefusal,
  type RepositoryChange,
  type FoundPage,
} from "../../../contract/registry.ts";
import { firstForks, listForks } from "./fork-rows.ts";
import { ListeningTable } from "./listening-table.ts";
import { QuotaTable } from "./quota-table.ts";
import {
  createRepositoryTables,
  findRelatives,
  listRepositories,
  REPOSITORY_COLUMNS,
  type RepositoryRow,
  toEntry,
} from "./repository-rows.ts";
import { NAME_HOLD_MS, RESERVATION_MS } from "./registry-answers.ts";
import { searchRepositories } from "./search.ts";
import { checkDatabase, noteVersion } from "../sql/database-version.ts";
import { tableExists } from "../sql/schema.ts";
import type { Sql, Transactor } from "../sql/sql.ts";

/** Newest schema of the registry's tables, those of tokens and sessions included. */
const SCHEMA_VERSION = 1;

const BEGUN_TABLE = `
CREATE TABLE IF NOT EXISTS begun ( -- at most one row
  id INTEGER PRIMARY KEY CHECK (id = 1),
  time_ms INTEGER NOT NULL
)`;

/** Shortest time between two renewals of a reservation, in ms: each writes two rows, and a first
 * push causes several. */
const TOUCH_STEP_MS = 60_000;

/** Number of reservations checked at a time. */
const LAPSED_AT_ONCE = 100;

/** The repositories of a deployment, by name. */
export class Registry {
  readonly #sql: Sql;
  readonly #transactor: Transactor;
  readonly #quotas: QuotaTable;
  /** The owners whose repositories report events to the owner's log. */
  readonly listening: ListeningTable;

  /** Creates the tables if needed.
   * @throws GitError "newer-data" */
  constructor(sql: Sql, transactor: Transactor) {
    checkDatabase(sql, "registry", SCHEMA_VERSION);
    this.#sql = sql;
    this.#quotas = new QuotaTable(sql);
    this.listening = new ListeningTable(sql);
    this.#transactor = transactor;
    // An older release did not write `begun`, and may have had repositories whose bytes are still
    // to be removed.
    const isOlder = tableExists(sql, "repositories") && !tableExists(sql, "begun");
    createRepositoryTables(sql);
    sql.exec(BEGUN_TABLE);
    if (isOlder) this.begin(0);
    noteVersion(sql, SCHEMA_VERSION);
  }

  /** Finds the route of a name; null: unknown. The repository may be reserved only. */
  find({ owner, name }: RepositoryName): RepositoryRoute | null {
    const named = this.#named({ owner, name });
    const former = named === null ? this.#former({ owner, name }) : null;
    const row = former === null ? named : this.#row("id = ?", former.id);
    return row === null ? null : this.#routeTo(row, former !== null);
  }

  /** Finds the route of a name. An unknown name is reserved for a push that may create its
   * repository. */
  reserve(name: RepositoryName, nowMs: number): RepositoryRoute {
    return this.#transactor.transactionSync(() => {
      const found = this.find(name);
      if (found === null) {
        const id = this.#enter(name, PUSHED_DETAILS, nowMs);
        return this.#routeTo({ ...PUSHED_DETAILS, ...name, id, state: "reserved" }, false);
      }
      this.#touch(found.id, nowMs);
      return found;
    });
  }

  /** Reserves a name for a new repository. A push's reservation of the same name is taken over. */
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

  /** Whether an object may become a repository: a name is reserved for it. Renews the reservation
   * for `RESERVATION_MS`. A live one is refused: it was a repository already, and lost its
   * database. */
  admit(id: string, nowMs: number): boolean {
    this.#touch(id, nowMs);
    return this.#sql.exec("SELECT 1 FROM repositories WHERE id = ? AND state = 'reserved'", id).toArray().length > 0;
  }

  /** Whether `begin` was ever called. */
  hasBegun(): boolean {
    return this.#sql.exec("SELECT 1 FROM begun").toArray().length > 0;
  }

  /** Records that the registry is in use: from now on its tables may be empty. */
  begin(nowMs: number): void {
    this.#sql.exec("INSERT OR IGNORE INTO begun (id, time_ms) VALUES (1, ?)", nowMs);
  }

  /** Records a repository's report.
   * @returns the repository's owner, if the owner has listeners; else null */
  report(id: string, standing: RepositoryStanding, nowMs: number): ListeningOwner | null {
    this.#record(id, standing, nowMs);
    return this.listening.isAny() ? this.listening.ownerOf(id) : null;
  }

  #record(id: string, standing: RepositoryStanding, nowMs: number): void {
    switch (standing.kind) {
      case "live":
        this.#sql.exec(
          `UPDATE repositories SET state = 'live', default_branch = ?1, created_ms = ?2, pushed_ms = ?3, size = ?4, objects = ?5,
            shared = ?6, expires_ms = ?7, parent = ifnull(parent, ?8),
            family = ifnull(family, ifnull((SELECT ifnull(of.family, of.id) FROM repositories AS of WHERE of.id = ?8), ?8))
            WHERE id = ?9 AND ((parent IS NULL AND ?8 IS NOT NULL)
              OR (state, default_branch, created_ms, pushed_ms, size, objects, shared, expires_ms)
                IS NOT ('live', ?1, ?2, ?3, ?4, ?5, ?6, ?7))`,
          standing.defaultBranch,
          standing.createdMs,
          standing.pushedMs,
          standing.sizeBytes,
          standing.objectCount,
          standing.sharedBytes,
          standing.expiresMs,
          standing.parentId,
          id,
        );
        return;
      case "absent":
        // A reservation that was renewed after the question belongs to another push.
        this.#sql.exec(
          "DELETE FROM repositories WHERE id = ? AND state = 'reserved' AND touched_ms <= ?",
          id,
          nowMs - RESERVATION_MS,
        );
        return;
      case "deleted":
        this.#transactor.transactionSync(() => {
          // Gives the repository's forks its own parent as parent.
          const parent = "(SELECT parent FROM repositories WHERE id = ?1)";
          this.#sql.exec(`UPDATE repositories SET parent = ${parent} WHERE parent = ?1`, id);
          this.#sql.exec("DELETE FROM repositories WHERE id = ?", id);
          this.#sql.exec("DELETE FROM former_names WHERE id = ?", id);
          this.#quotas.forget({ repositoryId: id });
        });
    }
  }

  /** Finds an existing repository, by its present or a former name; null: there is none. */
  read(name: RepositoryName): RepositoryEntry | null {
    const route = this.find(name);
    const row = route === null ? null : this.#row("id = ?", route.id);
    return row?.state === "live" ? toEntry(row) : null;
  }

  /** Finds the route of an id; null: unknown. */
  findById(id: string): RepositoryRoute | null {
    const row = this.#row("id = ?", id);
    return row === null ? null : this.#routeTo(row, false);
  }

  /** Finds a token's target; null: the repository is deleted. */
  targetOf(scope: TokenScope): Target | null {
    return "owner" in scope ? everythingOf(scope.owner) : this.#row("id = ?", scope.repositoryId);
  }

  /** Reads a holder's quota and usage. */
  readQuota(holder: QuotaHolder): QuotaStanding {
    const use = "owner" in holder ? this.#useOf("owner = ?", holder.owner) : this.#useOf("id = ?", holder.repositoryId);
    return { ...this.#quotas.get(holder), ...use };
  }

  /** Sets a holder's quota; existing data stays. */
  setQuota(holder: QuotaHolder, change: QuotaChange): void {
    this.#quotas.set(holder, changeQuota(this.#quotas.get(holder), change));
  }

  /** @see listRepositories */
  list(owner: string | null, after: RepositoryName | null, limit: number, caller: Caller): RepositoryEntry[] {
    return listRepositories(this.#sql, owner, after, limit, caller);
  }

  /** Searches the names of repositories that a caller may read.
   * @see searchRepositories */
  search(text: string, owner: string | null, after: RepositoryName | null, limit: number, caller: Caller): FoundPage {
    return searchRepositories(text, after, limit, (from, count) => this.list(owner, from, count, caller));
  }

  /** @see findRelatives */
  findRelatives(id: string, owner: string, name: string | null): RepositoryEntry[] {
    return findRelatives(this.#sql, id, owner, name);
  }

  /** @see listForks */
  listForks(parent: string, after: RepositoryName | null, limit: number, caller: Caller): ForkPage {
    return listForks(this.#sql, parent, after, limit, caller);
  }

  /** Finds an existing repository with the first of its forks that a caller may read, by its
   * present or a former name; null: there is none. */
  readWithForks(name: RepositoryName, limit: number, caller: Caller): EntryWithForks | null {
    const entry = this.read(name);
    return entry === null ? null : { entry, forks: firstForks(this.#sql, entry.id, limit, caller) };
  }

  /** Changes a repository's details and name. The former name keeps leading to it until another
   * repository takes it.
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

  /** Checks old reservations that never became live: each object must `report`.
   * @param ask makes one object report; errors are left for the next check
   * @returns time of the next check (ms since 1970); null: nothing is reserved */
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

  /** Renames a row, or explains the refusal; must run in a transaction. */
  #rename(row: RepositoryRow, to: RepositoryName, nowMs: number): NameRefusal | null {
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

  /** Frees a former name, if it was left long enough ago, or if its own repository reclaims it. */
  #takeFormer(name: RepositoryName, forId: string | null, nowMs: number): NameRefusal | null {
    const former = this.#former(name);
    if (former === null) return null;
    const retryAfterMs = former.leftMs + NAME_HOLD_MS - nowMs;
    if (former.id !== forId && retryAfterMs > 0) return { kind: "held", retryAfterMs };
    this.#sql.exec("DELETE FROM former_names WHERE owner = ? AND name = ?", name.owner, name.name);
    return null;
  }

  /** Makes the route to a repository. If the owner has a quota, reads a row for each of the owner's
   * repositories. */
  #routeTo(
    { id, owner, name, visibility, state }: Target & RepositoryName & Pick<RepositoryRow, "id" | "state">,
    isFormer: boolean,
  ): RepositoryRoute {
    const quota = { repository: this.#quotas.get({ repositoryId: id }), owner: this.#quotas.get({ owner }) };
    const others = isLimited(quota.owner)
      ? this.#useOf("owner = ? AND id <> ?", owner, id)
      : { sizeBytes: 0, objectCount: 0 };
    return { id, owner, name, visibility, isFormer, isLive: state === "live", quota: { ...quota, others } };
  }

  #useOf(condition: string, ...bindings: string[]): Use {
    const query = `SELECT ifnull(sum(size), 0) AS sizeBytes, ifnull(sum(objects), 0) AS objectCount
      FROM repositories WHERE state = 'live' AND ${condition}`;
    return this.#sql.exec<Record<keyof Use, number>>(query, ...bindings).one();
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
    const query = "UPDATE repositories SET touched_ms = ? WHERE id = ? AND state = 'reserved' AND touched_ms <= ?";
    this.#sql.exec(query, nowMs, id, nowMs - TOUCH_STEP_MS);
  }

  #named({ owner, name }: RepositoryName): RepositoryRow | null {
    return this.#row("owner = ? AND name = ?", owner, name);
  }

  #row(condition: string, ...bindings: string[]): RepositoryRow | null {
    const query = `SELECT ${REPOSITORY_COLUMNS} FROM repositories WHERE ${condition}`;
    return this.#sql.exec<RepositoryRow>(query, ...bindings).toArray()[0] ?? null;
  }

  #former({ owner, name }: RepositoryName): { id: string; leftMs: number } | null {
    const query = "SELECT id, left_ms AS leftMs FROM former_names WHERE owner = ? AND name = ?";
    return this.#sql.exec<{ id: string; leftMs: number }>(query, owner, name).toArray()[0] ?? null;
  }
}
