/** Faults that persist, come at a bad time, or come twice: after each the invariants hold, as after
 * a single fault. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { packOf } from "../../harness/pack-builder.ts";
import { Random } from "../../harness/random.ts";
import { ANYONE } from "../../harness/requester.ts";
import { CLONE_REQUEST, plannedPack } from "../clone-request.ts";
import { fromHex } from "../stored-repository.ts";
import { checkNothingLeft, checkRepository, readRefs } from "./invariants.ts";
import { addJob, push } from "./steps.ts";
import { makeFat, makeVersion, type Version } from "./versions.ts";
import { World } from "./world.ts";

const MAIN = "refs/heads/main";
const HOUR_MS = 60 * 60_000;
const first = makeVersion(null, "first");
const second = makeVersion(first, "second");
const fat = makeFat(first.commit.oid, "fat", 400_000, 900_000, 1_200_000, 700_000);
const fatTip = fat.at(-1)!.oid;

let world: World;

beforeEach(async () => {
  world = new World();
  await push({ [MAIN]: first.commit.oid }, first.pack).run(world);
  await world.ring(Date.now() + HOUR_MS);
});

/** Lets all jobs run, then checks everything. */
async function expectSound(refs: Readonly<Record<string, string>>): Promise<void> {
  const states = new Map(Object.entries(refs));
  await checkRepository(world.repository, world.store, states);
  await world.ring(Infinity);
  await checkRepository(world.repository, world.store, states);
  await checkNothingLeft(world.repository, world.store);
}

describe("storage that is full", () => {
  test("of the database: pushes fail, what is there is read, and pushes pass when there is room", async () => {
    world.isDatabaseFull = true;
    const small = push({ [MAIN]: second.commit.oid }, second.pack);
    const large = push({ [MAIN]: fatTip }, packOf(...fat));
    for (const step of [small, large]) {
      await expect(step.run(world)).rejects.toThrow("full");
      await checkRepository(world.repository, world.store, new Map([[MAIN, first.commit.oid]]));
    }
    await expect(world.repository.clone(first.commit.oid)).resolves.toBeDefined();
    world.isDatabaseFull = false;
    await small.run(world);
    await expectSound({ [MAIN]: second.commit.oid });
  });

  test("of R2: a large push fails, a small one passes, and a large one later", async () => {
    world.isStoreDown = true;
    await expect(push({ [MAIN]: fatTip }, packOf(...fat)).run(world)).rejects.toThrow("storage failed");
    await push({ [MAIN]: second.commit.oid }, second.pack).run(world);
    // The sweep of the first attempt's objects fails, and is put off.
    await world.ring(Date.now() + HOUR_MS);
    world.isStoreDown = false;
    await push({ [MAIN]: fatTip }, packOf(...fat)).run(world);
    await expectSound({ [MAIN]: fatTip });
  });
});

describe("alarms", () => {
  async function beginMerging(): Promise<string> {
    const versions: Version[] = [first];
    for (let i = 0; i < 5; i++) versions.push(makeVersion(versions.at(-1)!, `version ${i}`));
    for (const { commit, pack } of versions.slice(1)) await push({ [MAIN]: commit.oid }, pack).run(world);
    for (const kind of ["repack", "prune", "compact", "expire", "tally", "filter"] as const) addJob(world, kind);
    return versions.at(-1)!.commit.oid;
  }

  test("that ring twice, at once and one after the other", async () => {
    const tip = await beginMerging();
    const { repository } = world.repository;
    await Promise.all([1, 2, 3].map((late) => repository.runJobs(Date.now() + late)));
    await repository.runJobs(Date.now() + 4);
    const jobs = world.repository.events.filter((event) => event.event === "job").map(({ kind }) => kind);
    expect(jobs).toEqual([...new Set(jobs)]);
    await expectSound({ [MAIN]: tip });
  });

  test("that fail until the platform gives up: the next push, or the next life, sets them again", async () => {
    const tip = await beginMerging();
    const { repository } = world.repository;
    world.isDatabaseFull = true;
    for (let tries = 0; tries < 7; tries++) await expect(repository.runJobs(Date.now() + 1)).rejects.toThrow("full");
    world.isDatabaseFull = false;
    world.repository.wakeMs = null;
    await push({ "refs/heads/next": tip }, null).run(world);
    expect(world.repository.wakeMs).not.toBeNull();
    world.repository.wakeMs = null;
    world.start();
    expect(world.repository.wakeMs).not.toBeNull();
    await expectSound({ [MAIN]: tip, "refs/heads/next": tip });
  });
});

