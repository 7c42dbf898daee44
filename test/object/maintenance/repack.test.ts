import { expect, test } from "vitest";
import { REPACK_CHUNKS } from "../../../src/object/maintenance/maintenance-jobs.ts";
import { MAX_CHAIN_LINKS } from "../../../src/object/maintenance/repack.ts";
import { PIECE, PIECE_STRIDE } from "../../../src/base/bytes/plan-rows.ts";
import { PushedRepository } from "../pushing.ts";
import { expectSound, longestChain, TinyPushes } from "./tiny-pushes.ts";

const jobsOf = (repository: PushedRepository, kind: string) =>
  repository.events.filter((event) => event.event === "job" && event.kind === kind);

test(
  "many tiny pushes become one chunk, which a clone takes whole and git finds sound",
  { tags: "sweep" },
  async () => {
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
  },
);

test("each object is rewritten once: what is merged is left alone until it is sealed", { tags: "sweep" }, async () => {
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

test("pushes between others are merged as far as their numbers follow one another", { tags: "sweep" }, async () => {
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

test("pushes that are applied while a merge reads lose nothing", { tags: "sweep" }, async () => {
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
