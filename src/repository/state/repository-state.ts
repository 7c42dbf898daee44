import type { Codec } from "../../codec/codec.ts";
import type { FsckSetting } from "../../codec/fsck-messages.ts";
import { GitError, isGitError } from "../../format/errors.ts";
import type { Limits } from "../../format/limits.ts";
import type { ChunkCounters, ChunkStore } from "../../store/chunks/chunk-store.ts";
import {
  createRepository,
  hasJobs,
  markDeleted,
  readRepository,
  type RepositoryRecord,
  setFsckSetting,
  upgradeRepository,
} from "../../store/sql/schema.ts";
import { JobQueue } from "../../store/jobs/jobs.ts";
import type { RegistryPort } from "../../store/registry/registry.ts";
import { CountedSql, newSqlCounters, type Sql, type Transactor } from "../../store/sql/sql.ts";
import { Tables } from "../../store/tables.ts";
import { AdvertisedRefs } from "./advertised-refs.ts";
import type { PushFollower } from "./push.ts";
import type { RepositoryEvent } from "./repository-event.ts";
import { Semaphore } from "../pacing/semaphore.ts";
import type { Traffic } from "../pacing/traffic.ts";
import { KeyedMutex } from "../pacing/keyed-mutex.ts";
import type { WorktreePolicy } from "../state/worktree-policy.ts";

/** How long after a change the registry hears of it: many small pushes, one after the other, are told at once. */
const ANNOUNCE_DELAY_MS = 2_000;

/** When it is looked again for jobs that could not be read, or for a database that should be gone. */
const LOOK_AGAIN_MS = 60_000;

/** What a repository stands on. */
export interface RepositoryPlatform {
  /** By which the registry knows the repository: opaque, given to no other ever. */
  readonly id: string;
  readonly registry: RegistryPort;
  readonly sql: Sql;
  readonly transactor: Transactor;
  /** Removes the whole database, at once: a transaction that follows finds it empty. */
  erase(): Promise<void>;
  /** Opens the chunk store, which counts what it does in `counters`. */
  openChunks(counters: ChunkCounters): ChunkStore;
  readonly module: WebAssembly.Module;
  readonly codec: Codec;
  readonly limits: Limits;
  /** Which branches have worktrees without being chosen. */
  readonly worktrees: WorktreePolicy;
  /** What the isolate is asked to do. */
  readonly traffic: Traffic;
  /** Has `runJobs` called at this time (ms since the epoch), or before: then it sets another time itself. */
  wakeAt(timeMs: number): void;
  /** Takes note of what was done, and at what cost. */
  observe(event: RepositoryEvent): void;
}

/** What one repository's pushes, fetches and jobs share. Before it is created only the jobs may have a table. */
export class RepositoryState {
  readonly platform: RepositoryPlatform;
  /** What each push schedules. */
  readonly followers: readonly PushFollower[];
  /** What the database did since the object started. */
  readonly sqlCounters = newSqlCounters();
  /** Prefixes of R2 keys that running pushes and jobs write below: not to be swept. */
  readonly activePrefixes = new Set<string>();
  /** Commits that the server makes take turns, by the ref that they move. */
  readonly refMutex = new KeyedMutex();
  /** One announcement at a time. */
  readonly announceSemaphore = new Semaphore(1);
  /** Whether the job is there and not begun: a push that comes then need not write it again. */
  isAnnouncementDue = false;
  /** Requests that wait for jobs. */
  hurrying = 0;
  /** Pushes that may yet create the repository, if it does not exist. */
  pushesUnderWay = 0;
  #tables: Tables | null = null;
  /** Whether what the tables have in memory may no longer be what is stored. */
  #isStale = false;
  #advertised: AdvertisedRefs | null = null;
  #record: RepositoryRecord;
  #holders = 0;

