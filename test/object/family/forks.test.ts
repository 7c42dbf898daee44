// Forks made while something else happens, and what they keep of each other.
import { beforeEach, expect, test } from "vitest";
import { retireObjects } from "../../../src/object/maintenance/sweep.ts";
import { PLAN_LIFE_MS } from "../../../src/object/maintenance/maintenance-jobs.ts";
import { openPathFilters } from "../../../src/object/store/graph/path-filter-table.ts";
import { packOf } from "../../harness/pack-builder.ts";
import { ANYONE } from "../../harness/requester.ts";
import { makeFat, makeVersion, type Version } from "../faults/versions.ts";
import { FamilyWorld } from "./family-world.ts";

const MAIN = "refs/heads/main";
const SIDE = "refs/heads/side";
const first = makeVersion(null, "first");
const second = makeVersion(first, "second");
const large = makeVersion(second, "large", 300_000);
const fat = makeFat(second.commit.oid, "fat", 300_000);
const fatTip = fat.at(-1)!.oid;

let world: FamilyWorld;
/** Runs before each call arrives. */
let between: () => Promise<unknown>;
/** The most rows of a part that a fork copies. */
let partRows: number;

beforeEach(() => {
  between = () => Promise.resolve();
  partRows = Infinity;
  world = new FamilyWorld({
    limits: { pruneGraceMs: 0 },
    pause: async () => void (await between()),
    partRows: () => partRows,
  });
});

async function push(id: string, name: string, oid: string, pack: Uint8Array | null): Promise<void> {
  const told = await world.ask(id, (repository) =>
    repository.receive([[name, repository.refs().get(name) ?? null, oid]], pack),
  );
  expect(told).toEqual({ unpack: "ok", refs: [{ name, error: null }] });
}

async function pushVersions(id: string, ...versions: readonly Version[]): Promise<void> {
  world.reserve(id);
  for (const { commit, pack } of versions) await push(id, MAIN, commit.oid, pack);
}

function fork(id: string, parent: string, branches: readonly string[] | null = null): Promise<boolean> {
  world.reserve(id);
  const request = { parent, branches, expiresMs: null, who: null };
  return world.ask(id, ({ repository }) => repository.fork(request));
}

/** Runs a function once, before call number `call` arrives. */
function atCall(call: number, run: () => unknown): void {
  let calls = 0;
  between = async () => {
    if (++calls === call) await run();
  };
}

test("a fork may be copied in many parts, also while others are made", async () => {
  await pushVersions("parent", first, second, large);
  partRows = 1;
  expect(await Promise.all([fork("one", "parent"), fork("two", "parent")])).toEqual([true, true]);
  await world.check(await world.refs());
  expect(world.refsOf("one")).toEqual(world.refsOf("parent"));
});

test("a fork has the filters of its parent's commits, and makes those of its own", async () => {
  await pushVersions("parent", first, second);
  const filter = (id: string): Promise<void> =>
    world.ask(id, async ({ repository }) => {
      repository.state.jobs.add("filter", "", Date.now());
      await repository.runJobs(Date.now());
    });
  await filter("parent");
  expect(await fork("one", "parent")).toBe(true);
  const filtersOf = (id: string) => [...openPathFilters(world.look(id).sql).all()];
  expect(filtersOf("one")).toEqual(filtersOf("parent"));
  await push("one", MAIN, large.commit.oid, large.pack);
  await push("parent", MAIN, fatTip, packOf(...fat));
  await filter("one");
  await filter("parent");
  for (const id of ["one", "parent"]) {
    const { graph } = world.look(id).tables;
    const commits = Array.from({ length: graph.length }, (_, p) => graph.number(p));
    expect(filtersOf(id).map(({ number }) => number)).toEqual(commits.toSorted((a, b) => a - b));
  }
});

test("a push between two parts has the copy begin again", async () => {
  await pushVersions("parent", first, second);
  partRows = 1;
  atCall(3, () => push("parent", MAIN, fatTip, packOf(...fat)));
  expect(await fork("one", "parent")).toBe(true);
  await world.check(
    new Map([
      [`parent:${MAIN}`, fatTip],
      [`one:${MAIN}`, fatTip],
    ]),
  );
});

