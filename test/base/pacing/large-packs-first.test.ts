/** Jobs make way for large packs: what is counted is what a job does while one is being
 * received. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { HOT_PUSH_BYTES } from "../../../src/base/format/limits.ts";
import { NULL_OID } from "../../../src/base/format/oid.ts";
import { REPACK_CHUNKS } from "../../../src/object/maintenance/maintenance-jobs.ts";
import { Pace } from "../../../src/base/pacing/pace.ts";
import { Traffic } from "../../../src/base/pacing/traffic.ts";
import { noise } from "../codec/sample.ts";
import { makeRepository } from "../../harness/git.ts";
import { MemoryChunkStore } from "../../harness/memory-chunk-store.ts";
import { makeCommit, makeObject, makeTree, packOf } from "../../harness/pack-builder.ts";
import { ANYONE } from "../../harness/requester.ts";
import { GatedStore } from "../../object/maintenance/housekeep.ts";
import { TinyPushes } from "../../object/maintenance/tiny-pushes.ts";
import { PushedRepository } from "../../object/pushing.ts";
import { fromHex } from "../../object/stored-repository.ts";
import { commitFiles, expectWorktree } from "../../object/worktree/worktree-harness.ts";

const MINUTE_MS = 60_000;
const FILES = 100;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"], now: 1_800_000_000_000 });
});

afterEach(() => {
  vi.useRealTimers();
});

/** Pushes a large pack whose end comes when `finish` is called. */
function pushSlowly(repository: PushedRepository, name: string): { finish(): Promise<unknown> } {
  const blob = makeObject("blob", noise(2 * HOT_PUSH_BYTES));
  const tree = makeTree(["100644", "noise", blob]);
  const commit = makeCommit(tree, [], "noise\n");
  const pack = packOf(blob, tree, commit);
  const { promise: end, resolve } = Promise.withResolvers<Uint8Array>();
  const pieces: (Uint8Array | Promise<Uint8Array>)[] = [pack.slice(0, -100), end];
  const pushed = repository.repository.receive({
    commands: [{ name, old: NULL_OID, new: fromHex(commit.oid) }],
    atomic: false,
    pushOptions: [],
    shallow: [],
    pack: { read: async () => (await pieces.shift()) ?? null },
    agent: null,
    requester: ANYONE,
    progress: () => undefined,
  });
  return {
    finish: async () => {
      resolve(pack.slice(-100));
      return pushed;
    },
  };
}

/** Whether a run of jobs has ended. */
function runJobs({ repository }: PushedRepository): { hasEnded: boolean; run: Promise<void> } {
  const state = { hasEnded: false, run: repository.runJobs(Date.now()) };
  void state.run.finally(() => (state.hasEnded = true));
  return state;
}

test("a run of a job ends while a large pack is received, and the rest follows the push", async () => {
  const store = new MemoryChunkStore();
  const gate = new GatedStore(store);
  const repository = new PushedRepository({ chunks: gate, worktrees: "default-branch" });
  const dir = await makeRepository("work.git", "--bare");
  const files = Object.fromEntries(Array.from({ length: FILES }, (_, i) => [`file-${i}`, `${i}`]));
  await repository.pushFrom(dir, { "refs/heads/main": await commitFiles(dir, "main", files) });
  let puts = 0;
  let push: ReturnType<typeof pushSlowly> | undefined;
  gate.onPut = async () => {
    puts += 1;
    if (puts === 10) push = pushSlowly(repository, "refs/heads/large");
    await new Promise((resolve) => setTimeout(resolve, 10));
  };
  const first = runJobs(repository);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(first.hasEnded).toBe(true);
  // Those that had begun.
  expect(puts).toBeLessThan(20);
  const written = puts;
  // Its alarm does not ring again and again.
  expect(repository.wakeMs).toBeGreaterThanOrEqual(Date.now() - 10_000 + 1_000);
  await repository.repository.runJobs(Date.now());
  expect(puts).toBe(written);
  gate.onPut = null;
  await push!.finish();
  expect(repository.wakeMs).toBeLessThanOrEqual(Date.now());
  const rest = runJobs(repository);
  await vi.advanceTimersByTimeAsync(10_000);
  await rest.run;
  await expectWorktree(repository, store, dir, "main", "main");
});

test(
  "what waits for no moment without requests waits for large packs, five minutes at most",
  { tags: "sweep" },
  async () => {
    const traffic = new Traffic();
    const repository = new PushedRepository({ traffic });
    const permit = await traffic.largePacks.acquire();
    await new TinyPushes(repository).push(REPACK_CHUNKS);
    const dueMs = Date.now();
    const { chunks } = repository.tables;
    for (; Date.now() < dueMs + 5 * MINUTE_MS; await vi.advanceTimersByTimeAsync(MINUTE_MS / 2)) {
      permit.renew();
      await repository.repository.runJobs(Date.now());
      expect(chunks.hot().unmerged).toBe(REPACK_CHUNKS);
      expect(repository.wakeMs).toBeGreaterThan(Date.now());
    }
    await repository.repository.runJobs(Date.now());
    expect(chunks.hot().unmerged).toBe(0);
  },
);

test("a push that died with its pack's place holds jobs up for two minutes at most", { tags: "sweep" }, async () => {
  const traffic = new Traffic();
  const repository = new PushedRepository({ traffic });
  await traffic.largePacks.acquire();
  await new TinyPushes(repository).push(REPACK_CHUNKS);
  await vi.advanceTimersByTimeAsync(2 * MINUTE_MS - 1);
  await repository.repository.runJobs(Date.now());
  expect(repository.tables.chunks.hot().unmerged).toBe(REPACK_CHUNKS);
  vi.advanceTimersByTime(1);
  await repository.repository.runJobs(Date.now());
  expect(repository.tables.chunks.hot().unmerged).toBe(0);
});

test("a run that cannot end rests while large packs are received, a minute in all", async () => {
  const traffic = new Traffic();
  const pace = new Pace("quiet", { isQuiet: () => false, isReceiving: () => traffic.isReceiving });
  let steps = 0;
  const work = (async () => {
    for (; steps < 1_000; steps++) await pace.rest();
  })();
  const before = steps;
  await vi.advanceTimersByTimeAsync(20);
  const [first, second] = [await traffic.largePacks.acquire(), await traffic.largePacks.acquire()];
  await vi.advanceTimersByTimeAsync(50);
  const reached = steps;
  expect(reached).toBeGreaterThan(before);
  expect(reached).toBeLessThan(1_000);
  await vi.advanceTimersByTimeAsync(MINUTE_MS / 2);
  first.release();
  expect(steps).toBe(reached);
  await vi.advanceTimersByTimeAsync(MINUTE_MS / 2 - 1_000);
  expect(steps).toBe(reached);
  await vi.advanceTimersByTimeAsync(10_000);
  await work;
  second.release();
});
