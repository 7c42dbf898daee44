// Which repositories there are: the database of the registry, one for the deployment. It knows each repository by an opaque id, which
// names the repository's own object, and shows what that last told of itself. docs/storage.md tells the tables' life.
//
// A row comes and goes only with the repository's word: `reserve` and `create` enter a name before there is anything, and from then on
// the object says what became of it (`report`). So no row is lost whose repository exists.
import { type Caller, everythingOf, type Standing, type Target, type TokenScope } from "../../access/caller.ts";
import { changeQuota, isLimited, type PushQuota, type Quota, type QuotaChange, type Use } from "../../access/quota.ts";
import { foldRepositoryName, type RepositoryName } from "../../format/repository-name.ts";
import { type QuotaHolder, QuotaTable } from "./quota-table.ts";
import {
  listRepositories,
  REPOSITORY_COLUMNS,
  REPOSITORY_TABLES,
  type RepositoryDetails,
  type RepositoryEntry,
  type RepositoryFigures,
  type RepositoryRow,
  toEntry,
} from "./repository-rows.ts";
import type { Sql, Transactor } from "../sql/sql.ts";

/** How long whoever asked the registry may remember its answer: where a name leads, who may see what is there, what a token holds for.
 * So long a revoked token may go on, and a repository stay open that was made private. A name that leads elsewhere meanwhile is safe: a
 * deleted repository answers that it is unknown, and a name that was left is given to nobody else for `NAME_HOLD_MS`. */
export const ANSWER_LIFE_MS = 10_000;

/** How long a name stays with the repository that left it, whoever wants it: longer than it is remembered by any clock. */
export const NAME_HOLD_MS = 6 * ANSWER_LIFE_MS;

/** How long a reserved name waits for its repository before that is asked what became of it. */
export const RESERVATION_MS = 60 * 60_000;

/** Reservations looked into at a time. */
const LAPSED_AT_ONCE = 100;

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
  /** What a caller may do with a repository now.
   * @returns null: no repository has the id, or the caller's token was revoked or has expired, or is not for it any more */
  readStanding(id: string, caller: Caller): Promise<Standing | null>;
}

/** Where a name leads. */
export interface RepositoryRoute extends Target {
  readonly id: string;
  /** As it is now. */
  readonly name: string;
  /** The repository has another name now: this one may be given away, and is not to be remembered. */
  readonly isFormer: boolean;
  readonly quota: PushQuota;
}

/** A quota, and how much of it is taken, as the repositories last told. */
export interface QuotaStanding extends Quota, Use {}

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

/** The repositories of a deployment by name. */
export class Registry {
  readonly #sql: Sql;
  readonly #transactor: Transactor;
  readonly #quotas: QuotaTable;

  /** Makes the tables if need be. */
  constructor(sql: Sql, transactor: Transactor) {
    this.#sql = sql;
    this.#quotas = new QuotaTable(sql);
    this.#transactor = transactor;
    sql.exec(REPOSITORY_TABLES);
  }

  /** Where a name leads; null: nowhere. What it leads to need not be created yet. */
  find({ owner, name }: RepositoryName): RepositoryRoute | null {
    const named = this.#named({ owner, name });
    const former = named === null ? this.#former({ owner, name }) : null;
    const row = former === null ? named : this.#row("id = ?", former.id);
    return row === null ? null : this.#routeTo(row, former !== null);
  }

  /** Where a name leads; a name that leads nowhere is reserved, for a push that may create its repository. */
  reserve(name: RepositoryName, nowMs: number): RepositoryRoute {
    return this.#transactor.transactionSync(() => {
      const found = this.find(name);
      if (found === null) {
        const id = this.#enter(name, PUSHED_DETAILS, nowMs);
        return this.#routeTo({ ...PUSHED_DETAILS, ...name, id }, false);
      }
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
          this.#quotas.forget({ repositoryId: id });
        });
    }
  }

  /** A repository that exists, by the name it has or had; null: there is none. */
  read(name: RepositoryName): RepositoryEntry | null {
    const route = this.find(name);
    const row = route === null ? null : this.#row("id = ?", route.id);
    return row?.state === "live" ? toEntry(row) : null;
  }

  /** How a repository is known that has an id, whatever its name; null: none has it. */
  findById(id: string): RepositoryRoute | null {
    const row = this.#row("id = ?", id);
    return row === null ? null : this.#routeTo(row, false);
  }

  /** What a token is for; null: the repository is gone. */
  targetOf(scope: TokenScope): Target | null {
    return "owner" in scope ? everythingOf(scope.owner) : this.#row("id = ?", scope.repositoryId);
  }

  /** What a holder may hold, and holds. */
  readQuota(holder: QuotaHolder): QuotaStanding {
    const use = "owner" in holder ? this.#useOf("owner = ?", holder.owner) : this.#useOf("id = ?", holder.repositoryId);
    return { ...this.#quotas.get(holder), ...use };
  }

  /** Sets what a holder may hold; what it holds already stays. */
  setQuota(holder: QuotaHolder, change: QuotaChange): void {
    this.#quotas.set(holder, changeQuota(this.#quotas.get(holder), change));
  }

  /** @see listRepositories */
  list(owner: string | null, after: RepositoryName | null, limit: number, caller: Caller): RepositoryEntry[] {
    return listRepositories(this.#sql, owner, after, limit, caller);
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

  /** Takes a name from the repository that had it, if that left it long ago, or is the one that wants it back. */
  #takeFormer(name: RepositoryName, forId: string | null, nowMs: number): NameRefusal | null {
    const former = this.#former(name);
    if (former === null) return null;
    const retryAfterMs = former.leftMs + NAME_HOLD_MS - nowMs;
    if (former.id !== forId && retryAfterMs > 0) return { kind: "held", retryAfterMs };
    this.#sql.exec("DELETE FROM former_names WHERE owner = ? AND name = ?", name.owner, name.name);
    return null;
  }

  /** Reads a row for each of the owner's repositories where the owner has a quota. */
  #routeTo(
    { id, owner, name, visibility }: Target & RepositoryName & { readonly id: string },
    isFormer: boolean,
  ): RepositoryRoute {
    const quota = { repository: this.#quotas.get({ repositoryId: id }), owner: this.#quotas.get({ owner }) };
    const others = isLimited(quota.owner)
      ? this.#useOf("owner = ? AND id <> ?", owner, id)
      : { sizeBytes: 0, objectCount: 0 };
    return { id, owner, name, visibility, isFormer, quota: { ...quota, others } };
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
    this.#sql.exec("UPDATE repositories SET touched_ms = ? WHERE id = ? AND state = 'reserved'", nowMs, id);
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
