import type { Codec } from "../codec/codec.ts";
import type { FsckSetting } from "../codec/fsck-messages.ts";
import { isGitError } from "../format/errors.ts";
import type { Limits } from "../format/limits.ts";
import type { ChunkCounters, ChunkStore } from "../store/chunk-store.ts";
import { createRepository, hasJobs, readRepository, type RepositoryRecord, setFsckSetting } from "../store/schema.ts";
import { JobQueue } from "../store/jobs.ts";
import { CountedSql, newSqlCounters, type Sql, type Transactor } from "../store/sql.ts";
import { Tables } from "../store/tables.ts";
import { AdvertisedRefs } from "./advertised-refs.ts";
import type { RepositoryEvent } from "./repository-event.ts";
import { Turns } from "./turns.ts";

/** What a repository stands on. */
export interface RepositoryPlatform {
  readonly sql: Sql;
  readonly transactor: Transactor;
  /** Opens the chunk store, which counts what it does in `counters`. */
  openChunks(counters: ChunkCounters): ChunkStore;
  readonly module: WebAssembly.Module;
  readonly codec: Codec;
  readonly limits: Limits;
  /** Has `runJobs` called at this time (ms since the epoch), in place of any time set before. */
  wakeAt(timeMs: number): void;
  /** Takes note of what was done, and at what cost. */
  observe(event: RepositoryEvent): void;
}

/** What one repository's pushes, fetches and jobs share. Before the first successful push only the jobs may have a table. */
export class RepositoryState {
  readonly platform: RepositoryPlatform;
  /** What the database did since the object started. */
  readonly sqlCounters = newSqlCounters();
  /** Prefixes of R2 keys that running pushes and jobs write below: not to be swept. */
  readonly activePrefixes = new Set<string>();
  /** Commits that the server makes take turns, by the ref that they move. */
  readonly refTurns = new Turns();
  #tables: Tables | null = null;
  #advertised: AdvertisedRefs | null = null;
  #record: RepositoryRecord;
  #holders = 0;

  constructor(platform: RepositoryPlatform) {
    this.platform = { ...platform, sql: new CountedSql(platform.sql, this.sqlCounters) };
    // Pushes that race to be the first write below one key, whichever of them creates the repository.
    this.#record = readRepository(this.platform.sql) ?? { key: crypto.randomUUID(), createdMs: 0, fsck: "default" };
    if (this.#record.createdMs !== 0) this.#tables = new Tables(this.platform.sql);
    if (hasJobs(this.platform.sql)) this.jobs.recover(Date.now());
    this.scheduleJobs();
  }

  /** The tables, null while the repository does not exist. */
  get tables(): Tables | null {
    return this.#tables;
  }

  /** The refs as fetches see them; to be asked again after each wait. */
  get advertised(): AdvertisedRefs {
    return (this.#advertised ??= new AdvertisedRefs(this.#tables!));
  }

  /** Begins every R2 key of the repository. */
  get key(): string {
    return this.#record.key;
  }

  /** How strictly pushed objects are checked. */
  get fsck(): FsckSetting {
    return this.#record.fsck;
  }

  /** The jobs; their table is made when it is not there. */
  get jobs(): JobQueue {
    return JobQueue.open(this.platform.sql);
  }

  /**
   * Runs `f` on the tables in one transaction, creating the repository if need be.
   * @param fsck what the repository's setting becomes, null: it stays
   * @param f returns whether its writes stand
   */
  transact<T>(fsck: FsckSetting | null, f: (tables: Tables) => { result: T; stands: boolean }): T {
    const { key, createdMs } = this.#record;
    const record = { key, createdMs: createdMs || Date.now(), fsck: fsck ?? this.fsck };
    let tables = this.#tables;
    this.#advertised = null;
    try {
      const result = this.platform.transactor.transactionSync(() => {
        if (tables === null) {
          createRepository(this.platform.sql, record);
          tables = new Tables(this.platform.sql);
        }
        if (fsck !== null) setFsckSetting(this.platform.sql, fsck);
        const outcome = f(tables);
        if (!outcome.stands) throw new TakenBack(outcome.result);
        return outcome.result;
      });
      this.#record = record;
      this.#tables = tables;
      return result;
    } catch (error) {
      if (error instanceof TakenBack) return error.result as T;
      // The database failed: what is in memory is read from it again.
      if (this.#tables !== null && !isGitError(error)) this.#tables = new Tables(this.platform.sql);
      throw error;
    }
  }

  /** Reads the tables anew: what is in memory is no longer what is stored. */
  reload(): void {
    this.#tables = new Tables(this.platform.sql);
    this.#advertised = null;
  }

  /** Runs what holds object numbers across waits: none is pruned meanwhile. */
  async holdNumbers<T>(f: () => Promise<T>): Promise<T> {
    this.#holders += 1;
    try {
      return await f();
    } finally {
      this.#holders -= 1;
    }
  }

  /** Whether anybody holds object numbers. */
  get isNumbersHeld(): boolean {
    return this.#holders > 0;
  }

  /** Sets the time for the next job. */
  scheduleJobs(): void {
    const next = hasJobs(this.platform.sql) ? this.jobs.nextDueMs() : null;
    if (next !== null) this.platform.wakeAt(next);
  }
}

/** Thrown to take a transaction back, with what it came to. */
class TakenBack extends Error {
  readonly result: unknown;

  constructor(result: unknown) {
    super();
    this.result = result;
  }
}
