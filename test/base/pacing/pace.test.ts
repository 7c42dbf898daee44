import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { QUIET_MS } from "../../../src/base/format/limits.ts";
import { REPACK_CHUNKS } from "../../../src/object/maintenance/maintenance-jobs.ts";
import { Traffic } from "../../../src/base/pacing/traffic.ts";
import { MemoryChunkStore } from "../../harness/memory-chunk-store.ts";
import { makeRepository } from "../../harness/git.ts";
import { ANYONE } from "../../harness/requester.ts";
import { PushedRepository } from "../../object/pushing.ts";
import { commitFiles, expectWorktree } from "../../object/worktree/worktree-harness.ts";
import { GatedStore } from "../../object/maintenance/housekeep.ts";
import { TinyPushes } from "../../object/maintenance/tiny-pushes.ts";

const FILES = 100;
const MINUTE_MS = 60_000;

/** By how much an alarm is later than the moment without requests for which it is set, so that the
 * request that sets it has ended by then. */
const REQUEST_END_MS = 500;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"], now: 1_800_000_000_000 });
});

afterEach(() => {
  vi.useRealTimers();
});

interface Opened {
  readonly repository: PushedRepository;
  readonly store: MemoryChunkStore;
  readonly gate: GatedStore;
  readonly dir: string;
}

/** A repository whose jobs wait as in a deployment, after a push whose files will be written to
 * R2. */
async function open(traffic = new Traffic()): Promise<Opened> {
  const store = new MemoryChunkStore();
  const gate = new GatedStore(store);
  const limits = { quietMs: QUIET_MS };
  const repository = new PushedRepository({ chunks: gate, limits, worktrees: "default-branch", traffic });
  const dir = await makeRepository("work.git", "--bare");
  const files = Object.fromEntries(Array.from({ length: FILES }, (_, i) => [`file-${i}`, `${i}`]));
  const tip = await commitFiles(dir, "main", files);
  await repository.pushFrom(dir, { "refs/heads/main": tip });
  return { repository, store, gate, dir };
}

/** Runs jobs as the alarm would, while the clock runs. */
async function ring({ repository }: Opened): Promise<void> {
  let isDone = false;
  const run = repository.repository.runJobs(Date.now()).finally(() => (isDone = true));
  while (!isDone) await vi.advanceTimersByTimeAsync(10);
  await run;
}

/** What materializing jobs have written so far. */
function writtenBy({ repository }: Opened): number[] {
  return repository.events.flatMap((event) => (event.event === "job" ? [event.files ?? -1] : []));
}

const ask = ({ repository }: Opened): Promise<unknown> => repository.repository.refs([""]);

test("jobs begin when there has been no request for a while, and the alarm is set for then", async () => {
  const opened = await open();
  const { repository, store, dir } = opened;
  const pushedMs = Date.now();
  await ring(opened);
  expect(writtenBy(opened)).toEqual([]);
  expect(repository.wakeMs).toBe(pushedMs + QUIET_MS + REQUEST_END_MS);
  vi.advanceTimersByTime(QUIET_MS - 500);
  await ask(opened);
  vi.setSystemTime(repository.wakeMs!);
  await ring(opened);
  expect(writtenBy(opened)).toEqual([]);
  vi.setSystemTime(repository.wakeMs!);
  await ring(opened);
  expect(writtenBy(opened)).toEqual([FILES]);
  await expectWorktree(repository, store, dir, "main", "main");
});

test("a job ends at the next request, and the rest of it waits again", async () => {
  const opened = await open();
  const { repository, store, gate, dir } = opened;
  vi.advanceTimersByTime(QUIET_MS);
  let puts = 0;
  let askedMs = 0;
  gate.onPut = async () => {
    if (++puts !== 10) return;
    askedMs = Date.now();
    await ask(opened);
  };
  await ring(opened);
  const [written] = writtenBy(opened);
  expect(written).toBeGreaterThanOrEqual(10);
  // Those that had begun.
  expect(written).toBeLessThan(20);
  expect(repository.wakeMs).toBe(askedMs + QUIET_MS + REQUEST_END_MS);
  vi.advanceTimersByTime(QUIET_MS);
  await ring(opened);
  expect(writtenBy(opened)).toEqual([written, FILES - written!]);
  await expectWorktree(repository, store, dir, "main", "main");
});

