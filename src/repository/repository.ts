import { maskRefused } from "../codec/fsck-messages.ts";
import { isGitError } from "../format/errors.ts";
import type { Limits } from "../format/limits.ts";
import type { ChunkCounters, ChunkStore } from "../store/chunk-store.ts";
import { createRepository, hasJobs, readRepository, type RepositoryRecord } from "../store/schema.ts";
import { JobQueue } from "../store/jobs.ts";
import type { Sql, Transactor } from "../store/sql.ts";
import { Tables } from "../store/tables.ts";
import type { DeltaCodec } from "./delta-chains.ts";
import type { FetchOutcome, FetchRequest, FetchSource, RefList } from "./fetch-source.ts";
import { runJobs } from "./maintenance.ts";
import type { PushRequest, PushResult, PushTarget } from "./push.ts";
import type { SentPack } from "./pack-stream.ts";
import { ReceivePack } from "./receive-pack.ts";
import { UploadPack } from "./upload-pack.ts";

/** What a repository stands on. */
export interface RepositoryPlatform {
  readonly sql: Sql;
  readonly transactor: Transactor;
  /** Opens the chunk store, which counts what it does in `counters`. */
  openChunks(counters: ChunkCounters): ChunkStore;
  readonly module: WebAssembly.Module;
  readonly codec: DeltaCodec;
  readonly limits: Limits;
  /** Has `runJobs` called at this time (ms since the epoch), in place of any time set before. */
  wakeAt(timeMs: number): void;
  /** Takes note of what was done, and at what cost. */
  observe(event: RepositoryEvent): void;
}

/** What a repository did: sizes in bytes, times in ms. */
export type RepositoryEvent = PushEvent | FetchEvent;

/** A push came to its end, with its refs moved or not. */
export interface PushEvent {
  readonly event: "push";
  readonly refs: number;
  readonly packBytes: number;
  readonly objects: number;
  /** From the first pack byte to the last proof, and from there to the end of the transaction. */
  readonly indexMs: number;
  readonly settleMs: number;
  /** Largest sum of module memory and buffers. */
  readonly peakBytes: number;
  readonly operations: ChunkCounters;
}

/** A pack was sent. */
export interface FetchEvent extends SentPack {
  readonly event: "fetch";
  readonly operations: ChunkCounters;
}

/**
 * One repository: the only writer of its database, as a Durable Object is. It exists from its first successful push on;
 * before that, only its jobs may have a table.
 */
export class Repository implements FetchSource, PushTarget {
  readonly platform: RepositoryPlatform;
  /** Prefixes of R2 keys that running pushes and jobs write below: not to be swept. */
  readonly activePrefixes = new Set<string>();
  #tables: Tables | null = null;
  #record: RepositoryRecord;

  constructor(platform: RepositoryPlatform) {
    this.platform = platform;
    // Pushes that race to be the first write below one key, whichever of them creates the repository.
    this.#record = readRepository(platform.sql) ?? { key: crypto.randomUUID(), createdMs: 0, fsck: "default" };
    if (this.#record.createdMs !== 0) this.#tables = new Tables(platform.sql);
  }

  /** The tables, null while the repository does not exist. */
  get tables(): Tables | null {
    return this.#tables;
  }

  /** Begins every R2 key of the repository. */
  get key(): string {
    return this.#record.key;
  }

  /** fsck messages that refuse a push, one bit each. */
  get refused(): bigint {
    return maskRefused(this.#record.fsck);
  }

  /** The jobs; their table is made when it is not there. */
  get jobs(): JobQueue {
    return JobQueue.open(this.platform.sql);
  }

  /**
   * Runs `f` on the tables in one transaction, creating the repository if need be.
   * @param f returns whether its writes stand
   */
  transact<T>(f: (tables: Tables) => { result: T; stands: boolean }): T {
    const takenBack = new TakenBack<T>();
    const created = { ...this.#record, createdMs: Date.now() };
    let tables = this.#tables;
    try {
      const result = this.platform.transactor.transactionSync(() => {
        if (tables === null) {
          createRepository(this.platform.sql, created);
          tables = new Tables(this.platform.sql);
        }
        const outcome = f(tables);
        if (!outcome.stands) throw takenBack.with(outcome.result);
        return outcome.result;
      });
      if (this.#tables === null) this.#record = created;
      this.#tables = tables;
      return result;
    } catch (error) {
      if (error === takenBack) return takenBack.result!;
      // The database failed: what is in memory is read from it again.
      if (this.#tables !== null && !isGitError(error)) this.#tables = new Tables(this.platform.sql);
      throw error;
    }
  }

  async refs(prefixes: string[]): Promise<RefList | null> {
    return this.#tables === null ? null : new UploadPack(this.#tables).refs(prefixes);
  }

  async fetch(request: FetchRequest): Promise<FetchOutcome> {
    return this.#tables === null ? { kind: "unknown-repository" } : new UploadPack(this.#tables).fetch(request);
  }

  receive(request: PushRequest): Promise<PushResult> {
    return new ReceivePack(this, request).run();
  }

  /** Runs the jobs that are due, and sees to the next. */
  async runJobs(nowMs: number): Promise<void> {
    if (hasJobs(this.platform.sql)) await runJobs(this, nowMs);
    this.scheduleJobs();
  }

  /** Sets the time for the next job. */
  scheduleJobs(): void {
    const next = hasJobs(this.platform.sql) ? this.jobs.nextDueMs() : null;
    if (next !== null) this.platform.wakeAt(next);
  }
}

/** Thrown to take a transaction back, with what it came to. */
class TakenBack<T> extends Error {
  result: T | undefined;

  with(result: T): this {
    this.result = result;
    return this;
  }
}
