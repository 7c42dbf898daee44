import { createJobs } from "../sql/schema.ts";
import type { Sql } from "../sql/sql.ts";

/** Background work: `repack` makes few chunks of many small ones, `seal` moves chunks to large R2 objects, `sweep` removes objects
 * that no row names, `prune` removes what no ref leads to, `compact` rewrites chunks of which that left little, `expire` forgets old pushes, `bundle` builds a bundle,
 * `trim` forgets old responses, `materialize` brings a branch's worktree to the branch's tip, `tally` sums up what was pushed,
 * `announce` tells the registry how the repository stands, `erase` removes a deleted repository's bytes. */
export type JobKind =
  | "repack"
  | "seal"
  | "sweep"
  | "prune"
  | "compact"
  | "expire"
  | "bundle"
  | "trim"
  | "materialize"
  | "tally"
  | "announce"
  | "erase";

/** Whether a job does not wait at all. */
export function isUrgent(kind: JobKind): boolean {
  return IMPATIENT_MS[kind] === 0;
}

/** A job that was taken; `dueMs` is when it would be given out again. */
export interface Job {
  readonly id: number;
  readonly kind: JobKind;
  /** Tells jobs of one kind apart; what it means is the kind's affair. */
  readonly key: string;
  /** When it was due. */
  readonly sinceMs: number;
  readonly dueMs: number;
  /** How often it was taken, this time included. */
  readonly attempts: number;
}

/** A job as it waits, or runs. */
export interface WaitingJob extends Omit<Job, "id" | "sinceMs"> {
  /** What its last attempt failed with, null: none did. */
  readonly lastError: string | null;
}

/** What a run did: when it began (ms since 1970), how long it took, and what it counted. */
export interface JobRecord extends Readonly<Record<string, number>> {
  readonly timeMs: number;
  readonly ms: number;
}

/** How long a job that is due waits for a moment without requests, at the most. Then it is done beside them. */
const PATIENCE_MS = 60_000;

/** Of those that wait less: the registry is told at once; chains of deltas, which `repack` cuts, grow with every push, and so do bytes in SQLite,
 * which `seal` takes away and every plan carries until then. */
const IMPATIENT_MS: Partial<Readonly<Record<JobKind, number>>> = { announce: 0, repack: 1_000, seal: 1_000 };

/** SQL: when a job waits no longer. */
const LATEST_MS = `due_ms + CASE kind ${Object.entries(IMPATIENT_MS)
  .map(([kind, ms]) => `WHEN '${kind}' THEN ${ms}`)
  .join(" ")} ELSE ${PATIENCE_MS} END`;

/** How long a taken job is left alone: the longest that an alarm may run. A job whose runner died comes up again after it. */
const LEASE_MS = 15 * 60_000;

/** Wait after the first failure; it doubles with each further one, up to `LONGEST_BACKOFF_MS`. */
const FIRST_BACKOFF_MS = 2_000;
const LONGEST_BACKOFF_MS = 60 * 60_000;

/** Work to be done later, which survives the object: table `jobs`. A job may run more than once, so what it does must bear that.
 * A job that is added while it runs is run again: `done` and `fail` only settle the run which was taken. */
export class JobQueue {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** The queue of a database that may be empty: makes its table if need be. */
  static open(sql: Sql): JobQueue {
    createJobs(sql);
    return new JobQueue(sql);
  }

