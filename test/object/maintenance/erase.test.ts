// A deleted repository whose erasing is interrupted at any point: nothing of it is served, and in
// the end nothing is left.
import type { Requester } from "../../../src/base/access/caller.ts";
import { expect, test, vi } from "vitest";
import type { RepositoryStanding } from "../../../src/contract/registry.ts";
import { hasJobs } from "../../../src/object/store/sql/schema.ts";
import { type Fault, faultAt, FaultyChunkStore, NO_FAULTS } from "../../harness/faulty-chunk-store.ts";
import { MemoryChunkStore } from "../../harness/memory-chunk-store.ts";
import { makeCommit, makeObject, makeTree, packOf } from "../../harness/pack-builder.ts";
import { Random } from "../../harness/random.ts";
import { CLONE_REQUEST } from "../clone-request.ts";
import { PushedRepository } from "../pushing.ts";
import { NodeSql } from "../sqlite.ts";
import { GatedStore } from "./housekeep.ts";
import { ANYONE } from "../../harness/requester.ts";

const random = new Random(5);
const blob = makeObject("blob", random.bytes(600_000));
const tree = makeTree(["100644", "file", blob]);
const commit = makeCommit(tree);
const PUSH = [[["refs/heads/main", null, commit.oid]], packOf(blob, tree, commit)] as const;

/** A registry that stores what it is sent, and can be unreachable. */
class FakeRegistry {
  readonly told: RepositoryStanding["kind"][] = [];
  isReachable = true;

  admit = async (): Promise<boolean> => true;

  nameOf = async () => null;
  readStanding = async (): Promise<Requester> => ANYONE;

  report = async (_id: string, { kind }: RepositoryStanding): Promise<null> => {
    if (!this.isReachable) throw new Error("the registry cannot be reached");
    this.told.push(kind);
    return null;
  };
}

/** Runs all jobs, each at its time, until there are none. */
async function runOut({ repository, sql }: PushedRepository): Promise<void> {
  for (let runs = 0; runs < 100; runs++) {
    const dueMs = hasJobs(sql) ? repository.state.jobs.nextDueMs() : null;
    if (dueMs === null) return;
    await repository.runJobs(dueMs);
  }
  throw new Error("there is always another job");
}

async function expectNothing({ repository, sql }: PushedRepository, chunks: MemoryChunkStore): Promise<void> {
  expect(await Array.fromAsync(chunks.list(""))).toEqual([]);
  expect(sql.exec("SELECT name FROM sqlite_master").toArray()).toEqual([]);
  expect(await repository.refs([])).toBeNull();
}

/** A repository with R2 objects that rows name, and some that no row names. */
async function fill(
  chunks: MemoryChunkStore,
  faulty: FaultyChunkStore,
  registry: FakeRegistry,
): Promise<PushedRepository> {
  const pushed = new PushedRepository({ chunks: faulty, registry });
  expect((await pushed.push(...PUSH)).unpack).toBe("ok");
  const { key, jobs } = pushed.repository.state;
  await chunks.put(`${key}/packs/stored`, random.bytes(5));
  jobs.add("sweep", `${key}/packs/stored`, Date.now() + 3_600_000);
  for (let i = 0; i < 1_500; i++) await chunks.put(`${key}/worktrees/main/${i}`, random.bytes(1));
  return pushed;
}

test("from the deletion on there is no repository; then its bytes go, and its database", async () => {
  const chunks = new MemoryChunkStore();
  const registry = new FakeRegistry();
  const pushed = await fill(chunks, new FaultyChunkStore(chunks, NO_FAULTS), registry);
  const { repository } = pushed;
  expect(await repository.delete()).toBe(true);
  expect(registry.told.at(-1)).toBe("deleted");
  expect(await repository.refs([])).toBeNull();
  expect(await repository.fetch({ ...CLONE_REQUEST, wants: new Uint8Array(20) })).toEqual({
    kind: "unknown-repository",
  });
  expect(await repository.call("maintenance", undefined, ANYONE)).toEqual({ kind: "unknown-repository" });
  expect(await repository.admitsPush()).toBe(false);
  expect(await repository.create("main")).toBe(false);
  expect(await repository.delete()).toBe(false);
  await expect(repository.receive({} as never)).rejects.toThrow("not found");
  await runOut(pushed);
  await expectNothing(pushed, chunks);
});

test(
  "whichever call of the store fails, or is the last of a life: all is gone in the end",
  { tags: "sweep" },
  async () => {
    const steps = async (fault: Fault, number: number): Promise<boolean> => {
      const chunks = new MemoryChunkStore();
      let first = 0;
      const faulty = new FaultyChunkStore(chunks, (call) => faultAt(first + number, fault)(call));
      first = Number.MAX_SAFE_INTEGER - 1_000;
      const pushed = await fill(chunks, faulty, new FakeRegistry());
      first = faulty.calls.length;
      await pushed.repository.delete();
      await pushed.repository.runJobs(Date.now());
      const isReached = faulty.calls.length >= first + number;
      // A crash loses what was in memory; nothing else does.
      const { sql } = pushed;
      const next = fault === "crash" ? new PushedRepository({ chunks, sql }) : pushed;
      expect(await next.repository.refs([])).toBeNull();
      await runOut(next);
      await expectNothing(next, chunks);
      return isReached;
    };
    for (const fault of ["before", "after", "crash"] as const) {
      let reached = 0;
      while (await steps(fault, reached + 1)) reached += 1;
      expect(reached).toBeGreaterThanOrEqual(2);
    }
  },
);

