import { expect, test } from "vitest";
import { FaultyChunkStore, type FaultPlan, NO_FAULTS } from "../../harness/faulty-chunk-store.ts";
import { MemoryChunkStore } from "../../harness/memory-chunk-store.ts";
import { scheduleAllWorktrees } from "../../../src/object/worktree/worktrees.ts";
import { worktreeFileKey } from "../../../src/object/worktree/file-key.ts";
import { git, makeRepository } from "../../harness/git.ts";
import { makeHistory } from "../../harness/history.ts";
import { Random } from "../../harness/random.ts";
import { ANYONE } from "../../harness/requester.ts";
import { PushedRepository } from "../pushing.ts";
import { commitFiles, expectWorktree, type MadeFile, manifest } from "../worktree/worktree-harness.ts";
import { newClient, type RepositoryClient } from "../../../src/contract/calls.ts";

const random = new Random(5);

interface Opened {
  readonly store: MemoryChunkStore;
  readonly chunks: FaultyChunkStore;
  readonly plan: { faults: FaultPlan };
  readonly repository: PushedRepository;
  readonly dir: string;
}

async function open(limits = {}): Promise<Opened> {
  const store = new MemoryChunkStore();
  const plan = { faults: NO_FAULTS };
  const chunks = new FaultyChunkStore(store, (call) => plan.faults(call));
  const repository = new PushedRepository({ chunks, limits, worktrees: "default-branch" });
  return { store, chunks, plan, repository, dir: await makeRepository("work.git", "--bare") };
}

/** Pushes a commit of these files to a branch. */
async function push({ repository, dir }: Opened, files: Record<string, MadeFile>, branch = "main"): Promise<void> {
  const tip = await commitFiles(dir, branch, files);
  const { refs } = await repository.pushFrom(dir, { [`refs/heads/${branch}`]: tip });
  expect(refs[0]!.error).toBeNull();
}

/** Runs the jobs that are due. @returns R2 calls of worktrees */
async function run({ repository, chunks }: Opened): Promise<string[]> {
  const before = chunks.calls.length;
  await repository.repository.runJobs(Date.now() + 1);
  const calls = chunks.calls.slice(before).filter(({ key }) => key.includes("/worktrees/"));
  return calls.map(({ operation, key }) => `${operation} ${key.slice(key.indexOf("/worktrees/") + 11)}`).sort();
}

function expectMain(opened: Opened, revision: string | null = "main"): Promise<void> {
  return expectWorktree(opened.repository, opened.store, opened.dir, "main", revision);
}

test("the default branch is written, then what changes of it", async () => {
  const opened = await open();
  const files = { "a.html": "a", "b/c": "c", "b/d": "d", empty: "", "run.sh": { mode: "100755", content: "x" } };
  await push(opened, files);
  expect(await run(opened)).toEqual(["a.html", "b/c", "b/d", "empty", "run.sh"].map((path) => `putFile main/${path}`));
  await expectMain(opened);
  const { key } = opened.repository.repository.state;
  expect(opened.store.labelOf(worktreeFileKey(key, "main", "a.html"))!.contentType).toBe("text/html; charset=utf-8");
  expect(await run(opened)).toEqual([]);

  await push(opened, { ...files, "b/c": "c2" });
  expect(await run(opened)).toEqual(["putFile main/b/c"]);
  await expectMain(opened);
  // The same tree again, a change of mode only, a removal.
  await push(opened, { ...files, "b/c": "c2" });
  expect(await run(opened)).toEqual([]);
  await expectMain(opened);
  await push(opened, { ...files, "b/c": { mode: "100755", content: "c2" } });
  expect(await run(opened)).toEqual(["putFile main/b/c"]);
  await expectMain(opened);
  await push(opened, { "a.html": "a" });
  expect(await run(opened)).toEqual(["delete main/b/c"]);
  await expectMain(opened);
  // No job is scheduled for another branch.
  await push(opened, files, "side");
  expect(await run(opened)).toEqual([]);
});

