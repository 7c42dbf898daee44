import { expect, test } from "vitest";
import { REPACK_CHUNKS, RUN_BYTES, SEAL_BYTES } from "../../../src/object/maintenance/maintenance-jobs.ts";
import { MAX_CHAIN_LINKS } from "../../../src/object/maintenance/repack.ts";
import { FaultyChunkStore, type FaultPlan, NO_FAULTS } from "../../harness/faulty-chunk-store.ts";
import { MemoryChunkStore } from "../../harness/memory-chunk-store.ts";
import { PushedRepository } from "../pushing.ts";
import { expectSound, longestChain, TinyPushes } from "./tiny-pushes.ts";

/** Bundles are tested elsewhere. */
const NO_BUNDLE = { minBundleBytes: Number.MAX_SAFE_INTEGER };

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
  // A slow machine runs other jobs meanwhile.
  const repacks = events.filter(({ kind }) => kind === "repack");
  expect(repacks.length).toBeGreaterThan(1);
  for (const event of repacks) {
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
