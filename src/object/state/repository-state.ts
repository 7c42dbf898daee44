import type { FsckSetting } from "../../base/codec/fsck-messages.ts";
import { GitError, isGitError } from "../../base/format/errors.ts";
import {
  createJobs,
  createRepository,
  createTables,
  enterRepository,
  hasJobs,
  markDeleted,
  readRepository,
  type RepositoryRecord,
  setFsckSetting,
} from "../store/sql/schema.ts";
import { JobQueue, type Rivals } from "../store/jobs/jobs.ts";
import { dropPushedPages } from "../store/index/pushed-pages.ts";
import { PinTable } from "../store/forks/pin-table.ts";
import { CountedSql, newSqlCounters, type Transactor } from "../store/sql/sql.ts";
import { Tables } from "../store/tables.ts";
import { upgradeRepository } from "../store/upgrade.ts";
import { AdvertisedRefs } from "./advertised-refs.ts";
import { Announcement } from "./announcement.ts";
import { keysByOwner } from "./chunk-owners.ts";
import { type EventTeller, NOBODY_TOLD } from "./outside.ts";
import { Holds } from "./holds.ts";
import type { PushFollower } from "./push.ts";
import type { StepProgress } from "../../contract/uploads.ts";
import type { LfsCheck } from "./lfs-check.ts";
import { KeyedMutex } from "../../base/pacing/keyed-mutex.ts";
import type { RepositoryPlatform } from "./repository-platform.ts";

/** Expected time until a request that schedules jobs has ended, in ms. An alarm that rang before
 * the repository had been quiet for long enough would be set again, which writes a row. */
const REQUEST_END_MS = 500;

/** Time to the next attempt if the jobs could not be read, or the database was not removed, in
 * ms. */
const LOOK_AGAIN_MS = 60_000;

/** The state that one repository's pushes, fetches and jobs share. Before the repository is
 * created, only the table of jobs may exist. */
export class RepositoryState {
  readonly platform: RepositoryPlatform;
  /** Functions that schedule jobs after each push. */
  readonly followers: readonly PushFollower[];
  /** The database's operations since the object started. */
  readonly sqlCounters = newSqlCounters();
  /** Prefixes of R2 keys that running pushes and jobs write: they must not be swept. */
  readonly activePrefixes = new Set<string>();
  /** Serializes commits that the server makes, by the ref that they move. */
  readonly refMutex = new KeyedMutex();
  /** State of the announcement to the registry. */
  readonly announcement = new Announcement();
  /** Delivers events; set by the repository. */
  teller: EventTeller = NOBODY_TOLD;
  /** Running work that delays other work. */
  readonly holds = new Holds();
  /** R2 objects of this repository that others of the family need. */
  readonly pins: PinTable;
  /** The progress of steps that are being indexed, by the upload session that they belong to. */
  readonly stepsUnderWay = new Map<string, StepProgress>();
  /** Callbacks by session id, called when a part of an upload session arrives, or the session ends:
   * steps wait for them. */
  readonly awaitedUploads = new Map<string, () => void>();
  /** Running checks of LFS objects, by the uploads that brought them. */
  readonly lfsChecks = new Map<string, LfsCheck>();
  /** Identifies the state of the rows that forks copy: changes whenever they may have been written,
   * and with each life of the object. */
  #layout = { life: crypto.randomUUID(), changes: 0 };
  readonly #jobs: JobQueue;
  #tables: Tables | null = null;
  /** Whether the tables' caches may differ from the database. */
  #isStale = false;
  #advertised: AdvertisedRefs | null = null;
  #record: RepositoryRecord;
  #holders = 0;
  readonly #transactor: Transactor;