  constructor(platform: RepositoryPlatform, followers: readonly PushFollower[]) {
    this.followers = followers;
    this.platform = { ...platform, sql: new CountedSql(platform.sql, this.sqlCounters) };
    this.#record = readRepository(this.platform.sql) ?? {
      key: platform.id,
      createdMs: 0,
      fsck: "default",
      deleted: false,
    };
    if (this.#record.createdMs !== 0 && !this.#record.deleted) {
      this.platform.transactor.transactionSync(() => upgradeRepository(this.platform.sql));
      this.#tables = new Tables(this.platform.sql);
    }
    if (this.hasJobs) this.jobs.recover(Date.now());
    this.scheduleJobs();
  }

  /** The tables, null when the repository does not exist: not yet, or no longer. */
  get tables(): Tables | null {
    if (this.#isStale) {
      this.#tables = new Tables(this.platform.sql);
      this.#advertised = null;
      this.#isStale = false;
    }
    return this.#tables;
  }

  /** The refs as fetches see them; to be asked again after each wait. */
  get advertised(): AdvertisedRefs {
    const { tables } = this;
    return (this.#advertised ??= new AdvertisedRefs(tables!));
  }

  /** Begins every R2 key of the repository. */
  get key(): string {
    return this.#record.key;
  }

  /** Whether there was a repository, and never will be again. */
  get isDeleted(): boolean {
    return this.#record.deleted;
  }

  /** When the repository was created. */
  get createdMs(): number {
    return this.#record.createdMs;
  }

  /** How strictly pushed objects are checked. */
  get fsck(): FsckSetting {
    return this.#record.fsck;
  }

  /** The jobs; their table is made when it is not there. */
  get jobs(): JobQueue {
    return this.#tables?.jobs ?? JobQueue.open(this.platform.sql);
  }

  /** Whether there is a table of jobs. */
  get hasJobs(): boolean {
    return this.#tables !== null || hasJobs(this.platform.sql);
  }

  /**
   * Runs `f` on the tables in one transaction, creating the repository if need be.
   * @param fsck what the repository's setting becomes, null: it stays
   * @param f returns whether its writes stand
   * @throws GitError "not-found" when the repository was deleted
   */
  transact<T>(fsck: FsckSetting | null, f: (tables: Tables) => { result: T; isKept: boolean }): T {
    const { key, createdMs, deleted } = this.#record;
    if (deleted) throw new GitError("not-found", { what: "repository" });
    const record = { key, createdMs: createdMs || Date.now(), fsck: fsck ?? this.fsck, deleted };
    let { tables } = this;
    this.#advertised = null;
    try {
      const result = this.platform.transactor.transactionSync(() => {
        if (tables === null) {
          createRepository(this.platform.sql, record);
          tables = new Tables(this.platform.sql);
        }
        if (fsck !== null) setFsckSetting(this.platform.sql, fsck);
        const outcome = f(tables);
        if (!outcome.isKept) throw new TakenBack(outcome.result);
        if (!this.isAnnouncementDue) tables.jobs.add("announce", "", Date.now() + ANNOUNCE_DELAY_MS);
        return outcome.result;
      });
      this.#record = record;
      this.#tables = tables;
      this.isAnnouncementDue = true;
      return result;
    } catch (error) {
      if (error instanceof TakenBack) return error.result as T;
      // The database failed: what is in memory is read from it again.
      if (!isGitError(error)) this.reload();
      throw error;
    }
  }

  /** Creates the repository without any ref.
   * @param head the ref that HEAD names: its first branch
   * @returns whether there was none */
  create(head: string): boolean {
    if (this.tables !== null) return false;
    this.transact(null, (tables) => {
      tables.refs.setHead(head);
      return { result: undefined, isKept: true };
    });
    this.scheduleJobs();
    return true;
  }

  /** Deletes the repository: from now on there is none. Its bytes are left to a job.
   * @returns whether there was one */
  delete(): boolean {
    const { tables } = this;
    if (tables === null) return false;
    const { jobs } = tables;
    this.platform.transactor.transactionSync(() => {
      markDeleted(this.platform.sql);
      // What is being written has its sweep; nothing else is worth doing any more.
      jobs.cancelAllBut("sweep");
      jobs.add("erase", "", Date.now());
      jobs.add("announce", "", Date.now() + ANNOUNCE_DELAY_MS);
    });
    this.#record = { ...this.#record, deleted: true };
    this.#tables = null;
    this.#isStale = false;
    this.#advertised = null;
    this.scheduleJobs();
    return true;
  }

  /** Has the tables read anew: what is in memory is no longer what is stored. It is done by whoever asks for them next, so that a
   * database which cannot be read at the moment leaves nothing behind that is out of date. */
  reload(): void {
    this.#isStale = this.#tables !== null;
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

  /** When nobody will have asked for anything for long enough that jobs may begin. */
  quietAtMs(nowMs: number): number {
    const { traffic, limits } = this.platform;
    return traffic.quietAtMs(limits.quietMs, nowMs);
  }

  /** Sets the time for the next job. */
  scheduleJobs(): void {
    try {
      const nextMs = this.#nextWakeMs();
      if (nextMs !== null) this.platform.wakeAt(nextMs);
    } catch (error) {
      // What is due cannot be read at the moment; a job without an alarm would wait for the next push.
      this.platform.wakeAt(Date.now() + LOOK_AGAIN_MS);
      throw error;
    }
  }

  /** When there is something to do; null: never. When nothing exists, and no job is left, that is to remove the database: the last job may have
   * died before it was. */
  #nextWakeMs(): number | null {
    if (!this.hasJobs) return null;
    return (
      this.jobs.nextRunMs(this.quietAtMs(Date.now())) ?? (this.tables === null ? Date.now() + LOOK_AGAIN_MS : null)
    );
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
