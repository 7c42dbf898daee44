import type { Sql } from "../sql/sql.ts";
import type { JobKind, WaitingJob, JobRecord } from "../../../contract/upkeep.ts";

/** A job that was taken; `dueMs` is the end of its lease. */
export interface Job {
  readonly kind: JobKind;
  /** Distinguishes jobs of one kind; its meaning depends on the kind. */
  readonly key: string;
  /** Time at which the job was due. */
  readonly sinceMs: number;
  readonly dueMs: number;
  /** Number of attempts, including this one. */
  readonly attempts: number;
}

/** The requests to which jobs give way. Large packs count for more than other requests. */
export type Rivals = "none" | "requests" | "packs";

/** Time for which a due job waits for a moment without requests, before it runs beside them. */
const PATIENCE_MS = 60_000;

/** Time for which a due job waits while large packs are received. */
const PACK_PATIENCE_MS = 5 * 60_000;

/** Shorter waits. A delivery is hardly any work here. People watch an import's or a mirror's
 * progress. The delta chains that `repack` cuts grow with every push, and so do the bytes in SQLite
 * that every plan carries until `seal` moves them. */
const IMPATIENT_MS: Partial<Readonly<Record<JobKind, number>>> = {
  deliver: 0,
  part: 0,
  import: 0,
  mirror: 0,
  repack: 1_000,
  seal: 1_000,
};

/** SQL: time at which a job stops waiting. All jobs that wait at all wait for large packs. */
const LATEST_MS: Record<Rivals, string> = {
  none: "due_ms",
  requests: latest(PATIENCE_MS, Object.entries(IMPATIENT_MS)),
  packs: latest(
    PACK_PATIENCE_MS,
    Object.entries(IMPATIENT_MS).filter(([, ms]) => ms === 0),
  ),
};

function latest(patienceMs: number, impatientMs: readonly [kind: string, ms: number][]): string {
  const cases = impatientMs.map(([kind, ms]) => `WHEN '${kind}' THEN ${ms}`);
  return `due_ms + CASE kind ${cases.join(" ")} ELSE ${patienceMs} END`;
}

/** Lease of a running job: the longest time that an alarm may run. After it, the job is taken
 * again. */
const LEASE_MS = 15 * 60_000;

/** Backoff after the first failure; doubles with each further one, up to `LONGEST_BACKOFF_MS`. */
const FIRST_BACKOFF_MS = 2_000;
const LONGEST_BACKOFF_MS = 60 * 60_000;

/** A running job. */
interface Running {
  readonly job: Job;
  /** Due time if the job was added again meanwhile; null: it was not. */
  againMs: number | null;
}

/** SQL: whether a job is not in a JSON array of `idOf`. */
const NOT_AMONG = "kind || ' ' || key NOT IN (SELECT value FROM json_each(?))";

/** Background work that survives the object: table `jobs`. A job may run more than once, so it must
 * be idempotent. A job that is added while it runs will run again.
 *
 * The running jobs are in memory only: when the object ends, their rows are still due. Only a job
 * that was there when the object started, or that has failed, is marked in its row while it runs.
 * Such a job may have ended the object, and its backoff grows. There must be one queue per
 * object. */