  constructor(platform: RepositoryPlatform, followers: readonly PushFollower[]) {
    this.followers = followers;
    this.platform = {
      ...platform,
      sql: new CountedSql(platform.sql, this.sqlCounters),
      transactor: {
        transactionSync: (f) => {
          this.#layout.changes += 1;
          return this.transactAside(f);
        },
      },
    };
    this.#transactor = platform.transactor;
    this.pins = new PinTable(this.platform.sql);
    this.#jobs = new JobQueue(this.platform.sql);
    dropPushedPages(this.platform.sql);
    this.#record = readRepository(this.platform.sql) ?? {
      key: platform.id,
      createdMs: 0,
      fsck: "default",
      deleted: false,
      parent: null,
      expiresMs: null,
    };
    if (this.#record.createdMs !== 0 && !this.#record.deleted) {
      this.platform.transactor.transactionSync(() => upgradeRepository(this.platform.sql));
      this.#tables = new Tables(this.platform.sql, this.#jobs);
      // Removes rows that were staged by a push whose process died.
      this.#tables.objects.unstage();
    }
    if (this.hasJobs) this.jobs.recover(Date.now());
    this.scheduleJobs();
  }

  /** The tables; null when the repository does not exist (any more). */
  get tables(): Tables | null {
    if (this.#isStale) {
      this.#tables = new Tables(this.platform.sql, this.#jobs, this.#tables);
      this.#advertised = null;
      this.#isStale = false;
    }
    return this.#tables;
  }

  /** The refs as fetches see them. Read it again after each wait. */
  get advertised(): AdvertisedRefs {
    const { tables } = this;
    return (this.#advertised ??= new AdvertisedRefs(tables!));
  }

  /** The prefix of every R2 key of the repository. */
  get key(): string {
    return this.#record.key;
  }

  /** Whether the repository was deleted, which is permanent. */
  get isDeleted(): boolean {
    return this.#record.deleted;
  }

  /** Time at which the repository was created. */
  get createdMs(): number {
    return this.#record.createdMs;
  }

  /** Id of the repository that this one is a fork of; null: it is no fork, or does not exist. */
  get parent(): string | null {
    return this.#record.parent;
  }

  /** Time at which the repository deletes itself (ms since 1970); null: never. */
  get expiresMs(): number | null {
    return this.#record.expiresMs;
  }

  /** Identifies the state of objects, graph and refs, which forks copy: equal as long as none of
   * them was written. */
  get layout(): string {
    return `${this.#layout.life} ${this.#layout.changes}`;
  }

  /** The tables with which a push is prepared. If the repository does not exist yet, they are
   * empty, and are replaced when it is created.
   * @throws GitError "unavailable" while the repository is being made as a fork */
  prepareTables(): Tables {
    const { sql, transactor } = this.platform;
    if (this.tables !== null) return this.tables;
    this.#checkCreation();
    transactor.transactionSync(() => createTables(sql));
    return new Tables(sql, this.#jobs);
  }

  /** The strictness of checks for pushed objects. */
  get fsck(): FsckSetting {
    return this.#record.fsck;
  }

  /** The jobs; their table is created if it is missing. */
  get jobs(): JobQueue {
    if (this.#tables === null) createJobs(this.platform.sql);
    return this.#jobs;
  }

  /** Whether there is a table of jobs. */
  get hasJobs(): boolean {
    return this.#tables !== null || hasJobs(this.platform.sql);
  }

  /** Runs `f` on the tables in one transaction, creating the repository if needed.
   * @param fsck the repository's new setting, null: unchanged
   * @param f returns whether to commit its writes
   * @param prepared the result of `prepareTables`, if it has rows and the layout is still the same:
   *   a new repository gets these tables
   * @throws GitError "not-found" when the repository was deleted */
  transact<T>(
    fsck: FsckSetting | null,
    f: (tables: Tables) => { result: T; isKept: boolean },
    prepared: Tables | null = null,
  ): T {
    if (this.isDeleted) throw new GitError("not-found", { subject: "repository" });
    const record = { ...this.#record, createdMs: this.createdMs || Date.now(), fsck: fsck ?? this.fsck };
    let { tables } = this;
    this.#advertised = null;
    try {
      const result = this.platform.transactor.transactionSync(() => {
        if (tables === null) {
          this.#checkCreation();
          if (prepared === null) createRepository(this.platform.sql, record);
          else enterRepository(this.platform.sql, record);
          tables = prepared ?? new Tables(this.platform.sql, this.#jobs);
        }
        if (fsck !== null) setFsckSetting(this.platform.sql, fsck);
        const outcome = f(tables);
        if (!outcome.isKept) throw new TakenBack(outcome.result);
        this.#change(tables);
        return outcome.result;
      });
      this.#record = record;
      this.#tables = tables;
      return result;
    } catch (error) {
      if (error instanceof TakenBack) return error.result as T;
      // Reads cached data again, because the database failed.
      if (!isGitError(error)) this.reload();
      throw error;
    }
  }

  /** Refuses to create the repository.
   * @throws GitError "unavailable" while the repository is being made as a fork */
  #checkCreation(): void {
    if (this.holds.has("pin"))
      throw new GitError("unavailable", { subject: "repository", reason: "it is being forked" });
  }

  /** Creates the repository without any ref.
   * @param head the ref that HEAD names: its first branch
   * @returns whether it did not exist */
  create(head: string): boolean {
    if (this.tables !== null) return false;
    this.transact(null, (tables) => {
      tables.refs.setHead(head);
      return { result: undefined, isKept: true };
    });
    this.scheduleJobs();
    return true;
  }

  /** Creates the repository as a fork whose tables are filled already.
   * @param f finishes the tables, in the same transaction */
  createFork(
    origin: Pick<RepositoryRecord, "fsck" | "expiresMs"> & { parent: string },
    f: (tables: Tables) => void,
  ): void {
    const record = { ...this.#record, ...origin, createdMs: Date.now() };
    this.#tables = this.platform.transactor.transactionSync(() => {
      const tables = new Tables(this.platform.sql, this.#jobs);
      enterRepository(this.platform.sql, record);
      f(tables);
      this.#change(tables);
      return tables;
    });
    this.#record = record;
    // Reloads the tables, because the graph in memory is from before the transaction.
    this.reload();
    this.scheduleJobs();
  }

  /** Deletes the repository. A job removes its bytes.
   * @param follow adds jobs that outlive it, in the same transaction
   * @returns whether it existed */
  delete(follow: (tables: Tables) => void = () => undefined): boolean {
    const { tables } = this;
    if (tables === null) return false;
    const { jobs } = tables;
    const owners = this.neededElsewhere().keys();
    this.platform.transactor.transactionSync(() => {
      markDeleted(this.platform.sql);
      // Keeps only the jobs that a deleted repository needs: running writes must be swept, and pins
      // in other repositories released.
      jobs.cancelAllBut(["sweep", "unpin", "abort"]);
      for (const owner of owners) jobs.add("unpin", owner, Date.now());
      jobs.add("erase", "", Date.now());
      follow(tables);
      this.#change(tables);
    });
    this.#record = { ...this.#record, deleted: true };
    this.#tables = null;
    this.#isStale = false;
    this.#advertised = null;
    this.scheduleJobs();
    return true;
  }

  /** Records that fields listed by the registry have changed, and that listeners must be notified;
   * must run at the end of the transaction. If the process dies right after it, the alarm wakes the
   * next one, which tells the registry and runs the jobs. */
  #change(tables: Tables): void {
    this.announcement.change(Date.now());
    this.teller.follow(tables);
    this.scheduleJobs();
  }

  /** Lists the R2 objects of other repositories that this one needs, by the id of their owner. */
  neededElsewhere(): Map<string, Set<string>> {
    const needed = keysByOwner(this.tables?.neededKeys() ?? []);
    needed.delete(this.key);
    return needed;
  }

  /** Runs a transaction that writes no row that forks copy or that a large push prepares itself
   * with. After a rollback, the caches of index and chunks are cleared. */
  transactAside<T>(f: () => T): T {
    try {
      return this.#transactor.transactionSync(f);
    } catch (error) {
      this.#tables?.forget();
      this.pins.forget();
      throw error;
    }
  }

  /** Makes the tables be read again at the next access, since cached data may differ from the
   * database. The delay avoids keeping outdated data if the database cannot be read at the
   * moment. */
  reload(): void {
    this.#isStale = this.#tables !== null;
    this.#tables?.forget();
  }

  /** Runs `f` while object numbers are held across waits: no object is pruned meanwhile. */
  async holdNumbers<T>(f: () => Promise<T>): Promise<T> {
    this.#holders += 1;
    try {
      return await f();
    } finally {
      this.#holders -= 1;
    }
  }

  /** Whether object numbers are held. */
  get isNumbersHeld(): boolean {
    return this.#holders > 0;
  }

  /** Time at which there will have been no request for long enough that jobs may begin. */
  quietAtMs(nowMs: number): number {
    const { traffic, limits } = this.platform;
    return traffic.quietAtMs(limits.quietMs, nowMs);
  }

  /** The requests to which jobs give way now. */
  get rivals(): Rivals {
    if (this.holds.has("hurry")) return "none";
    if (this.platform.traffic.isReceiving) return "packs";
    const nowMs = Date.now();
    return this.quietAtMs(nowMs) <= nowMs ? "none" : "requests";
  }

  /** Sets the time for the next job. */
  scheduleJobs(): void {
    try {
      const nextMs = this.#nextWakeMs();
      if (nextMs !== null) this.platform.wakeAt(nextMs);
    } catch (error) {
      // Sets an alarm although the jobs cannot be read at the moment. Without it, a due job would
      // wait for the next push.
      this.platform.wakeAt(Date.now() + LOOK_AGAIN_MS);
      throw error;
    }
  }

  /** Time of the next work; null: there is none. If neither the repository nor a job exists, the
   * database must be removed: the last job may have died before it did that. */
  #nextWakeMs(): number | null {
    if (!this.hasJobs) return null;
    const isGone = this.tables === null && this.pins.isEmpty();
    const quietAtMs = this.quietAtMs(Date.now()) + REQUEST_END_MS;
    const rivals = this.platform.traffic.isReceiving ? "packs" : "requests";
    const jobMs = this.jobs.nextRunMs(quietAtMs, rivals) ?? Infinity;
    const nextMs = Math.min(jobMs, this.announcement.wakeMs(quietAtMs) ?? Infinity);
    return nextMs < Infinity ? nextMs : isGone ? Date.now() + LOOK_AGAIN_MS : null;
  }
}

/** Rolls back a transaction when thrown, and carries its result. */
class TakenBack extends Error {
  readonly result: unknown;

  constructor(result: unknown) {
    super();
    this.result = result;
  }
}
