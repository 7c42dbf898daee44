import { parseAbortKey } from "../lfs/lfs-part-uploads.ts";
import type { ChunkUse } from "../store/index/chunk-table.ts";
import { type JobOutcome, type JobRun, REFLOG_MS, RUN_OBJECTS, RUN_BYTES } from "./maintenance-jobs.ts";
import { writeFilters } from "../history/write-filters.ts";
import { newChunkCounters } from "../../base/chunks/chunk-store.ts";
import { ObjectReader } from "../objects/object-reader.ts";
import { GitError } from "../../base/format/errors.ts";
import { pinNeeded } from "../forks/pins.ts";
import { noteAuthors } from "../tally/note-authors.ts";
import { ownerOf } from "../state/chunk-owners.ts";
import type { Job, Rivals } from "../store/jobs/jobs.ts";
import { sumTree } from "../tally/tree-sums.ts";
import type { JobKind } from "../../contract/upkeep.ts";
import { announceNow } from "../refs/announce.ts";
import { installChunks } from "./install.ts";
import { buildBundle } from "../fetch/bundle-job.ts";
import { rewriteEntries } from "./rewrite.ts";
import { ISOLATE_MEMORY, type Lease } from "../../base/pacing/memory-budget.ts";
import type { RepositoryState } from "../state/repository-state.ts";
import { trimResponses } from "../fetch/response-cache.ts";
import { deleteRepository, tellDeletion } from "../events/deletion.ts";
import { runImport } from "../remotes/run-import.ts";
import { runMirror } from "../remotes/run-mirror.ts";
import { abandonUpload } from "../upload/upload.ts";
import { collectLfs } from "./collect-lfs.ts";
import { materialize } from "./materialize.ts";
import { repack } from "./repack.ts";
import { Pace } from "../../base/pacing/pace.ts";
import { prune } from "./prune.ts";
import { seal } from "./seal.ts";
import { sweep } from "./sweep.ts";

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

/** Ends an upload of an LFS object in parts that nobody has continued, and removes what it has
 * stored. */
async function abort({ repository, job, store, nowMs }: JobRun): Promise<JobOutcome> {
  const { key, write } = parseAbortKey(job.key);
  const { tables, jobs } = repository;
  const upload = tables?.lfsUploads.findKey(key) ?? null;
  if (tables !== null && upload !== null) {
    if (upload.endsMs > nowMs) {
      jobs.add("abort", job.key, upload.endsMs);
      return { counts: {}, again: false };
    }
    repository.lfsChecks.delete(upload.id);
    repository.transactAside(() => tables.lfsUploads.remove(upload.id));
  }
  await store.resumeMultipart(key, write).abort();
  // The parts may have become the object.
  jobs.add("sweep", key, nowMs);
  return { counts: {}, again: false };
}

/** The fraction of a chunk's bytes that may be unused before it is rewritten. */
const WASTED_PART = 1 / 4;

/** Rewrites the chunks with many unused bytes, each on its own. A chunk without objects loses its
 * row. Those in R2 objects of other repositories stay: rewriting them would free nothing here. */
async function compact(run: JobRun): Promise<JobOutcome> {
  const { tables, platform } = run.repository;
  const counts = { chunks: 0, objects: 0, bytes: 0, peakBytes: 0 };
  if (tables === null) return { counts, again: false };
  const isWasteful = ({ key, size, usedBytes }: ChunkUse): boolean =>
    (key === null || ownerOf(key) === run.repository.key) && size - usedBytes >= size * WASTED_PART;
  for (const chunk of tables.chunks.unwhole().filter(isWasteful)) {
    const isEnough = counts.bytes >= RUN_BYTES || counts.objects >= RUN_OBJECTS;
    if (isEnough || run.pace.isInterrupted) return { counts, again: true };
    const numbers = tables.objects.inChunk(chunk.id, chunk.firstNumber, chunk.lastNumber);
    const rewritten = await rewriteEntries(tables, run.store, platform.codec, {
      numbers,
      undeltified: new Set(),
      splitAtGaps: false,
    });
    await installChunks(run, { ...rewritten, sources: [chunk] });
    counts.chunks += 1;
    counts.objects += numbers.size;
    counts.bytes += chunk.usedBytes;
    counts.peakBytes = Math.max(counts.peakBytes, rewritten.peakBytes);
    await run.pace.rest();
  }
  return { counts, again: false };
}