describe("a clock that is wrong", () => {
  afterEach(() => void vi.useRealTimers());

  test.each([1, 2, 3])("by an hour to either side, from call to call (seed %i)", { tags: "sweep" }, async (seed) => {
    const random = new Random(seed);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    const startMs = Date.now();
    const jump = (): void => void vi.setSystemTime(startMs + random.pick([-HOUR_MS, 0, HOUR_MS]));
    let tip = first;
    for (let i = 0; i < 12; i++) {
      const next = makeVersion(random.below(4) === 0 ? first : tip, `version ${seed} ${i}`, random.pick([0, 300_000]));
      jump();
      await push({ [MAIN]: next.commit.oid }, next.pack).run(world);
      tip = next;
      jump();
      if (i === 6) for (const kind of ["repack", "prune", "expire"] as const) addJob(world, kind);
      jump();
      await world.ring(Date.now());
      if (random.below(3) === 0) world.start();
    }
    vi.setSystemTime(startMs);
    await expectSound({ [MAIN]: tip.commit.oid });
  });
});

test("jobs that a client asked for run later when the request fails", async () => {
  for (let point = 0; point < 12; point++) {
    world.arm(point, "before");
    const asked = world.repository.repository.call("maintain", ["repack", "prune"], ANYONE);
    await asked.catch(() => undefined);
    expect(world.isHit).toBe(true);
    world.disarm();
    await world.ring(Infinity);
    expect(world.repository.tables.jobs.all()).toEqual([]);
  }
});

describe("pushes at once", () => {
  test("of which two move one ref: one of them wins, the other is told, and can try again", async () => {
    const side = makeVersion(first, "side", 300_000);
    const commands = [second, side].map(({ commit }) => [[MAIN, first.commit.oid, commit.oid]] as const);
    const results = await Promise.all([
      world.repository.receive(commands[0]!, second.pack),
      world.repository.receive(commands[1]!, side.pack),
    ]);
    const lost = results.findIndex(({ refs }) => refs[0]!.error !== null);
    expect(results[1 - lost]!.refs[0]!.error).toBeNull();
    expect([second, side][1 - lost]!.commit.oid).toBe(readRefs(world.repository).get(MAIN));
    await push({ [MAIN]: [second, side][lost]!.commit.oid }, [second, side][lost]!.pack).run(world);
    await expectSound({ [MAIN]: [second, side][lost]!.commit.oid });
  });

  test("of which fifty move fifty refs: all pass", { tags: "sweep" }, async () => {
    const random = new Random(4);
    const versions = Array.from({ length: 50 }, (_, i) =>
      makeVersion(first, `branch ${i}`, random.pick([0, 5_000, 300_000])),
    );
    const refs = Object.fromEntries(versions.map(({ commit }, i) => [`refs/heads/b${i}`, commit.oid]));
    await Promise.all(
      versions.map(({ commit, pack }, i) => push({ [`refs/heads/b${i}`]: commit.oid }, pack).run(world)),
    );
    await expectSound({ [MAIN]: first.commit.oid, ...refs });
  });
});

test("a repository that is deleted during a clone ends it with an error, not with a shorter pack", async () => {
  await push({ [MAIN]: fatTip }, packOf(...fat)).run(world);
  const outcome = await world.repository.repository.fetch({ ...CLONE_REQUEST, wants: fromHex(fatTip) });
  expect(await world.repository.repository.delete()).toBe(true);
  await world.ring(Date.now() + 1_000);
  await expect(world.repository.stream(plannedPack(outcome))).rejects.toThrow("storage failed");
  await world.ring(Infinity);
  await checkNothingLeft(world.repository, world.store);
});
