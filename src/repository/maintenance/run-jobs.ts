import { newChunkCounters } from "../../store/chunk-store.ts";
import type { Job, JobKind } from "../../store/jobs.ts";
import { announce } from "../announce.ts";
import { buildBundle } from "../bundle-job.ts";
import type { RepositoryState } from "../repository-state.ts";
import { trimResponses } from "../response-cache.ts";
import { compact } from "./compact.ts";
import { erase } from "./erase.ts";
import { expire } from "./expire.ts";
import type { JobOutcome, JobRun } from "./housekeeping.ts";
import { materialize } from "./materialize.ts";
import { merge } from "./merge.ts";
import { prune } from "./prune.ts";
import { seal } from "./seal.ts";
import { sweep } from "./sweep.ts";
import { tally } from "./tally.ts";

/** What each job does; all of it may happen twice. */
const HANDLERS: Record<JobKind, (run: JobRun) => Promise<JobOutcome>> = {
  merge,
  seal,
  sweep,
  prune,
  compact,
  expire,
  materialize,
  erase,
  announce: async ({ repository }) => {
    await announce(repository);
    return { counts: {}, again: false };
  },
  bundle: async ({ repository, job }) => {
    await buildBundle(repository, job);
    return { counts: {}, again: false };
  },
  tally,
  trim: async ({ repository, nowMs }) => {
    repository.platform.transactor.transactionSync(() => trimResponses(repository, nowMs));
    return { counts: {}, again: false };
  },
};

/** What is still to be done for a repository that does not exist: deleted, or not created by the push that began to. */
const OUTLIVING: ReadonlySet<JobKind> = new Set(["sweep", "announce", "erase"]);

/** Runs the jobs that are due, one after the other. One that fails is put off; the error is reported, the others run. */
export async function runJobs(repository: RepositoryState, nowMs: number): Promise<void> {
  const { jobs } = repository;
  for (let job = jobs.take(nowMs); job !== null; job = jobs.take(nowMs)) await runJob(repository, job, nowMs);
}

async function runJob(repository: RepositoryState, job: Job, nowMs: number): Promise<void> {
  const { jobs, platform } = repository;
  const operations = newChunkCounters();
  const startMs = Date.now();
  const { kind, key, attempts } = job;
  if (repository.tables === null && !OUTLIVING.has(kind)) return jobs.done(job);
  try {
    const run = { repository, job, nowMs, store: platform.openChunks(operations) };
    const { counts, again } = await HANDLERS[kind](run);
    const ms = Date.now() - startMs;
    jobs.done(job);
    // There is one after most pushes: not worth a row and a line each.
    if (kind === "announce") return;
    jobs.noteRun(kind, { timeMs: startMs, ms, ...counts });
    // Not at once: the alarm's time is bounded, and others get their turn.
    if (again) jobs.add(kind, key, nowMs + 1);
    platform.observe({ event: "job", kind, key, ms, again, ...counts, operations });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    platform.observe({ event: "job-failed", kind, key, attempts, error: message });
    jobs.fail(job, nowMs, message);
  }
}