test("files become directories and back, links, submodules, and names that are no keys", async () => {
  const opened = await open();
  const link = { mode: "120000", content: "a/b" };
  const submodule = { mode: "160000", content: "1".repeat(40) };
  const versions: Record<string, MadeFile>[] = [
    { a: "file", link, sub: submodule, "caf\xe9": "latin", "\xc3\xa9": "utf-8", "e\xcc\x81": "nfd", "x\ny": "line" },
    { "a/b": "file", "link/c": "file", sub: "file", "caf\xe9/\xe9": "latin", "\xc3\xa9": "2", "e\xcc\x81": "2" },
    { a: submodule, link: "file", "sub/deep/er": "file", [`long/${"n".repeat(1_100)}`]: "long" },
    { a: link, sub: submodule, [`long/${"n".repeat(1_100)}`]: "long2" },
    { "a/b/c/d": "file", sub: { mode: "100755", content: "file" } },
  ];
  for (const files of versions) {
    await push(opened, files);
    await run(opened);
    await expectMain(opened);
  }
});

test(
  "a history of renames and reverts, commit by commit and by leaps, of deltas in sealed chunks",
  { tags: "sweep" },
  async () => {
    const opened = await open();
    const dir = await makeHistory({ commits: 40, files: 60, upheavals: 20 });
    const commits = (await git(dir, "rev-list", "--reverse", "main")).split("\n");
    for (const [i, commit] of commits.entries()) {
      await opened.repository.pushFrom(dir, { "refs/heads/main": commit });
      if (i % 3 !== 0 && i < commits.length - 1) continue;
      await run(opened);
      await expectWorktree(opened.repository, opened.store, dir, "main", commit);
    }
  },
);

test("of 1 file among 5,000 that changes, 1 object is written and few rows are read", { tags: "sweep" }, async () => {
  const opened = await open();
  const files = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`d${i % 50}/f${i}`, `file ${i}`]));
  await push(opened, files);
  while ((await run(opened)).length > 0);
  expect(manifest(opened.repository, "main")!.length).toBe(5_000);
  await push(opened, { ...files, "d7/f7": "changed" });
  expect(await run(opened)).toEqual(["putFile main/d7/f7"]);
  expect(opened.repository.tables.worktrees.get("main")).toMatchObject({ files: 5_000 });
});

test(
  "the branch moves while it is written: the rest is of the new tip, and what is right stays",
  { tags: "sweep" },
  async () => {
    const opened = await open();
    const files = Object.fromEntries(Array.from({ length: 600 }, (_, i) => [`f${String(i).padStart(3, "0")}`, `${i}`]));
    await push(opened, files);
    const next: Record<string, string> = { ...files, f000: "new", f599: "new" };
    delete next["f100"];
    delete next["f500"];
    let writes = 0;
    opened.plan.faults = ({ operation }) => {
      if (operation === "putFile" && ++writes === 300) moved = push(opened, next);
      return null;
    };
    let moved: Promise<void> | null = null;
    const calls = await run(opened);
    await moved!;
    calls.push(...(await run(opened)));
    await expectMain(opened);
    // Each file is written at most once, and once more if it changed.
    expect(calls.length).toBeLessThanOrEqual(604);
    expect(writes).toBeGreaterThan(598);
  },
);

test("a run that began while it was quiet ends when somebody asks for maintenance", async () => {
  const opened = await open();
  const { repository } = opened.repository;
  const client = newClient<RepositoryClient>((name, argument) => repository.call(name, argument, ANYONE));
  await push(opened, Object.fromEntries(Array.from({ length: 600 }, (_, i) => [`f${i}`, `${i}`])));
  let writes = 0;
  let maintained: Promise<unknown> | null = null;
  opened.plan.faults = ({ operation }) => {
    if (operation === "putFile" && ++writes === 100) maintained = client.maintain([]);
    return null;
  };
  expect((await run(opened)).length).toBeLessThan(200);
  await maintained!;
  await run(opened);
  expect(writes).toBe(600);
  await expectMain(opened);
});