test("while requests never end, what is due for a minute is done in small shares", async () => {
  const opened = await open();
  const { repository, store, gate, dir } = opened;
  // Writes take time, by which shares are measured.
  gate.onPut = async () => void vi.setSystemTime(Date.now() + 10);
  for (const endMs = Date.now() + MINUTE_MS - 1_000; Date.now() < endMs;) {
    vi.advanceTimersByTime(1_000);
    await ask(opened);
    await ring(opened);
  }
  expect(writtenBy(opened)).toEqual([]);
  vi.advanceTimersByTime(1_000);
  const startMs = Date.now();
  for (let rings = 0; rings < 50 && repository.tables.jobs.has("materialize", "main"); rings++) {
    await ask(opened);
    expect(repository.wakeMs).toBeLessThanOrEqual(Date.now() + 10);
    await ring(opened);
  }
  await expectWorktree(repository, store, dir, "main", "main");
  // Several runs, so that other objects can run theirs, and pauses for most of the time.
  expect(writtenBy(opened).length).toBeGreaterThan(1);
  expect(Date.now() - startMs).toBeGreaterThan(4 * FILES * 10);
});

test("who asks for maintenance has what is due done at once, and asking how jobs stand does not put them off", async () => {
  const opened = await open();
  const { repository } = opened.repository;
  vi.advanceTimersByTime(QUIET_MS - 1);
  expect(await repository.call("maintenance", undefined, ANYONE)).toMatchObject({ kind: "done" });
  expect(await repository.call("worktrees", undefined, ANYONE)).toMatchObject({ kind: "done" });
  expect(repository.state.quietAtMs(Date.now())).toBe(Date.now() + 1);
  let isDone = false;
  const asked = repository.call("maintain", [], ANYONE).finally(() => (isDone = true));
  while (!isDone) await vi.advanceTimersByTimeAsync(10);
  expect(await asked).toMatchObject({ kind: "done", value: { jobs: [] } });
  expect(writtenBy(opened)).toEqual([FILES]);
});

test("jobs of one isolate wait for requests to any of its objects, and do not run at once", async () => {
  const traffic = new Traffic();
  const [first, second] = [await open(traffic), await open(traffic)];
  vi.advanceTimersByTime(QUIET_MS);
  const other = await open(traffic);
  await Promise.all([ring(first), ring(second)]);
  expect([...writtenBy(first), ...writtenBy(second)]).toEqual([]);
  vi.advanceTimersByTime(QUIET_MS);
  const writing = new Set<Opened>();
  let most = 0;
  for (const one of [first, second, other]) {
    one.gate.onPut = async () => {
      writing.add(one);
      most = Math.max(most, writing.size);
      await new Promise((resolve) => setTimeout(resolve, 1));
      writing.delete(one);
    };
  }
  await Promise.all([ring(first), ring(second), ring(other)]);
  expect([first, second, other].map(writtenBy)).toEqual([[FILES], [FILES], [FILES]]);
  expect(most).toBe(1);
});

test("a request that never says that it has ended holds jobs up for a minute at the most", async () => {
  const traffic = new Traffic();
  const opened = await open(traffic);
  traffic.begin();
  vi.advanceTimersByTime(QUIET_MS);
  await ring(opened);
  expect(writtenBy(opened)).toEqual([]);
  vi.advanceTimersByTime(MINUTE_MS);
  await ring(opened);
  expect(writtenBy(opened)).toEqual([FILES]);
});

test("delta chains are cut a second after they call for it, and the registry is told five after a change at the latest, whoever asks", async () => {
  const reports: string[] = [];
  const registry = {
    admit: async () => true,
    nameOf: async () => null,
    readStanding: async () => ANYONE,
    report: async (_: string, { kind }: { kind: string }) => {
      reports.push(kind);
      return null;
    },
  };
  const repository = new PushedRepository({ limits: { quietMs: QUIET_MS }, registry });
  const pushes = new TinyPushes(repository);
  await pushes.push(REPACK_CHUNKS);
  await repository.receive([["refs/heads/other", null, pushes.tip]], null);
  reports.length = 0;
  vi.advanceTimersByTime(1_000);
  await repository.repository.refs([""]);
  await repository.repository.runJobs(Date.now());
  expect(repository.tables.chunks.hot().unmerged).toBe(0);
  vi.advanceTimersByTime(4_000);
  await repository.repository.refs([""]);
  await repository.repository.runJobs(Date.now());
  expect(reports).toEqual(["live"]);
});
