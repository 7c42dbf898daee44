/** What outlives processes: a repository's database, its bucket, its alarm, and the registry's
 * record of it. And the process that is alive, if any, which dies when the seed says so. */
import { ANYONE } from "../../harness/requester.ts";
import wasm from "../../../src/base/codec/holdfast.wasm";
import { instantiateCodec } from "../../../src/base/codec/codec.ts";
import { GitError, isGitError } from "../../../src/base/format/errors.ts";
import { DEFAULT_LIMITS, type Limits } from "../../../src/base/format/configured-limits.ts";
import { Repository } from "../../../src/object/repository.ts";
import { Traffic } from "../../../src/base/pacing/traffic.ts";
import type { WorktreePolicy } from "../../../src/contract/env.ts";
import type { RepositoryEvent } from "../../../src/contract/log-events.ts";
import { keepTree } from "../../../src/object/objects/tree-contents.ts";
import type { Sql, SqlBinding, SqlCursor, SqlValue, Transactor } from "../../../src/object/store/sql/sql.ts";
import type { Random } from "../../harness/random.ts";
import { NO_FAMILY, NOTHING_OUTSIDE } from "../pushing.ts";
import { NodeSql } from "../sqlite.ts";
import { type BucketTemper, type Caller, SimulatedBucket } from "./bucket.ts";
import { VirtualTime } from "./virtual-time.ts";

/** The outcome of a request, as its client sees it. */
export type Answer<T> =
  | { readonly kind: "done"; readonly value: T }
  | { readonly kind: "failed"; readonly error: unknown }
  /** There is no answer: the outcome is unknown. */
  | { readonly kind: "lost" };

/** One process of the object. Its database is the world's until it dies. */
class Process implements Caller, Sql, Transactor {
  isAlive = true;
  readonly #death = Promise.withResolvers<never>();
  readonly databaseSize = 0;
  readonly repository: Repository;
  /** Statements until it dies. */
  statementsLeft = Infinity;
  readonly #sql: NodeSql;
  readonly #onDeath: () => void;

  constructor(sql: NodeSql, onDeath: () => void, open: (process: Process) => Repository) {
    this.#sql = sql;
    this.#onDeath = onDeath;
    this.life.catch(() => undefined);
    this.repository = open(this);
  }

  get life(): Promise<never> {
    return this.#death.promise;
  }

  exec<T extends Record<string, SqlValue>>(query: string, ...bindings: SqlBinding[]): SqlCursor<T> {
    this.#live();
    return this.#sql.exec(query, ...bindings);
  }

  transactionSync<T>(f: () => T): T {
    this.#live();
    this.#sql.exec("BEGIN");
    try {
      const result = f();
      this.#live();
      this.#sql.exec("COMMIT");
      return result;
    } catch (error) {
      this.#sql.exec("ROLLBACK");
      throw error;
    } finally {
      // Also right after the commit, before any client is told.
      this.#live();
    }
  }

  die(): void {
    if (!this.isAlive) return;
    this.isAlive = false;
    this.#death.reject(new Error("the process has died"));
    this.#onDeath();
  }

  /** Counts a step of the database, which may be the last. */
  #live(): void {
    if (this.isAlive && this.statementsLeft-- <= 0) this.die();
    if (!this.isAlive) throw new Error("the process has died");
  }
}

/** As many bytes as an isolate caches of trees: adding them evicts all others. */
const KEPT_BYTES = new Uint8Array(8 * 1024 * 1024);
let driven = 0;

/** The caches of an isolate are lost with it. */
function forgetTrees(): void {
  const oid = new Uint8Array(20);
  new DataView(oid.buffer).setUint32(0, ++driven);
  keepTree(oid, KEPT_BYTES);
}

const codec = instantiateCodec(wasm);

/** Everything in a run except its clients. */
export class World {
  readonly time = new VirtualTime();
  readonly sql = new NodeSql();
  readonly bucket: SimulatedBucket;
  readonly random: Random;
  readonly trace: string[] = [];
  readonly id = "repository";
  readonly #limits: Limits;
  readonly #worktrees: WorktreePolicy;
  #process: Process | null = null;
  #alarmMs = Infinity;
  /** Alarms that are running. */
  #ringing = 0;
  #cancelAlarm: () => void = () => undefined;
  /** The registry keeps the name until it is told that there is no repository. */
  isAdmitted = true;
  lives = 0;
  /** How often the registry is unreachable, as a share. */
  registryFailing = 0;

  constructor(random: Random, temper: BucketTemper, limits: Partial<Limits>, worktrees: WorktreePolicy) {
    this.#worktrees = worktrees;
    this.random = random;
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
    this.bucket = new SimulatedBucket(this.time, random, temper, (text) => this.note(text));
  }

  /** Adds a line to the record of events. */
  note(text: string): void {
    this.trace.push(`${String(this.time.nowMs % 10_000_000_000).padStart(10, "0")} ${text}`);
  }