test("the branch is deleted while it is written, and comes again", async () => {
  const opened = await open();
  const { repository, plan, dir } = opened;
  const files = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`f${i}`, `${i}`]));
  await push(opened, { x: "x" });
  repository.tables.worktrees.setWanted(["side", "a", "a/b"]);
  await push(opened, files, "side");
  let deleted: Promise<unknown> | null = null;
  plan.faults = ({ number }) => {
    if (number === 20) deleted = repository.pushFrom(dir, { "refs/heads/side": null });
    return null;
  };
  await run(opened);
  await deleted!;
  plan.faults = NO_FAULTS;
  await run(opened);
  await expectWorktree(repository, opened.store, dir, "side", null);
  await push(opened, files, "side");
  await run(opened);
  await expectWorktree(repository, opened.store, dir, "side", "side");

  // A branch is replaced by one below its name before the files of the first are removed.
  await push(opened, { "b/c": "of a" }, "a");
  await run(opened);
  await repository.pushFrom(dir, { "refs/heads/a": null });
  const tip = await commitFiles(dir, "below", { c: "of a/b" });
  await repository.pushFrom(dir, { "refs/heads/a/b": tip });
  await run(opened);
  await expectWorktree(repository, opened.store, dir, "a", null);
  await expectWorktree(repository, opened.store, dir, "a/b", "below");
});

test("which branches are materialized can change", async () => {
  const opened = await open();
  const { repository, dir, store } = opened;
  const { state } = repository.repository;
  await push(opened, { a: "a" });
  await push(opened, { b: "b" }, "side");
  await run(opened);
  for (const [wanted, main, side] of [
    [["side"], null, "side"],
    [["side", "main", "none"], "main", "side"],
    [[], null, null],
    [null, "main", null],
  ] as const) {
    state.platform.transactor.transactionSync(() => {
      repository.tables.worktrees.setWanted(wanted);
      scheduleAllWorktrees(repository.tables, state.platform.worktrees, Date.now());
    });
    await run(opened);
    await expectWorktree(repository, store, dir, "main", main);
    await expectWorktree(repository, store, dir, "side", side);
  }
});

test(
  "a large file is streamed, of one piece or of a small compressed one, sealed or hot",
  { tags: "sweep" },
  async () => {
    const opened = await open();
    const { repository } = opened;
    await push(opened, {
      noise: random.bytes(5_000_000),
      zeros: new Uint8Array(5_000_000),
      small: "small",
      twin: new Uint8Array(5_000_000),
    });
    await run(opened);
    await expectMain(opened);
    const [event] = repository.events.filter((event) => event.event === "job" && event.kind === "materialize");
    expect(event).toMatchObject({ files: 4, bytes: 15_000_005, again: false });
    expect((event as { peakBytes: number }).peakBytes).toBeLessThan(100);
    await push(opened, { zeros: new Uint8Array(6_000_000) });
    await run(opened);
    await expectMain(opened);
  },
);

test("a commit of more paths than a worktree may have is refused, and the one before stays", async () => {
  const opened = await open({ maxWorktreePathBytes: 1_000 });
  const { repository, dir, store } = opened;
  await push(opened, { a: "a" });
  await run(opened);
  const first = await git(dir, "rev-parse", "main");
  await push(opened, Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`f${i}`, `${i}`])));
  await run(opened);
  expect(repository.tables.worktrees.get("main")!.refused).toMatch(/exceeds the limit of 1000/);
  expect(repository.tables.jobs.has("materialize", "main")).toBe(false);
  await expectWorktree(repository, store, dir, "main", first);
  await push(opened, { b: "b" });
  await run(opened);
  expect(repository.tables.worktrees.get("main")!.refused).toBeNull();
  await expectMain(opened);
});