  /** Adds a job; of the same kind and key there is only one, due at the earlier of the two times. One that is there as it must be costs no
   * row. */
  add(kind: JobKind, key: string, dueMs: number): void {
    this.#sql.exec(
      `INSERT INTO jobs (kind, key, due_ms) VALUES (?, ?, ?)
        ON CONFLICT (kind, key) DO UPDATE SET due_ms = min(due_ms, excluded.due_ms),
          again_ms = min(ifnull(again_ms, excluded.due_ms), excluded.due_ms)
        WHERE excluded.due_ms < due_ms OR (taken = 1 AND excluded.due_ms < ifnull(again_ms, excluded.due_ms + 1))`,
      kind,
      key,
      dueMs,
    );
  }

  /** Whether there is such a job. */
  has(kind: JobKind, key: string): boolean {
    return this.#sql.exec("SELECT 1 FROM jobs WHERE kind = ? AND key = ?", kind, key).toArray().length > 0;
  }

  /** A job as it waits, null: there is none such. */
  find(kind: JobKind, key: string): WaitingJob | null {
    return this.#select("WHERE kind = ? AND key = ?", kind, key)[0] ?? null;
  }

  /** Removes a job that is no longer wanted. */
  cancel(kind: JobKind, key: string): void {
    this.#sql.exec("DELETE FROM jobs WHERE kind = ? AND key = ?", kind, key);
  }

  /** Removes all jobs but those of one kind. */
  cancelAllBut(kind: JobKind): void {
    this.#sql.exec("DELETE FROM jobs WHERE kind <> ?", kind);
  }

  /** Takes the job that is due for the longest time, null when none is.
   * @param isQuiet whether it is the moment that jobs wait for; without it, only those that wait no longer are taken */
  take(nowMs: number, isQuiet = true): Job | null {
    const [found] = this.#sql
      .exec<{ id: number; sinceMs: number }>(
        `SELECT id, due_ms AS sinceMs FROM jobs WHERE ${isQuiet ? "due_ms" : LATEST_MS} <= ? ORDER BY due_ms, id LIMIT 1`,
        nowMs,
      )
      .toArray();
    if (found === undefined) return null;
    const taken = this.#sql
      .exec<{ id: number; kind: JobKind; key: string; dueMs: number; attempts: number }>(
        `UPDATE jobs SET due_ms = ?, attempts = attempts + 1, taken = 1, again_ms = NULL WHERE id = ?
        RETURNING id, kind, key, due_ms AS dueMs, attempts`,
        nowMs + LEASE_MS,
        found.id,
      )
      .one();
    return { ...taken, sinceMs: found.sinceMs };
  }

  /** Has the jobs run soon whose runner died: for one that knows that nobody runs any. One that is the death of its runners comes ever later. */
  recover(nowMs: number): void {
    this.#sql.exec(
      `UPDATE jobs SET taken = 0, due_ms = min(due_ms, ?1 + min(?2 << min(attempts - 1, 20), ?3)) WHERE taken = 1`,
      nowMs,
      FIRST_BACKOFF_MS,
      LONGEST_BACKOFF_MS,
    );
  }

  /** Removes a job; one that was added again since it was taken is due when that said. */
  done(job: Job): void {
    const taken = "id = ? AND due_ms = ?";
    this.#sql.exec(`DELETE FROM jobs WHERE ${taken} AND again_ms IS NULL`, job.id, job.dueMs);
    this.#sql.exec(
      `UPDATE jobs SET due_ms = again_ms, attempts = 0, taken = 0, again_ms = NULL WHERE ${taken}`,
      job.id,
      job.dueMs,
    );
  }

  /** Puts a job off, the longer the more often it was taken, unless it was added again meanwhile. */
  fail(job: Job, nowMs: number, error: string): void {
    const backoffMs = Math.min(FIRST_BACKOFF_MS * 2 ** (job.attempts - 1), LONGEST_BACKOFF_MS);
    this.#sql.exec(
      "UPDATE jobs SET due_ms = ?, taken = 0, last_error = ? WHERE id = ? AND due_ms = ?",
      nowMs + backoffMs,
      error,
      job.id,
      job.dueMs,
    );
  }

  /** Notes what the last run of a kind that succeeded did. */
  noteRun(kind: JobKind, record: JobRecord): void {
    this.#sql.exec("INSERT OR REPLACE INTO job_runs (kind, record) VALUES (?, ?)", kind, JSON.stringify(record));
  }

  /** The last run of each kind that succeeded. */
  lastRuns(): Partial<Record<JobKind, JobRecord>> {
    const rows = this.#sql.exec<{ kind: JobKind; record: string }>("SELECT kind, record FROM job_runs ORDER BY kind");
    return Object.fromEntries(rows.toArray().map(({ kind, record }) => [kind, JSON.parse(record) as JobRecord]));
  }

  /** All jobs, by the time when they are due. */
  all(): WaitingJob[] {
    return this.#select("ORDER BY due_ms, id");
  }

  /** When the next job is due, null when there is none. */
  nextDueMs(): number | null {
    return this.#sql.exec<{ due: number | null }>("SELECT min(due_ms) AS due FROM jobs").one().due;
  }

  /** When the next job is to be run, null when there is none: the time for the alarm.
   * @param quietAtMs when it will be quiet: what can wait is not run before */
  nextRunMs(quietAtMs: number): number | null {
    const next = `SELECT min(due_ms) AS due, min(${LATEST_MS}) AS latest FROM jobs`;
    const { due, latest } = this.#sql.exec<{ due: number | null; latest: number | null }>(next).one();
    return due === null ? null : Math.min(latest!, Math.max(due, quietAtMs));
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
