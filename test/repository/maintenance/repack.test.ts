import { expect, test } from "vitest";
import { REPACK_CHUNKS, RUN_BYTES, SEAL_BYTES } from "../../../src/repository/maintenance/maintenance-jobs.ts";
import { MAX_CHAIN_LINKS } from "../../../src/repository/maintenance/repack.ts";
import { PIECE, PIECE_STRIDE } from "../../../src/repository/pack/pack-plan.ts";
import { FaultyChunkStore, type FaultPlan, NO_FAULTS } from "../../harness/faulty-chunk-store.ts";
import { MemoryChunkStore } from "../../harness/memory-chunk-store.ts";
import { PushedRepository } from "../pushing.ts";
import { expectSound, longestChain, TinyPushes } from "./tiny-pushes.ts";

/** Bundles are tested elsewhere. */
const NO_BUNDLE = { minBundleBytes: Number.MAX_SAFE_INTEGER };

const jobsOf = (repository: PushedRepository, kind: string) =>
  repository.events.filter((event) => event.event === "job" && event.kind === kind);

test("many tiny pushes become one chunk, which a clone takes whole and git finds sound", async () => {
  const repository = new PushedRepository();
  const pushes = new TinyPushes(repository);
  await pushes.push(REPACK_CHUNKS - 1);
  expect(repository.tables.jobs.nextDueMs()).toBe(null);
  await pushes.push(150 - REPACK_CHUNKS + 1);
  const { objects, chunks } = repository.tables;
  const before = objects.locate(objects.present());
  expect(chunks.allInOrder().length).toBe(150);
  expect(longestChain(repository)).toBeGreaterThan(149);

  await repository.repository.runJobs(Date.now() + 1);
  expect(jobsOf(repository, "repack")).toMatchObject([{ chunks: 150, objects: before.number.length, again: false }]);
  expect(repository.tables.jobs.nextDueMs()).toBe(null);
  const [merged, ...others] = chunks.allInOrder();
  expect(others).toEqual([]);
  expect(merged).toMatchObject({ key: null, packOffset: 0, whole: true, firstNumber: 1, push: 150 });
  expect(longestChain(repository)).toBe(MAX_CHAIN_LINKS);
  // Only the place has changed.
  const after = objects.locate(objects.present());
  for (const column of ["number", "oid", "type", "size", "introducer"] as const)
    expect(after[column]).toEqual(before[column]);
  expect(after.length.reduce((sum, length) => sum + length, 0)).toBe(merged!.size);

  // A fetch of so few objects does not look for whole chunks.
  await pushes.push(80);
  await repository.repository.runJobs(Date.now() + 1);
  expect(objects.lastNumber()).toBeGreaterThan(1_000);
  const plan = await repository.planClone(pushes.tip);
  const pieces = Array.from({ length: plan.pieces.length / PIECE_STRIDE }, (_, i) => plan.pieces[i * PIECE_STRIDE]);
  expect(pieces).toEqual([PIECE.verbatim, PIECE.verbatim]);
  expect(plan.undeltified.length).toBe(0);
  await expectSound(await repository.clone(pushes.tip), pushes.tip);
});

test("each object is rewritten once: what is merged is left alone until it is sealed", async () => {
  const repository = new PushedRepository();
  const pushes = new TinyPushes(repository);
  for (let round = 0; round < 3; round++) {
    await pushes.push(REPACK_CHUNKS);
    await repository.repository.runJobs(Date.now() + 1);
  }
  const merges = jobsOf(repository, "repack");
  expect(merges).toMatchObject([{ chunks: REPACK_CHUNKS }, { chunks: REPACK_CHUNKS }, { chunks: REPACK_CHUNKS }]);
  expect(repository.tables.chunks.allInOrder().length).toBe(3);
  expect(longestChain(repository)).toBe(MAX_CHAIN_LINKS);
  await expectSound(await repository.clone(pushes.tip), pushes.tip);
});

test("a fetch that was planned before goes on with what it has", async () => {
  const repository = new PushedRepository();
  const pushes = new TinyPushes(repository);
  await pushes.push(REPACK_CHUNKS);
  const { tip } = pushes;
  const before = await repository.clone(tip);
  const planned = await repository.planClone(tip);
  await repository.repository.runJobs(Date.now() + 1);
  expect(repository.tables.chunks.hot().unmerged).toBe(0);
  expect(Buffer.compare(await repository.stream(planned), before)).toBe(0);
});

