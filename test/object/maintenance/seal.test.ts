import { expect, test, vi } from "vitest";
import { PLAN_LIFE_MS, SEAL_BYTES, SEAL_OBJECTS } from "../../../src/object/maintenance/maintenance-jobs.ts";
import { FaultyChunkStore, type FaultPlan, NO_FAULTS } from "../../harness/faulty-chunk-store.ts";
import { MemoryChunkStore } from "../../harness/memory-chunk-store.ts";
import { Random } from "../../harness/random.ts";
import { hasJobs } from "../../../src/object/store/sql/schema.ts";
import { makeRepository, tryGit } from "../../harness/git.ts";
import { makeCommit, makeObject, type MadeObject, makeTree, packOf } from "../../harness/pack-builder.ts";
import { PushedRepository } from "../pushing.ts";

const random = new Random(1);

/** A commit of so many incompressible bytes. */
function makeFat(parents: readonly string[], text: string, sizeBytes: number): MadeObject[] {
  const blob = makeObject("blob", random.bytes(sizeBytes));
  const tree = makeTree(["100644", "fat", blob]);
  return [blob, tree, makeCommit(tree, parents, `${text}\n`)];
}

/** Pushes commits, by default until there is enough to seal.
 * @returns the tip */
async function pushFat(
  repository: PushedRepository,
  from: string | null = null,
  count = 12,
  sizeBytes = 200_000,
): Promise<string> {
  let tip = from;
  for (let i = 0; i < count; i++) {
    const made = makeFat(tip === null ? [] : [tip], `Commit ${i}`, sizeBytes);
    const next = made[2]!.oid;
    expect((await repository.push([["refs/heads/main", tip, next]], packOf(...made))).refs[0]!.error).toBe(null);
    tip = next;
  }
  return tip!;
}

async function expectClone(pack: Buffer, tip: string): Promise<void> {
  const clone = await makeRepository("clone.git", "--bare");
  const indexed = await tryGit(clone, ["index-pack", "--strict", "--stdin"], { stdin: pack });
  expect(indexed.stderr).toBe("");
  expect((await tryGit(clone, ["rev-list", "--objects", tip])).code).toBe(0);
}

function openFaulty(plan: { faults: FaultPlan }): { repository: PushedRepository; chunks: FaultyChunkStore } {
  const chunks = new FaultyChunkStore(new MemoryChunkStore(), (call) => plan.faults(call));
  return { repository: new PushedRepository({ chunks }), chunks };
}

const HOUR_MS = 60 * 60_000;

test(
  "small pushes cost no R2 operation; then one write takes them all, and a clone is the same to the byte",
  { tags: "sweep" },
  async () => {
    const { repository, chunks } = openFaulty({ faults: () => null });
    const tip = await pushFat(repository);
    expect(chunks.calls).toEqual([]);
    const before = await repository.clone(tip);
    await expectClone(before, tip);

    await repository.repository.runJobs(Date.now() + 1);
    expect(chunks.calls.map(({ operation }) => operation)).toEqual(["put"]);
    expect(repository.tables.chunks.hot().sizeBytes).toBeLessThan(SEAL_BYTES);
    expect(repository.tables.jobs.nextDueMs()).toBe(null);
    expect(Buffer.compare(await repository.clone(tip), before)).toBe(0);
    expect(await repository.keys()).toEqual([...repository.tables.chunks.keys()]);

    const next = await pushFat(repository, tip, 14);
    await repository.repository.runJobs(Date.now() + 1);
    expect((await repository.keys()).length).toBe(2);
    await expectClone(await repository.clone(next), next);
  },
);

test("medium pushes leave small R2 objects; eight are joined, and go a day later", async () => {
  const { repository, chunks } = openFaulty({ faults: () => null });
  let tip = await pushFat(repository, null, SEAL_OBJECTS - 1, 300_000);
  const first = await repository.keys();
  expect(first.length).toBe(SEAL_OBJECTS - 1);
  expect(repository.tables.jobs.nextDueMs()).toBe(null);
  tip = await pushFat(repository, tip, 1, 300_000);
  const before = await repository.clone(tip);
  const planned = await repository.planClone(tip);
  const now = Date.now() + 1;
  await repository.repository.runJobs(now);
  expect(repository.events.at(-1)).toMatchObject({ event: "job", kind: "seal", chunks: 7, again: false });
  expect(chunks.calls.filter(({ operation }) => operation === "put").length).toBe(SEAL_OBJECTS + 1);
  const used = [...repository.tables.chunks.keys()];
  expect(used.length).toBe(2);
  expect(Buffer.compare(await repository.clone(tip), before)).toBe(0);
  // A fetch planned earlier still reads the old chunks.
  await repository.repository.runJobs(now + PLAN_LIFE_MS - 1);
  expect(Buffer.compare(await repository.stream(planned), before)).toBe(0);
  await repository.repository.runJobs(now + PLAN_LIFE_MS);
  // The next sweep.
  await repository.repository.runJobs(now + PLAN_LIFE_MS + HOUR_MS);
  expect(await repository.keys()).toEqual(used.toSorted());
  expect(repository.tables.jobs.nextDueMs()).toBe(null);
  await expectClone(await repository.clone(tip), tip);
});