export class JobQueue {
  readonly #sql: Sql;
  readonly #running = new Map<string, Running>();
  /** Jobs from before the object's start. */
  readonly #left = new Set<string>();

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Adds a job. There is only one for each kind and key, due at the earlier of two times. No row
   * is written if the job is already as requested. */
  add(kind: JobKind, key: string, dueMs: number): void {
    const running = this.#running.get(idOf({ kind, key }));
    if (running !== undefined) {
      running.againMs = Math.min(running.againMs ?? Infinity, dueMs);
      return;
    }
    this.#sql.exec(
      `INSERT INTO jobs (kind, key, due_ms) VALUES (?, ?, ?)
        ON CONFLICT (kind, key) DO UPDATE SET due_ms = excluded.due_ms WHERE excluded.due_ms < due_ms`,
      kind,
      key,
      dueMs,
    );
  }

  /** Whether a job exists. */
  has(kind: JobKind, key: string): boolean {
    return this.#sql.exec("SELECT 1 FROM jobs WHERE kind = ? AND key = ?", kind, key).toArray().length > 0;
  }

  /** Finds a waiting job; null: none. */
  find(kind: JobKind, key: string): WaitingJob | null {
    return this.#select("WHERE kind = ? AND key = ?", kind, key)[0] ?? null;
  }

  /** Counts the jobs of a kind whose keys begin with a prefix.
   * @param prefix ends with a slash */
  count(kind: JobKind, prefix: string): number {
    const query = "SELECT count(*) AS count FROM jobs WHERE kind = ? AND key > ? AND key < ?";
    // The range ends before "0", which follows "/".
    return this.#sql.exec<{ count: number }>(query, kind, prefix, `${prefix.slice(0, -1)}0`).one().count;
  }

  /** Removes a job that is no longer needed. */
  cancel(kind: JobKind, key: string): void {
    this.#running.delete(idOf({ kind, key }));
    this.#sql.exec("DELETE FROM jobs WHERE kind = ? AND key = ?", kind, key);
  }

  /** Removes all jobs but those of some kinds. */
  cancelAllBut(kinds: readonly JobKind[]): void {
    for (const [id, { job }] of this.#running) if (!kinds.includes(job.kind)) this.#running.delete(id);
    this.#sql.exec("DELETE FROM jobs WHERE kind NOT IN (SELECT value FROM json_each(?))", JSON.stringify(kinds));
  }

  /** Takes the job that has been due for longest; null: none.
   * @param rivals if there are any, only jobs that have stopped waiting are taken */
  take(nowMs: number, rivals: Rivals = "none"): Job | null {
    for (const [id, { job }] of this.#running) if (job.dueMs <= nowMs) this.#running.delete(id);
    const [found] = this.#sql
      .exec<{ kind: JobKind; key: string; sinceMs: number; attempts: number }>(
        `SELECT kind, key, due_ms AS sinceMs, attempts + 1 AS attempts FROM jobs
          WHERE ${LATEST_MS[rivals]} <= ? AND ${NOT_AMONG} ORDER BY due_ms LIMIT 1`,
        nowMs,
        this.#runningIds(),
      )
      .toArray();
    if (found === undefined) return null;
    const job = { ...found, dueMs: nowMs + LEASE_MS };
    this.#running.set(idOf(job), { job, againMs: null });
    if (this.#left.has(idOf(job)) || job.attempts > 1) {
      this.#sql.exec(
        "UPDATE jobs SET due_ms = ?, attempts = ?, taken = 1 WHERE kind = ? AND key = ?",
        job.dueMs,
        job.attempts,
        job.kind,
        job.key,
      );
    }
    return job;
  }

  /** Makes the jobs due again that an earlier object had marked as running. A job that kills its
   * runner backs off. */
  recover(nowMs: number): void {
    this.#running.clear();
    this.#sql.exec(
      `UPDATE jobs SET taken = 0, due_ms = min(due_ms, ?1 + min(?2 << min(attempts - 1, 20), ?3)) WHERE taken = 1`,
      nowMs,
      FIRST_BACKOFF_MS,
      LONGEST_BACKOFF_MS,
    );
    for (const job of this.all()) this.#left.add(idOf(job));
  }

  /** Removes a finished job. If it was added again while it ran, it stays with that due time. */
  done(job: Job): void {
    const running = this.#runOf(job);
    if (running === null) return;
    const { kind, key } = job;
    if (running.againMs === null) this.#sql.exec("DELETE FROM jobs WHERE kind = ? AND key = ?", kind, key);
    else
      this.#sql.exec(
        "UPDATE jobs SET due_ms = ?, attempts = 0, taken = 0 WHERE kind = ? AND key = ?",
        running.againMs,
        kind,
        key,
      );
    // Forgets the run only now: if the statement above failed, so has the job.
    this.#running.delete(idOf(job));
    this.#left.delete(idOf(job));
  }

  /** Postpones a failed job, unless it was added again meanwhile. The backoff grows with the number
   * of attempts. */
  fail(job: Job, nowMs: number, error: string): void {
    const running = this.#runOf(job);
    if (running === null) return;
    // Forgets the run first: if the statement below fails, the job is due at once, and the caller's
    // alarm fails.
    this.#running.delete(idOf(job));
    const backoffMs = Math.min(FIRST_BACKOFF_MS * 2 ** (job.attempts - 1), LONGEST_BACKOFF_MS);
    this.#sql.exec(
      "UPDATE jobs SET due_ms = ?, attempts = ?, taken = 0, last_error = ? WHERE kind = ? AND key = ?",
      Math.min(nowMs + backoffMs, running.againMs ?? Infinity),
      job.attempts,
      error,
      job.kind,
      job.key,
    );
  }

  /** Records the last successful run of a kind. */
  noteRun(kind: JobKind, record: JobRecord): void {
    this.#sql.exec(
      "INSERT INTO job_runs (kind, record) VALUES (?, ?) ON CONFLICT DO UPDATE SET record = excluded.record",
      kind,
      JSON.stringify(record),
    );
  }

  /** The last successful run of each kind. */
  lastRuns(): Partial<Record<JobKind, JobRecord>> {
    const rows = this.#sql.exec<{ kind: JobKind; record: string }>("SELECT kind, record FROM job_runs ORDER BY kind");
    return Object.fromEntries(rows.toArray().map(({ kind, record }) => [kind, JSON.parse(record) as JobRecord]));
  }

  /** All jobs, by due time. */
  all(): WaitingJob[] {
    return this.#select("ORDER BY due_ms, kind, key");
  }

  /** Due time of the next job; null: there is none. */
  nextDueMs(): number | null {
    const { due } = this.#sql
      .exec<{ due: number | null }>(`SELECT min(due_ms) AS due FROM jobs WHERE ${NOT_AMONG}`, this.#runningIds())
      .one();
    return this.#orEndOfRun(due);
  }

  /** Time for the next alarm, at which a job must run; null: there is none.
   * @param quietAtMs expected end of rivals: jobs that can wait do not run before
   * @param rivals rivals until then */
  nextRunMs(quietAtMs: number, rivals: Rivals = "requests"): number | null {
    const next = `SELECT min(due_ms) AS due, min(${LATEST_MS[rivals]}) AS latest FROM jobs WHERE ${NOT_AMONG}`;
    const { due, latest } = this.#sql
      .exec<{ due: number | null; latest: number | null }>(next, this.#runningIds())
      .one();
    return this.#orEndOfRun(due === null ? null : Math.min(latest!, Math.max(due, quietAtMs)));
  }

  /** Takes the earliest of a time and the ends of running jobs' leases. */
  #orEndOfRun(timeMs: number | null): number | null {
    let earliestMs = timeMs;
    for (const { job } of this.#running.values()) earliestMs = Math.min(earliestMs ?? Infinity, job.dueMs);
    return earliestMs;
  }

  #runningIds(): string {
    return JSON.stringify([...this.#running.keys()]);
  }

  /** @returns null: the job was cancelled, or taken again */
  #runOf(job: Job): Running | null {
    const running = this.#running.get(idOf(job));
    return running?.job === job ? running : null;
  }

  #select(rest: string, ...bindings: string[]): WaitingJob[] {
    return this.#sql
      .exec<{ kind: JobKind; key: string; dueMs: number; attempts: number; lastError: string | null }>(
        `SELECT kind, key, due_ms AS dueMs, attempts, last_error AS lastError FROM jobs ${rest}`,
        ...bindings,
      )
      .toArray();
  }
}

/** Joins kind and key by a space, which kinds do not contain. */
function idOf({ kind, key }: { readonly kind: JobKind; readonly key: string }): string {
  return `${kind} ${key}`;
}
