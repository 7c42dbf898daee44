import { expect, test, vi } from "vitest";
import { SEAL_BYTES } from "../../src/repository/maintenance.ts";
import { FaultyChunkStore, type FaultPlan } from "../../src/store/faulty-chunk-store.ts";
import { MemoryChunkStore } from "../../src/store/memory-chunk-store.ts";
import { Random } from "../harness/random.ts";
import { makeRepository, tryGit } from "../harness/git.ts";
import { makeCommit, makeObject, type MadeObject, makeTree, packOf } from "../harness/pack-builder.ts";
import { PushedRepository } from "./pushing.ts";

const random = new Random(1);

/** A commit of 200 KB that do not compress. */
function makeFat(parents: readonly string[], text: string): MadeObject[] {
  const blob = makeObject("blob", random.bytes(200_000));
  const tree = makeTree(["100644", "fat", blob]);
  return [blob, tree, makeCommit(tree, parents, `${text}\n`)];
}

/** Pushes commits until there is enough to seal.
 * @returns the tip */
async function pushFat(repository: PushedRepository, from: string | null = null, count = 12): Promise<string> {
  let tip = from;
  for (let i = 0; i < count; i++) {
    const made = makeFat(tip === null ? [] : [tip], `Commit ${i}`);
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

test("small pushes cost no R2 operation; then one write takes them all, and a clone is the same to the byte", async () => {
  const { repository, chunks } = openFaulty({ faults: () => null });
  const tip = await pushFat(repository);
  expect(chunks.calls).toEqual([]);
  const before = await repository.clone(tip);
  await expectClone(before, tip);

  await repository.repository.runJobs(Date.now() + 1);
  expect(chunks.calls.map(({ operation }) => operation)).toEqual(["put"]);
  expect(repository.tables.chunks.hotBytes()).toBeLessThan(SEAL_BYTES);
  expect(repository.tables.jobs.nextDueMs()).toBe(null);
  expect(Buffer.compare(await repository.clone(tip), before)).toBe(0);
  expect(await repository.keys()).toEqual([...repository.tables.chunks.keys()]);

  const next = await pushFat(repository, tip, 14);
  await repository.repository.runJobs(Date.now() + 1);
  expect((await repository.keys()).length).toBe(2);
  await expectClone(await repository.clone(next), next);
});

test.each(["before", "after"] as const)(
  "a put that fails %s its effect leaves all as it was; the next try seals, and a sweep clears up",
  async (fault) => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const plan = { faults: (({ operation }) => (operation === "put" ? fault : null)) as FaultPlan };
    const { repository } = openFaulty(plan);
    const tip = await pushFat(repository);
    const before = await repository.clone(tip);
    const hotBytes = repository.tables.chunks.hotBytes();
    const now = Date.now();
    await repository.repository.runJobs(now + 1);
    expect(repository.tables.chunks.hotBytes()).toBe(hotBytes);
    expect((await repository.keys()).length).toBe(fault === "after" ? 1 : 0);
    expect(Buffer.compare(await repository.clone(tip), before)).toBe(0);

    plan.faults = () => null;
    await repository.repository.runJobs(now + 60_000);
    const used = [...repository.tables.chunks.keys()];
    expect(used.length).toBe(1);
    // The sweep of the first try is due an hour after it began.
    await repository.repository.runJobs(now + 2 * 60 * 60_000);
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
  expect(await repository.keys()).toEqual([...live, `${prefix}0`, `${state.key}/chunks/other/0`].sort());
  await expectClone(await repository.clone(tip), tip);

  state.activePrefixes.delete(prefix);
  await repository.repository.runJobs(now + 10_000);
  expect(await repository.keys()).toEqual([...live, `${state.key}/chunks/other/0`].sort());
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
  expect(jobs.nextDueMs()).toBe(null);
  vi.restoreAllMocks();
});