test("whatever the sizes of pushes, R2 objects are few: one for each 1 MB, and ten", { tags: "sweep" }, async () => {
  // Bundles are tested elsewhere.
  const repository = new PushedRepository({ limits: { minBundleBytes: Number.MAX_SAFE_INTEGER } });
  const sizes = new Random(3);
  let tip: string | null = null;
  for (let i = 0; i < 60; i++) {
    tip = await pushFat(repository, tip, 1, sizes.pick([100, 5_000, 100_000, 260_000, 400_000, 900_000, 1_100_000]));
    await repository.repository.runJobs(Date.now() + 1);
    const bytes = repository.tables.chunks.allInOrder().reduce((sum, { size }) => sum + size, 0);
    expect(repository.tables.chunks.keys().size).toBeLessThanOrEqual(bytes / 1_000_000 + 10);
  }
  const events = repository.events.filter((event) => event.event === "job");
  for (const event of events) expect(event.peakBytes ?? 0).toBeLessThan(16_000_000);
  await repository.repository.runJobs(Date.now() + PLAN_LIFE_MS + 1_000);
  expect(await repository.keys()).toEqual([...repository.tables.chunks.keys()].toSorted());
  await expectClone(await repository.clone(tip!), tip!);
});

test("bytes that R2 gives back changed are not sealed as if they were right", async () => {
  const plan = { faults: NO_FAULTS };
  const { repository } = openFaulty(plan);
  const tip = await pushFat(repository, null, SEAL_OBJECTS, 300_000);
  const keys = await repository.keys();
  plan.faults = ({ operation }) => (operation === "read" ? "flip" : null);
  await repository.repository.runJobs(Date.now() + 1);
  expect(repository.events.at(-1)).toMatchObject({ event: "job-failed", kind: "seal" });
  expect([...repository.tables.chunks.keys()].toSorted()).toEqual(keys);
  plan.faults = NO_FAULTS;
  await repository.repository.runJobs(Date.now() + 60_000);
  expect(repository.tables.chunks.keys().size).toBe(2);
  await expectClone(await repository.clone(tip), tip);
});

test("a sweep of one object leaves those alone whose keys only begin like it, and a wider one those that have a day left", async () => {
  const repository = new PushedRepository();
  await pushFat(repository, null, 1);
  const { state } = repository.repository;
  const prefix = `${state.key}/chunks/push/`;
  for (const name of ["1", "10", "2"]) await repository.chunks.put(prefix + name, random.bytes(10));
  const now = Date.now();
  state.jobs.add("sweep", `${prefix}1`, now);
  await repository.repository.runJobs(now);
  expect(await repository.keys()).toEqual([`${prefix}10`, `${prefix}2`]);
  state.jobs.add("sweep", prefix, now);
  state.jobs.add("sweep", `${prefix}2`, now + PLAN_LIFE_MS);
  await repository.repository.runJobs(now);
  expect(await repository.keys()).toEqual([`${prefix}2`]);
  await repository.repository.runJobs(now + PLAN_LIFE_MS);
  expect(await repository.keys()).toEqual([]);
});

