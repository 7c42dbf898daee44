import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import type { Limits } from "../../../src/base/format/configured-limits.ts";
import type { Outside } from "../../../src/object/state/outside.ts";
import type { WorktreePolicy } from "../../../src/contract/env.ts";
import { pause } from "../../../src/base/pacing/time-slice.ts";
import { editChunks } from "../../harness/edit-chunks.ts";
import { type Fault, FaultyChunkStore } from "../../harness/faulty-chunk-store.ts";
import { MemoryChunkStore } from "../../harness/memory-chunk-store.ts";
import type { ListeningOwner, RepositoryStanding } from "../../../src/contract/registry.ts";
import { hasJobs } from "../../../src/object/store/sql/schema.ts";
import { PushedRepository } from "../pushing.ts";
import { NodeSql } from "../sqlite.ts";
import { FaultPoints, faultyRegistry, forgetTrees, type Place, PlannedFault } from "./fault-points.ts";
import { FaultySql } from "./faulty-sql.ts";
import { checkNothingLeft, checkRepository, readRefs, type RefStates } from "./invariants.ts";

/** One repository through several processes. Every call to its database, R2 or the registry is a
 * point; a fault occurs at one of them. */
export class World extends FaultPoints {
  /** The content of R2. */
  store = new MemoryChunkStore();
  /** The repository of the current process. */
  repository!: PushedRepository;
  /** What the registry was last sent, null: nothing. */
  told: RepositoryStanding | null = null;
  /** What the registry says of the owner; null: nobody listens. */
  owner: ListeningOwner | null = null;
  /** Whether R2 answers every call with an error. */
  isStoreDown = false;
  /** Whether the database refuses new data; it can be read, and rows can be removed. */
  isDatabaseFull = false;
  /** Whether the process has died, so that no client received its answer. */
  isDead = false;
  readonly #database = new DatabaseSync(":memory:");
  readonly #limits: Partial<Limits>;
  readonly #worktrees: WorktreePolicy;
  readonly #outside: Partial<Outside>;
  #restored = 0;
  #saved: { store: MemoryChunkStore; told: RepositoryStanding | null } | null = null;

  constructor(limits: Partial<Limits> = {}, worktrees: WorktreePolicy = "none", outside: Partial<Outside> = {}) {
    super();
    this.#outside = outside;
    this.#limits = limits;
    this.#worktrees = worktrees;
    this.start();
  }

  /** Begins a new process: whatever the previous one still does has no effect. */
  start(): void {
    this.isDead = false;
    const life = { isOver: false };
    this.#endLife();
    this.#endLife = () => (life.isOver = true);
    const meet = (place: Place): Fault | null => (life.isOver ? "crash" : this.#meet(place));
    const sql = new FaultySql(this.#database, (query) => {
      const fault = meet("sql");
      const isRefused = this.isDatabaseFull && /\b(INSERT|UPDATE)\b/.test(query);
      if (fault === "before" || isRefused) throw new PlannedFault("database or disk is full: SQLITE_FULL");
      if (fault !== null) throw new PlannedFault("the process died");
    });
    const chunks = new FaultyChunkStore(this.store, ({ operation }) => {
      const fault = meet(operation);
      return this.isStoreDown ? "before" : fault;
    });
    const registry = faultyRegistry(
      () => meet("registry"),
      (standing) => (this.told = standing),
      () => true,
      () => this.owner,
    );
    const settings = { limits: this.#limits, worktrees: this.#worktrees, outside: this.#outside };
    this.repository = new PushedRepository({ id: "the-repository", chunks, sql, registry, ...settings });
  }

  #endLife = (): void => undefined;

  /** Saves the state for `restore`, which can return to it any number of times. */
  save(): void {
    this.#database.exec("SAVEPOINT saved");
    this.#saved = { store: this.store.copy(), told: this.told };
  }

  /** Returns to the saved state, and drops an isolate's cached trees and chunks, so that all are
   * read again. */
  restore(): void {
    const { store, told } = this.#saved!;
    this.#database.exec("ROLLBACK TO saved");
    const chunks = `/chunks/${this.#restored++}-`;
    this.store = store.copy((key) => key.replace("/chunks/", chunks));
    if (this.#database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'sealed_chunks'").get() !== undefined) {
      editChunks(new NodeSql(this.#database), (row) => ({ ...row, key: row.key.replace("/chunks/", chunks) }));
      this.#database.prepare("UPDATE jobs SET key = replace(key, '/chunks/', ?)").run(chunks);
    }
    forgetTrees();
    this.told = told;
    this.isStoreDown = this.isDatabaseFull = false;
    this.start();
    this.disarm();
  }

  /** Rings the alarm as often as it is set to a time up to `untilMs`. */
  async ring(untilMs: number): Promise<void> {
    for (let rings = 0; rings < 1_000; rings++) {
      const { repository } = this;
      const { wakeMs } = repository;
      if (wakeMs === null || wakeMs > untilMs) return;
      repository.wakeMs = null;
      try {
        await repository.repository.runJobs(wakeMs);
      } catch (error) {
        // The platform repeats a failed alarm.
        repository.wakeMs ??= wakeMs;
        throw error;
      }
      // Deliveries, which no job waits for, go on between two alarms.
      await pause();
    }
    throw new Error("the alarm never ends");
  }

  /** The refs as a client sees them: id in hex by name. */
  refs(): Promise<RefStates> {
    return this.watch(() => readRefs(this.repository));
  }

  /** Checks all that must hold at any time. */
  check(refs: RefStates): Promise<void> {
    return checkRepository(this.repository, this.store, refs);
  }

  /** Checks that nothing is left to do, nor to remove. */
  async checkSettled(): Promise<void> {
    const { sql, repository } = this.repository;
    assert.equal(hasJobs(sql) ? repository.state.jobs.nextDueMs() : null, null, "a job without an alarm");
    await checkNothingLeft(this.repository, this.store);
  }

  #meet(place: Place): Fault | null {
    if (this.isWatched) return null;
    if (this.isDead) return "crash";
    const fault = this.reach(place);
    this.isDead = fault === "crash";
    return fault;
  }
}