test("a deletion while files are written ends the job, and is no failure", async () => {
  for (const at of [0, 1, 5]) {
    const opened = await open();
    const { repository, plan, store } = opened;
    await push(opened, Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`f${i}`, `${i}`])));
    let writes = 0;
    const deletions: Promise<boolean>[] = [];
    plan.faults = ({ operation }) => {
      if (operation === "putFile" && writes++ === at) deletions.push(repository.repository.delete());
      return null;
    };
    await run(opened);
    expect(await Promise.all(deletions)).toEqual([true]);
    expect(repository.events.filter(({ event }) => event === "job-failed")).toEqual([]);
    plan.faults = NO_FAULTS;
    await repository.repository.runJobs(Date.now() + 2 * 60 * 60_000);
    await repository.repository.runJobs(Date.now() + 4 * 60 * 60_000);
    expect(await Array.fromAsync(store.list(""))).toEqual([]);
  }
});

test("a push of some kilobytes that lists one blob many times writes no gigabytes", async () => {
  const opened = await open({ freeWorktreeBytes: 1024 * 1024 });
  const { repository, dir, store } = opened;
  const client = newClient<RepositoryClient>((name, argument) => repository.repository.call(name, argument, ANYONE));
  await push(opened, { a: "a" });
  await run(opened);
  const first = await git(dir, "rev-parse", "main");
  const content = "line\n".repeat(8 * 1024);
  const many = (count: number): Record<string, MadeFile> =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, content]));
  await push(opened, many(1_500));
  await run(opened);
  const { worktrees, sizeBytes, maxBytes } = await client.worktrees();
  expect(maxBytes).toBe(1024 * 1024 + 32 * repository.tables.chunks.totalBytes());
  expect(worktrees).toMatchObject([{ branch: "main", state: "refused", files: 1, sizeBytes: 1 }]);
  expect(worktrees[0]!.error).toContain(
    `the files of branches (bytes) exceeds the limit of ${maxBytes} (it is ${1_500 * content.length})`,
  );
  expect(sizeBytes).toBe(1);
  await expectWorktree(repository, store, dir, "main", first);
  // Those of all branches count together.
  const fits = Math.floor(maxBytes / content.length);
  await push(opened, many(fits));
  await run(opened);
  await expectMain(opened);
  await push(opened, many(fits - 1), "side");
  await client.configureWorktrees({ branches: ["main", "side"] });
  await run(opened);
  expect((await client.worktrees()).worktrees.map(({ state }) => state)).toEqual(["ready", "refused"]);
  // One has room once another's files are to go, whichever job runs first.
  await client.configureWorktrees({ branches: ["side"] });
  for (let i = 0; i < 3; i++) await run(opened);
  await expectWorktree(repository, store, dir, "side", "side");
});

test("what was planned and is pruned since is taken from the rows", async () => {
  const opened = await open({ pruneGraceMs: 0 });
  const { repository, dir, store, plan } = opened;
  await push(opened, { same: "same", changed: "1", gone: "gone" });
  await run(opened);
  const files = { same: "same", changed: "2", come: "come" };
  await commitFiles(dir, "other", files);
  await repository.pushFrom(dir, { "refs/heads/main": "other" });
  // The worktree cannot be written until the first commit is gone.
  plan.faults = ({ key }) => (key.includes("/worktrees/") ? "before" : null);
  repository.tables.jobs.cancel("materialize", "main");
  const planned = repository.tables.worktrees.get("main")!.planned;
  for (let days = 1; repository.repository.state.tables!.graph.position(planned) >= 0 && days < 10; days++) {
    for (const kind of ["prune", "expire"] as const) repository.tables.jobs.add(kind, "", 0);
    await repository.repository.runJobs(Date.now());
    repository.sql.exec("UPDATE pushes SET time_ms = 1");
  }
  plan.faults = NO_FAULTS;
  expect(repository.tables.graph.position(planned)).toBe(-1);
  repository.tables.jobs.add("materialize", "main", 0);
  expect(await run(opened)).toEqual(["delete main/gone", "putFile main/changed", "putFile main/come"]);
  await expectWorktree(repository, store, dir, "main", "other");
});