test.each(["before", "after"] as const)(
  "a put that fails %s its effect leaves all as it was; the next try seals, and a sweep clears up",
  async (fault) => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const plan = { faults: (({ operation }) => (operation === "put" ? fault : null)) as FaultPlan };
    const { repository } = openFaulty(plan);
    const tip = await pushFat(repository);
    const before = await repository.clone(tip);
    const hotBytes = repository.tables.chunks.hot().sizeBytes;
    const now = Date.now();
    await repository.repository.runJobs(now + 1);
    expect(repository.tables.chunks.hot().sizeBytes).toBe(hotBytes);
    expect((await repository.keys()).length).toBe(fault === "after" ? 1 : 0);
    expect(Buffer.compare(await repository.clone(tip), before)).toBe(0);

    plan.faults = () => null;
    await repository.repository.runJobs(now + 60_000);
    const used = [...repository.tables.chunks.keys()];
    expect(used.length).toBe(1);
    // The sweep after the first attempt is due an hour after it began.
    await repository.repository.runJobs(now + 2 * 60 * 60_000);
    // The next sweep.
    await repository.repository.runJobs(now + 4 * HOUR_MS);
    expect(await repository.keys()).toEqual(used);
    expect(repository.tables.jobs.nextDueMs()).toBe(null);
    expect(Buffer.compare(await repository.clone(tip), before)).toBe(0);
    vi.restoreAllMocks();
  },
);

test("a crash between put and seal leaves garbage that a new life sweeps", async () => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  const store = new MemoryChunkStore();
  let isCrashed = false;
  const dying = new FaultyChunkStore(store, ({ operation }) =>
    operation === "put" ? ((isCrashed = true), "after") : null,
  );
  const first = new PushedRepository({ chunks: dying });
  const tip = await pushFat(first);
  await first.repository.runJobs(Date.now() + 1);
  expect(isCrashed).toBe(true);

  const second = new PushedRepository({ chunks: store, sql: first.sql });
  expect((await second.keys()).length).toBe(1);
  await second.repository.runJobs(Date.now() + 2 * 60 * 60_000);
  expect(await second.keys()).toEqual([...second.tables.chunks.keys()]);
  expect((await second.keys()).length).toBe(1);
  await expectClone(await second.clone(tip), tip);
  vi.restoreAllMocks();
});

test("a sweep leaves alone what rows name and what is being written", async () => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  const repository = new PushedRepository();
  const tip = await pushFat(repository);
  await repository.repository.runJobs(Date.now() + 1);
  const { state } = repository.repository;
  const live = await repository.keys();
  const prefix = `${state.key}/chunks/running/`;
  await repository.chunks.put(`${prefix}0`, random.bytes(10));
  await repository.chunks.put(`${state.key}/chunks/other/0`, random.bytes(10));
  state.activePrefixes.add(prefix);
  const now = Date.now();
  for (const key of [prefix, live[0]!, `${state.key}/chunks/sealed-`]) state.jobs.add("sweep", key, now);
  await repository.repository.runJobs(now);
  expect(await repository.keys()).toEqual([...live, `${prefix}0`, `${state.key}/chunks/other/0`].toSorted());
  await expectClone(await repository.clone(tip), tip);

  state.activePrefixes.delete(prefix);
  await repository.repository.runJobs(now + 10_000);
  expect(await repository.keys()).toEqual([...live, `${state.key}/chunks/other/0`].toSorted());
  // The writer may have died, and a write that it sent may still arrive.
  await repository.chunks.put(`${prefix}1`, random.bytes(10));
  await repository.repository.runJobs(now + 10_000 + HOUR_MS);
  expect(await repository.keys()).toEqual([...live, `${state.key}/chunks/other/0`].toSorted());
  expect(state.jobs.nextDueMs()).toBe(null);
  vi.restoreAllMocks();
});

test("a job that fails is tried after 2 s, 4 s, … at most an hour, and does not hold up the others", async () => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  const plan = {
    faults: (({ operation, key }) => (operation === "list" && key === "bad/" ? "before" : null)) as FaultPlan,
  };
  const { repository } = openFaulty(plan);
  const { jobs } = repository.repository.state;
  await repository.chunks.put("good/0", random.bytes(5));
  let now = 1_000_000;
  jobs.add("sweep", "bad/", now);
  jobs.add("sweep", "good/", now);
  const waits: number[] = [];
  for (let i = 0; i < 14; i++) {
    await repository.repository.runJobs(now);
    expect(repository.wakeMs).toBe(jobs.nextDueMs());
    waits.push(repository.wakeMs! - now);
    now = repository.wakeMs!;
  }
  expect(waits.slice(0, 4)).toEqual([2_000, 4_000, 8_000, 16_000]);
  expect(waits.slice(-2)).toEqual([3_600_000, 3_600_000]);
  expect(await repository.keys()).toEqual([]);
  plan.faults = () => null;
  await repository.repository.runJobs(now);
  await repository.repository.runJobs(now + HOUR_MS);
  // There never was a repository: its database is removed with its last job.
  expect(hasJobs(repository.sql)).toBe(false);
  vi.restoreAllMocks();
});