test("pushes between others are merged as far as their numbers follow one another", async () => {
  const repository = new PushedRepository();
  const pushes = new TinyPushes(repository);
  const large = new TinyPushes(repository, { noiseBytes: 300_000 });
  for (let i = 0; i < 4; i++) {
    await pushes.push(16);
    await large.push(1, "refs/heads/large");
  }
  await repository.repository.runJobs(Date.now() + 1);
  const chunks = repository.tables.chunks.allInOrder();
  expect(chunks.map(({ key, packOffset }) => [key === null, packOffset])).toEqual(
    Array.from({ length: 4 }, () => [
      [true, 0],
      [false, 12],
    ]).flat(),
  );
  await expectSound(await repository.clone(pushes.tip), pushes.tip);
  await expectSound(await repository.clone(large.tip), large.tip);
});

test("pushes that settle while a merge reads lose nothing", async () => {
  const repository = new PushedRepository();
  const pushes = new TinyPushes(repository);
  await pushes.push(REPACK_CHUNKS);
  const running = repository.repository.runJobs(Date.now() + 1);
  await pushes.push(5);
  await running;
  await expectSound(await repository.clone(pushes.tip), pushes.tip);
  await pushes.push(REPACK_CHUNKS);
  await repository.repository.runJobs(Date.now() + 1);
  expect(repository.tables.chunks.hot().unmerged).toBe(0);
  await expectSound(await repository.clone(pushes.tip), pushes.tip);
});

test("what is large goes in slices, in little memory, and is sealed when all is merged", async () => {
  const repository = new PushedRepository({ limits: NO_BUNDLE });
  const pushes = new TinyPushes(repository, { noiseBytes: 250_000 });
  await pushes.push(140);
  let runs = 0;
  for (; repository.tables.jobs.nextDueMs() !== null && runs < 9; runs++) {
    await repository.repository.runJobs(repository.tables.jobs.nextDueMs()!);
  }
  const events = repository.events.filter((event) => event.event === "job");
  expect(events.filter(({ again }) => again).map(({ kind }) => kind)).toEqual(["repack"]);
  for (const event of events) {
    expect(event.peakBytes).toBeLessThan(16_000_000);
    expect(event.bytes).toBeLessThan(RUN_BYTES + 4_000_000);
  }
  const { sizeBytes, unmerged } = repository.tables.chunks.hot();
  expect([sizeBytes < SEAL_BYTES, unmerged]).toEqual([true, 0]);
  expect((await repository.keys()).length).toBeLessThanOrEqual(140 / 8);
  expect(longestChain(repository)).toBe(MAX_CHAIN_LINKS);
  await expectSound(await repository.clone(pushes.tip), pushes.tip);
});

test("a whole object too large for a row gets an R2 object of its own; writing that fails loses nothing", async () => {
  const plan: { faults: FaultPlan } = { faults: NO_FAULTS };
  const chunks = new FaultyChunkStore(new MemoryChunkStore(), (call) => plan.faults(call));
  const repository = new PushedRepository({ chunks });
  const pushes = new TinyPushes(repository, { logBytes: 2_100_000 });
  await pushes.push(1 + REPACK_CHUNKS);
  const pushed = await repository.keys();
  const now = Date.now();
  for (const [i, fault] of (["before", "after"] as const).entries()) {
    plan.faults = ({ operation }) => (operation === "put" ? fault : null);
    await repository.repository.runJobs(now + 1 + i * 60_000);
    expect(repository.events.filter(({ event }) => event === "job-failed").length).toBe(i + 1);
    expect(repository.tables.chunks.hot().unmerged).toBe(REPACK_CHUNKS);
    expect((await repository.keys()).length).toBe(pushed.length + i);
  }
  await expectSound(await repository.clone(pushes.tip), pushes.tip);

  plan.faults = NO_FAULTS;
  await repository.repository.runJobs(now + 5 * 60_000);
  expect(repository.tables.chunks.hot().unmerged).toBe(0);
  const used = [...repository.tables.chunks.keys()].toSorted();
  expect(used.length).toBeGreaterThan(pushed.length);
  expect(used).toEqual(expect.arrayContaining(pushed));
  expect(longestChain(repository)).toBeLessThan(REPACK_CHUNKS);
  await expectSound(await repository.clone(pushes.tip), pushes.tip);

  await repository.repository.runJobs(now + 2 * 60 * 60_000);
  expect(await repository.keys()).toEqual(used);
});