test("a life that ends between the last job and the erasing of the database leaves that to the next", async () => {
  const chunks = new MemoryChunkStore();
  const pushed = await fill(chunks, new FaultyChunkStore(chunks, NO_FAULTS), new FakeRegistry());
  await pushed.repository.delete();
  await chunks.delete(await pushed.keys());
  for (const { kind, key } of pushed.repository.state.jobs.all()) pushed.repository.state.jobs.cancel(kind, key);
  const next = new PushedRepository({ chunks, sql: pushed.sql });
  await next.repository.runJobs(next.wakeMs!);
  await expectNothing(next, chunks);
});

test("an alarm is set also when the jobs cannot be read", () => {
  const pushed = new PushedRepository();
  const { state } = pushed.repository;
  state.jobs.add("sweep", "a", 1);
  vi.spyOn(pushed.sql, "exec").mockImplementationOnce(() => {
    throw new Error("database or disk is full");
  });
  expect(() => state.scheduleJobs()).toThrow("full");
  expect(pushed.wakeMs).toBeGreaterThan(Date.now());
});

test("a registry out of reach hears of it later, before the database goes", async () => {
  const chunks = new MemoryChunkStore();
  const registry = new FakeRegistry();
  const pushed = await fill(chunks, new FaultyChunkStore(chunks, NO_FAULTS), registry);
  registry.isReachable = false;
  await pushed.repository.delete();
  for (let i = 0; i < 4; i++) await pushed.repository.runJobs(Date.now() + i * 10_000);
  expect(registry.told).not.toContain("deleted");
  registry.isReachable = true;
  await runOut(pushed);
  expect(registry.told.at(-1)).toBe("deleted");
  await expectNothing(pushed, chunks);
});

test("a push that is under way when its repository is deleted fails, and leaves nothing", async () => {
  const chunks = new MemoryChunkStore();
  const gated = new GatedStore(chunks);
  const pushed = new PushedRepository({ chunks: gated, sql: new NodeSql() });
  await pushed.push(...PUSH);
  const late = makeObject("blob", random.bytes(700_000));
  const lateTree = makeTree(["100644", "late", late]);
  const lateCommit = makeCommit(lateTree, [commit.oid]);
  gated.duringPut(async () => {
    expect(await pushed.repository.delete()).toBe(true);
    // Everything that can be erased now has been.
    await pushed.repository.runJobs(Date.now());
  });
  const push = pushed.push([["refs/heads/main", commit.oid, lateCommit.oid]], packOf(late, lateTree, lateCommit));
  await expect(push).rejects.toThrow("the repository was not found");
  expect(await pushed.keys()).not.toEqual([]);
  await runOut(pushed);
  await expectNothing(pushed, chunks);
});

test("a push that outlasts the last job of its deleted repository leaves no database behind", async () => {
  const chunks = new MemoryChunkStore();
  const pushed = new PushedRepository({ chunks });
  await pushed.push(...PUSH);
  const pack = {
    read: async () => {
      await pushed.repository.delete();
      await runOut(pushed);
      return null;
    },
  };
  const request = { requester: ANYONE, commands: [], atomic: false, pushOptions: [], shallow: [], pack, agent: null };
  const { unpack } = await pushed.repository.receive({ ...request, progress: () => undefined });
  expect(unpack).not.toBe("ok");
  await expectNothing(pushed, chunks);
});

test("a first push that comes to nothing leaves nothing, and says so when asked", async () => {
  const chunks = new MemoryChunkStore();
  const registry = new FakeRegistry();
  const gated = new GatedStore(chunks);
  const pushed = new PushedRepository({ chunks: gated, registry });
  gated.duringPut(async () => {
    // Not decided yet: nothing is announced.
    await pushed.repository.announce();
    expect(registry.told).toEqual([]);
  });
  const { unpack } = await pushed.push(PUSH[0], PUSH[1].subarray(0, -1));
  expect(unpack).not.toBe("ok");
  expect(registry.told).toEqual(["absent"]);
  await runOut(pushed);
  await expectNothing(pushed, chunks);
});

test("nobody may create who is not admitted", async () => {
  const registry = new FakeRegistry();
  registry.admit = async () => false;
  const pushed = new PushedRepository({ registry });
  expect(await pushed.repository.create("main")).toBe(false);
  await expect(pushed.push(...PUSH)).rejects.toThrow("the repository was not found");
  expect(pushed.sql.exec("SELECT name FROM sqlite_master").toArray()).toEqual([]);
});
