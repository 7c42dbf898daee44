import { ANYONE } from "../../harness/requester.ts";
import { DatabaseSync } from "node:sqlite";
import type { Limits } from "../../../src/format/configured-limits.ts";
import type { WorktreePolicy } from "../../../src/repository/state/worktree-policy.ts";
import { keepTree } from "../../../src/repository/objects/tree-contents.ts";
import { editChunks } from "../../harness/edit-chunks.ts";
import { type Fault, FaultyChunkStore } from "../../harness/faulty-chunk-store.ts";
import { MemoryChunkStore } from "../../harness/memory-chunk-store.ts";
import type { RegistryPort, RepositoryStanding } from "../../../src/store/registry/registry-answers.ts";
import { PushedRepository } from "../pushing.ts";
import { NodeSql } from "../sqlite.ts";
import { FaultySql } from "./faulty-sql.ts";
import { readRefs, type RefStates } from "./invariants.ts";

/** Where a fault can occur: a statement of the database, a call of R2 by its name, or a call of the
 * registry. */
export type Place = "sql" | "registry" | FaultyCall;
type FaultyCall = Parameters<ConstructorParameters<typeof FaultyChunkStore>[1]>[0]["operation"];

/** Selects places. */
export type Places = (place: Place) => boolean;

const READS: ReadonlySet<Place> = new Set(["read", "stream", "open", "openFile"]);

/** The ways in which a call at this place can fail. Dying after a statement equals dying before the
 * next one, which is another point. */
export function faultsAt(place: Place): readonly Fault[] {
  if (place === "sql") return ["before", "crash"];
  return READS.has(place) ? ["before", "truncate", "flip", "crash"] : ["before", "after", "crash"];
}

/** Evicts all trees that an isolate caches. */
const LARGE_TREE = new Uint8Array(8 * 1024 * 1024);

/** What a failing call, or a call of a dead process, throws. */
export class PlannedFault extends Error {}

/** One repository through several processes. Every call to its database, R2 or the registry is a
 * point; a fault occurs at one of them. */
export class World {
  /** The content of R2. */
  store = new MemoryChunkStore();
  /** The repository of the current process. */
  repository!: PushedRepository;
  /** What the registry was last sent, null: nothing. */
  told: RepositoryStanding | null = null;
  /** The places reached so far, in order. */
  readonly places: Place[] = [];
  /** Whether R2 answers every call with an error. */
  isStoreDown = false;
  /** Whether the database refuses new data; it can be read, and rows can be removed. */
  isDatabaseFull = false;
  /** Whether the process has died, so that no client received its answer. */
  isDead = false;
  /** Whether the planned fault occurred. */
  isHit = false;
  readonly #database = new DatabaseSync(":memory:");
  readonly #limits: Partial<Limits>;
  readonly #worktrees: WorktreePolicy;
  #isWatched = false;
  #restored = 0;
  #injection: { point: number; places: Places; fault: Fault } | null = null;
  #saved: { store: MemoryChunkStore; told: RepositoryStanding | null } | null = null;

  constructor(limits: Partial<Limits> = {}, worktrees: WorktreePolicy = "none") {
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
    const registry = this.#openRegistry(() => meet("registry"));
    const settings = { limits: this.#limits, worktrees: this.#worktrees };
    this.repository = new PushedRepository({ id: "the-repository", chunks, sql, registry, ...settings });
  }

  #endLife = (): void => undefined;

  /** Plans a fault at a point.
   * @param point counted from 0 after those so far
   * @param places which of them count */
  arm(point: number, fault: Fault, places: Places = () => true): void {
    this.#injection = { point: this.places.filter(places).length + point, fault, places };
    this.isHit = false;
  }

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
    keepTree(Buffer.from(String(this.#restored).padEnd(20)), LARGE_TREE);
    this.told = told;
    this.isStoreDown = this.isDatabaseFull = false;
    this.#injection = null;
    this.start();
    this.places.length = 0;
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
    }
    throw new Error("the alarm never ends");
  }

  /** Runs a check: no fault occurs in it, and its calls do not count. */
  async watch<T>(look: () => T | Promise<T>): Promise<T> {
    this.#isWatched = true;
    try {
      return await look();
    } finally {
      this.#isWatched = false;
    }
  }

  /** The refs as a client sees them: id in hex by name. */
  refs(): Promise<RefStates> {
    return this.watch(() => readRefs(this.repository));
  }

  #meet(place: Place): Fault | null {
    if (this.#isWatched) return null;
    if (this.isDead) return "crash";
    this.places.push(place);
    const { point, places = () => false, fault = null } = this.#injection ?? {};
    if (!places(place) || this.places.filter(places).length - 1 !== point) return null;
    this.isHit = true;
    this.isDead = fault === "crash";
    return fault;
  }

  #openRegistry(meet: () => Fault | null): RegistryPort {
    const call = (run: () => void): void => {
      const fault = meet();
      if (fault !== null && fault !== "after") throw new PlannedFault("the registry cannot be reached");
      run();
      if (fault === "after") throw new PlannedFault("the registry's answer was lost");
    };
    return {
      admit: async () => (call(() => undefined), true),
      report: async (_, standing) => call(() => (this.told = standing)),
      readStanding: async () => (call(() => undefined), ANYONE),
    };
  }
}
