import { ANYONE } from "../../harness/requester.ts";
import { DatabaseSync } from "node:sqlite";
import type { Limits } from "../../../src/format/configured-limits.ts";
import type { WorktreePolicy } from "../../../src/repository/state/worktree-policy.ts";
import { keepTree } from "../../../src/repository/objects/tree-contents.ts";
import { type Fault, FaultyChunkStore } from "../../harness/faulty-chunk-store.ts";
import { MemoryChunkStore } from "../../harness/memory-chunk-store.ts";
import type { RegistryPort, RepositoryStanding } from "../../../src/store/registry/registry-answers.ts";
import { PushedRepository } from "../pushing.ts";
import { FaultySql } from "./faulty-sql.ts";
import { readRefs, type RefStates } from "./invariants.ts";

/** Where something can go wrong: a statement of the database, a call of R2 by its name, or a call of the registry. */
export type Place = "sql" | "registry" | FaultyCall;
type FaultyCall = Parameters<ConstructorParameters<typeof FaultyChunkStore>[1]>[0]["operation"];

/** Chooses among places. */
export type Places = (place: Place) => boolean;

const READS: ReadonlySet<Place> = new Set(["read", "stream", "open", "openFile"]);

/** The ways in which a call at this place can go wrong. After a statement dies who dies before the next, which is another point. */
export function faultsAt(place: Place): readonly Fault[] {
  if (place === "sql") return ["before", "crash"];
  return READS.has(place) ? ["before", "truncate", "flip", "crash"] : ["before", "after", "crash"];
}

/** Takes the place of all trees that an isolate keeps. */
const LARGE_TREE = new Uint8Array(8 * 1024 * 1024);

/** What a dead process, or a failing call, meets. */
export class PlannedFault extends Error {}

/** One repository through its lives. Every call to what it stands on is a point; at one of them something goes wrong. */
export class World {
  /** What is in R2. */
  store = new MemoryChunkStore();
  /** The repository of this life. */
  repository!: PushedRepository;
  /** What the registry was told last, null: nothing. */
  told: RepositoryStanding | null = null;
  /** The places met so far, in order. */
  readonly places: Place[] = [];
  /** Whether R2 answers every call with an error. */
  isStoreDown = false;
  /** Whether the database takes nothing more; it can be read, and rows can be removed. */
  isDatabaseFull = false;
  /** Whether the process has died, so that nobody heard what it answered. */
  isDead = false;
  /** Whether what was to go wrong did. */
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

  /** Begins a life: whatever the one before still does comes to nothing. */
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

  /** What goes wrong when the world comes to this point.
   * @param point counted from 0 after those so far
   * @param places of those that are counted */
  arm(point: number, fault: Fault, places: Places = () => true): void {
    this.#injection = { point: this.places.filter(places).length + point, fault, places };
    this.isHit = false;
  }

  /** What `restore` goes back to, any number of times. */
  save(): void {
    this.#database.exec("SAVEPOINT saved");
    this.#saved = { store: this.store.copy(), told: this.told };
  }

  /** Goes back, and forgets what an isolate keeps of trees and of chunks, so that all of it is read again. */
  restore(): void {
    const { store, told } = this.#saved!;
    this.#database.exec("ROLLBACK TO saved");
    const chunks = `/chunks/${this.#restored++}-`;
    this.store = store.copy((key) => key.replace("/chunks/", chunks));
    if (this.#database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'chunks'").get() !== undefined) {
      this.#database.prepare("UPDATE chunks SET key = replace(key, '/chunks/', ?)").run(chunks);
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
        // The platform rings again when it fails.
        repository.wakeMs ??= wakeMs;
        throw error;
      }
    }
    throw new Error("the alarm never ends");
  }

  /** Runs what only looks: nothing goes wrong with it, and its calls do not count. */
  async watch<T>(look: () => T | Promise<T>): Promise<T> {
    this.#isWatched = true;
    try {
      return await look();
    } finally {
      this.#isWatched = false;
    }
  }

  /** The refs, as somebody sees them who looks: id in hex by name. */
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
