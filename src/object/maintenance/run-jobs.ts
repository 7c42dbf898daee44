import { newChunkCounters } from "../../base/chunks/chunk-store.ts";
import type { Job, Rivals } from "../store/jobs/jobs.ts";
import type { JobKind } from "../../contract/upkeep.ts";
import { announceNow } from "../refs/announce.ts";
import { buildBundle } from "../fetch/bundle-job.ts";
import { ISOLATE_MEMORY, type Lease } from "../../base/pacing/memory-budget.ts";
import type { RepositoryState } from "../state/repository-state.ts";
import { unpin } from "./unpin.ts";
import { trimResponses } from "../fetch/response-cache.ts";
import { deleteRepository, tellDeletion } from "../events/deletion.ts";
import { runImport } from "../remotes/run-import.ts";
import { runMirror } from "../remotes/run-mirror.ts";
import { abandonUpload } from "../upload/upload.ts";
import { abort } from "./abort.ts";
import { collectLfs } from "./collect-lfs.ts";
import { compact } from "./compact.ts";
import { erase } from "./erase.ts";
import { expire } from "./expire.ts";
import { filter } from "./filter.ts";
import type { JobOutcome, JobRun } from "./maintenance-jobs.ts";
import { materialize } from "./materialize.ts";
import { repack } from "./repack.ts";
import { Pace } from "../../base/pacing/pace.ts";
import { prune } from "./prune.ts";
import { seal } from "./seal.ts";
import { sweep } from "./sweep.ts";
import { tally } from "./tally.ts";

/** The bytes reserved for a job, and how long (ms) it waits for them before it is postponed. */
const JOB_BYTES = 16 * 1024 * 1024;
const JOB_WAIT_MS = 60_000;

/** The work of each job. Any of it may run twice. */
const HANDLERS: Record<JobKind, (run: JobRun) => Promise<JobOutcome>> = {
  repack,
  seal,
  sweep,
  prune,
  compact,
  expire,
  materialize,
  erase,
  bundle: async ({ repository, job, pace }) => {
    await buildBundle(repository, job, () => pace.rest());
    return { counts: {}, again: false };
  },
  tally,
  filter,
  collect: collectLfs,
  unpin,
  deliver: async ({ repository }) => {
    // Not awaited: an endpoint that does not answer must not keep other jobs waiting.
    repository.teller.start();
    repository.teller.scheduleRemaining();
    return { counts: {}, again: false };
  },
  part: async ({ repository, job, nowMs }) => {
    tellDeletion(repository, job.key, nowMs);
    return { counts: {}, again: false };
  },
  lapse: async ({ repository }) => {
    await deleteRepository(repository, null);
    return { counts: {}, again: false };
  },
  abandon: async ({ repository, job, nowMs }) => {
    abandonUpload(repository, job.key, nowMs);
    return { counts: {}, again: false };
  },
  abort,
  import: async ({ repository }) => ({ counts: await runImport(repository), again: false }),
  mirror: async ({ repository, job }) => ({ counts: { ...(await runMirror(repository, job.key)) }, again: false }),
  trim: async ({ repository, nowMs }) => {
    repository.transactAside(() => trimResponses(repository, nowMs));
    return { counts: {}, again: false };
  },
};

/** Jobs that wait for another host, and let the jobs of other repositories run. */
const WAITING_OUTSIDE: ReadonlySet<JobKind> = new Set(["import", "mirror"]);

/** Jobs that read a pack, which reserves memory by itself. */
const RESERVE_THEMSELVES: ReadonlySet<JobKind> = new Set(["bundle", ...WAITING_OUTSIDE]);

/** Jobs that also run when the repository does not exist: deleted, or never created because its
 * first push failed. */
const OUTLIVING: ReadonlySet<JobKind> = new Set(["sweep", "abort", "erase", "unpin", "part"]);

/** Tells the registry what has changed, then runs the due jobs one after the other, until a request
 * arrives. Overdue jobs run even then. A job that fails is postponed and reported; the others still
 * run. */
export async function runJobs(repository: RepositoryState, nowMs: number): Promise<void> {
  const { jobs } = repository;
  for (;;) {
    const { rivals } = repository;
    const job = jobs.take(nowMs, rivals);
    if (repository.announcement.isDue(nowMs, rivals === "none" || job !== null)) await announceNow(repository);
    if (job === null) return;
    const isInterrupted = await runJob(repository, job, nowMs, rivals);
    // The job is still due, and would be taken again at once.
    if (isInterrupted) return;
  }
}

/** @param rivals when the job was taken: its run makes way for those that come later */
function newPace(repository: RepositoryState, rivals: Rivals): Pace {
  const kind = repository.holds.has("hurry") ? "hurried" : rivals === "none" ? "quiet" : "shares";
  return new Pace(kind, {
    // A run that began while it was quiet ends when somebody waits for jobs, and goes on in a
    // hurry.
    isQuiet: () => repository.rivals === "none" && !repository.holds.has("hurry"),
    isReceiving: () => rivals !== "packs" && repository.rivals === "packs",
  });
}

/** @returns whether it was interrupted */
async function runJob(repository: RepositoryState, job: Job, nowMs: number, rivals: Rivals): Promise<boolean> {
  const { jobs, platform } = repository;
  const { kind, key, attempts } = job;
  // An earlier release may have left a job of a kind that is no more.
  if (!(kind in HANDLERS) || (repository.tables === null && !OUTLIVING.has(kind))) {
    jobs.done(job);
    return false;
  }
  const permit = WAITING_OUTSIDE.has(kind) ? null : await platform.traffic.jobPermit.acquire();
  const operations = newChunkCounters();
  const startMs = Date.now();
  let lease: Lease | null = null;
  try {
    if (!RESERVE_THEMSELVES.has(kind)) lease = await ISOLATE_MEMORY.take(JOB_BYTES, JOB_WAIT_MS);
    const pace = newPace(repository, rivals);
    const run = { repository, job, nowMs, store: platform.openChunks(operations), pace };
    const { counts, again } = await HANDLERS[kind](run);
    const ms = Date.now() - startMs;
    jobs.done(job);
    // A worktree has its own record.
    if (kind !== "materialize") jobs.noteRun(kind, { timeMs: startMs, ms, ...counts });
    const isInterrupted = again && pace.isInterrupted;
    // An interrupted job keeps its age. Any other continues a little later: an alarm has limited
    // time, and other jobs must run too.
    if (again) jobs.add(kind, key, isInterrupted ? job.sinceMs : nowMs + 1);
    platform.observe({ event: "job", kind, key, ms, again, ...counts, operations });
    return isInterrupted;
  } catch (error) {
    // Deleted while it ran: what it needed is gone, and `erase` removes what it has written.
    if (repository.tables === null && !OUTLIVING.has(kind)) {
      jobs.done(job);
      return false;
    }
    const message = error instanceof Error ? error.message : String(error);
    platform.observe({ event: "job-failed", kind, key, attempts, error: message });
    jobs.fail(job, nowMs, message);
    return false;
  } finally {
    lease?.free();
    permit?.release();
  }
}