/** The most R2 objects that one run removes: ten full delete requests. */
const RUN_KEYS = 10_000;

/** How much later a second run checks again: by then, writes that were in flight have ended. */
const LOOK_AGAIN_MS = 60 * 60_000;

/** The job's key for the second run. */
const AGAIN = "again";

/** Removes the R2 objects of a deleted repository and, an hour later, those written meanwhile.
 * After that no jobs are left except sweeps of pushes still in progress. With the last of them the
 * database is removed too (`Repository.runJobs`). What others of the family need stays until they
 * need it no more, and with it the database. */
async function erase({ repository, job, store, nowMs }: JobRun): Promise<JobOutcome> {
  const { jobs, pins, key: prefix } = repository;
  // Nobody continues an upload in parts any more.
  for (const { kind, key } of jobs.all()) if (kind === "abort") jobs.add(kind, key, nowMs);
  const keys: string[] = [];
  for await (const key of store.list(`${prefix}/`)) {
    if (!pins.has(key) && keys.push(key) === RUN_KEYS) break;
  }
  if (keys.length > 0) await store.delete(keys);
  for (const key of keys) jobs.cancel("sweep", key);
  if (job.key !== AGAIN) jobs.add("erase", AGAIN, nowMs + LOOK_AGAIN_MS);
  return { counts: { deletedObjects: keys.length }, again: keys.length === RUN_KEYS };
}

const DAY_MS = 24 * 60 * 60_000;

/** Removes recorded pushes that are older than both the reflog and pruning need, except for the
 * newest. Runs again while others remain. */
async function expire({ repository, nowMs }: JobRun): Promise<JobOutcome> {
  const { tables, platform } = repository;
  if (tables === null) return { counts: { pushes: 0 }, again: false };
  const keepMs = Math.max(REFLOG_MS, platform.limits.pruneGraceMs);
  const pushes = tables.pushes.removeBefore(nowMs - keepMs, RUN_OBJECTS);
  const oldestMs = tables.pushes.oldestMs();
  // Once a day is enough, however much has been pushed.
  if (oldestMs !== null) tables.jobs.add("expire", "", Math.max(nowMs + DAY_MS, oldestMs + keepMs + 1));
  return { counts: { pushes }, again: pushes === RUN_OBJECTS };
}

/** Makes the filters of the paths that pushed commits change, by which histories of a path are
 * found without reading their trees. */
async function filter({ repository, store, pace }: JobRun): Promise<JobOutcome> {
  const { tables, platform } = repository;
  if (tables === null) return { counts: { commits: 0 }, again: false };
  const reader = new ObjectReader(tables, store, platform.codec);
  const { commits, isAll } = await writeFilters({ tables, reader }, RUN_OBJECTS, pace);
  return { counts: { commits }, again: !isAll };
}

/** Records the authors of pushed commits, and sums up the files of the default branch, so that
 * requests for either need not wait. */
async function tally({ repository, store, pace }: JobRun): Promise<JobOutcome> {
  const { tables, platform } = repository;
  if (tables === null) return { counts: { commits: 0 }, again: false };
  const reader = new ObjectReader(tables, store, platform.codec);
  const { commits, isAll } = await noteAuthors({ tables, reader }, RUN_OBJECTS, pace);
  const head = repository.advertised.head?.oid ?? null;
  if (isAll && head !== null) {
    const { number } = tables.objects.find(head)!;
    await sumTree({ tables, reader }, tables.graph.tree(tables.graph.position(number)), () => pace.rest());
  }
  return { counts: { commits }, again: !isAll };
}

/** Tells another repository, the job's key, which of its R2 objects this one still needs; after
 * its deletion, or when it was never made, none. */
async function unpin({ repository, job }: JobRun): Promise<JobOutcome> {
  if (repository.holds.has("pin")) throw new GitError("unavailable", { what: job.key, reason: "still being pinned" });
  await pinNeeded(repository, job.key);
  return { counts: {}, again: false };
}