  /** Sends a request over a network with delays, to the running process or a new one. */
  async request<T>(
    send: (repository: Repository) => Promise<T>,
    onAnswer: (answer: Answer<T>) => unknown,
  ): Promise<Answer<T>> {
    await this.time.sleep(this.random.below(40));
    const process = this.#wake();
    const outcome = send(process.repository).then(
      (value): Answer<T> => ({ kind: "done", value }),
      (error: unknown): Answer<T> => {
        if (!process.isAlive) return { kind: "lost" };
        if (!isGitError(error)) throw error;
        return { kind: "failed", error };
      },
    );
    const answer = await Promise.race([outcome, process.life.catch((): Answer<T> => ({ kind: "lost" }))]);
    await onAnswer(answer);
    await this.time.sleep(this.random.below(40));
    return answer;
  }

  /** Ends the process, now or at one of its next statements. */
  crash(statements: number | null): void {
    if (this.#process === null) return;
    if (statements === null) this.#process.die();
    else this.#process.statementsLeft = statements;
  }

  /** The bucket for a Worker, which outlives the object. */
  openWorker(): ReturnType<SimulatedBucket["open"]> {
    return this.bucket.open({ isAlive: true, life: new Promise(() => undefined), isWorker: true });
  }

  /** When the alarm rings, Infinity: never. */
  get alarmMs(): number {
    return this.#alarmMs;
  }

  /** Whether nothing runs, and nothing will before then unless a client asks. */
  isQuietUntil(timeMs: number): boolean {
    return this.#ringing === 0 && this.#alarmMs >= timeMs;
  }

  /** Sets the clock forward; the alarm may ring. */
  async skip(ms: number): Promise<void> {
    await this.bucket.land();
    this.note(`clock ${ms} ms forward`);
    this.time.skip(ms);
    this.#setAlarm(this.#alarmMs);
  }

  /** Ends everything, and waits for what is still running. */
  async close(): Promise<void> {
    this.crash(null);
    this.#cancelAlarm();
    await this.time.drain();
  }

  #wake(): Process {
    if (this.#process !== null) return this.#process;
    this.note(`life ${++this.lives}`);
    forgetTrees();
    const process = new Process(
      this.sql,
      () => {
        this.note("the process dies");
        this.#process = null;
      },
      (process) => this.#open(process),
    );
    return (this.#process = process);
  }

  #open(process: Process): Repository {
    return new Repository({
      id: this.id,
      registry: {
        admit: () => this.#askRegistry(process, () => this.isAdmitted),
        nameOf: async () => null,
        readStanding: () => this.#askRegistry(process, () => ANYONE),
        report: (_, { kind }) =>
          this.#askRegistry(process, () => {
            if (kind !== "live") this.isAdmitted = false;
            return null;
          }),
      },
      family: NO_FAMILY,
      outside: NOTHING_OUTSIDE,
      sql: process,
      transactor: process,
      erase: async () => {
        if (process.isAlive) this.sql.erase();
      },
      openChunks: () => this.bucket.open(process),
      module: wasm,
      codec,
      limits: this.#limits,
      worktrees: this.#worktrees,
      traffic: new Traffic(),
      wakeAt: (timeMs) => process.isAlive && this.#setAlarm(timeMs),
      observe: (event) => process.isAlive && this.note(describe(event)),
    });
  }

  async #askRegistry<T>(process: Process, answer: () => T): Promise<T> {
    await this.time.sleep(this.random.below(20));
    if (!process.isAlive) return process.life;
    if (this.random.below(1_000) < this.registryFailing * 1_000)
      throw new GitError("unavailable", { what: "the registry" });
    return answer();
  }

  #setAlarm(timeMs: number): void {
    this.#cancelAlarm();
    this.#alarmMs = timeMs;
    if (timeMs === Infinity) return;
    this.#cancelAlarm = this.time.after(timeMs - this.time.nowMs, () => void this.#ring());
  }

  /** The platform repeats an alarm that killed the object. */
  async #ring(): Promise<void> {
    this.#alarmMs = Infinity;
    this.#ringing += 1;
    const process = this.#wake();
    const rung = process.repository.runJobs(Date.now()).then(
      () => true,
      (error: unknown) => {
        if (process.isAlive) throw error;
        return false;
      },
    );
    const isRung = await Promise.race([rung, process.life.catch(() => false)]);
    this.#ringing -= 1;
    if (!isRung) this.#setAlarm(Math.min(this.#alarmMs, this.time.nowMs + 2_000));
  }
}

/** An event in a line, without what differs from one run of a seed to the next. */
function describe(event: RepositoryEvent): string {
  switch (event.event) {
    case "push":
      return `push of ${event.refs} refs, ${event.objects} objects`;
    case "call":
      return `call ${event.name}: ${event.error ?? "done"}`;
    case "job":
      return `job ${event.kind}${event.again ? ", again" : ""}`;
    case "job-failed":
      return `job ${event.kind} failed: ${event.error}`;
    default:
      return event.event;
  }
}