test("of two forks to one id, one is made, and it is whole", async () => {
  await pushVersions("a", first, second, large);
  await pushVersions("b", first);
  await fork("c", "a");
  partRows = 1;
  expect((await Promise.all([fork("x", "c"), fork("x", "b")])).toSorted()).toEqual([false, true]);
  await world.check(await world.refs());
  expect(await fork("x", "b")).toBe(false);
});

test("a push or a creation of a repository that is being forked is told to come again", async () => {
  await pushVersions("parent", first);
  const refused: string[] = [];
  atCall(1, async () => {
    const { commit, pack } = first;
    const pushed = world.ask("one", (repository) => repository.receive([[MAIN, null, commit.oid]], pack));
    const created = world.ask("one", ({ repository }) => repository.create("main"));
    for (const attempt of [pushed, created]) await attempt.catch((error: Error) => refused.push(error.message));
  });
  expect(await fork("one", "parent")).toBe(true);
  expect(refused).toEqual([expect.stringContaining("being forked"), expect.stringContaining("being forked")]);
  await world.check(await world.refs());
});

test("pins that are being set are not taken back by a job that a former attempt left", async () => {
  await pushVersions("parent", first, second, large);
  partRows = 1;
  atCall(2, async () => {
    world.look("one").repository.state.jobs.add("unpin", "parent", 0);
    await world.ask("one", ({ repository }) => repository.runJobs(Date.now()));
  });
  expect(await fork("one", "parent")).toBe(true);
  await world.ring(Infinity);
  await world.check(await world.refs());
  await world.checkSettled();
});

test("a fork whose process dies leaves nothing, although nobody asks again", async () => {
  await pushVersions("parent", first, second, large);
  partRows = 1;
  atCall(3, () => world.kill("one"));
  await expect(fork("one", "parent")).rejects.toThrow("died");
  await world.ring(Infinity);
  await world.checkSettled();
});

test("a request to pin that comes too late changes nothing, and its sender is told", async () => {
  await pushVersions("parent", first, second, large);
  const { repository, tables } = world.look("parent");
  const [key] = tables.chunks.keys();
  expect(await repository.pin("holder", 2, [key!])).toBe(true);
  expect(await repository.pin("holder", 1, [])).toBe(false);
  expect(repository.state.pins.has(key!)).toBe(true);
  expect(await repository.beginFork("holder", 1)).toBe("overtaken");
});

test("what has left a repository cannot be pinned", async () => {
  await pushVersions("parent", first, second, large);
  const { repository } = world.look("parent");
  expect(await repository.pin("holder", 1, ["parent/chunks/gone/0"])).toBe(false);
  expect(repository.state.pins.isEmpty()).toBe(true);
});

test("a released object that fetches of its owner may need stays for as long as they may", async () => {
  await pushVersions("parent", first, second);
  await push("parent", SIDE, fatTip, packOf(...fat));
  await fork("one", "parent");
  const { repository, tables, chunks } = world.look("parent");
  const [key] = tables.chunks.keys();
  await world.ask("parent", (parent) => parent.receive([[SIDE, fatTip, null]], null));
  await repository.call("maintain", ["prune"], ANYONE);
  const dueMs = repository.state.jobs.find("sweep", key!)!.dueMs;
  await world.ask("one", (one) => one.repository.delete());
  await world.ring(Date.now() + 1_000);
  expect(repository.state.pins.has(key!)).toBe(false);
  expect(repository.state.jobs.find("sweep", key!)!.dueMs).toBe(dueMs);
  expect(await chunks.stat(key!)).not.toBeNull();
  await world.ring(dueMs);
  expect(await chunks.stat(key!)).toBeNull();
});

test("a pin is taken back a day after the last object was retired, not the first", async () => {
  await pushVersions("one", first);
  const { state } = world.look("one").repository;
  const tables = state.tables!;
  retireObjects(state, tables, ["parent/chunks/a"], 1_000);
  retireObjects(state, tables, ["parent/chunks/b"], 500_000);
  expect(tables.jobs.find("unpin", "parent")!.dueMs).toBe(500_000 + PLAN_LIFE_MS);
});
