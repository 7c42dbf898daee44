/** Whatever step of materialization fails, or is the last of its process: the next runs converge. */
import { expect, test } from "vitest";
import {
  type Fault,
  FaultyChunkStore,
  type FaultPlan,
  NO_FAULTS,
  seededFaults,
} from "../../../src/store/faulty-chunk-store.ts";
import { MemoryChunkStore } from "../../../src/store/memory-chunk-store.ts";
import type { SqlBinding, SqlCursor, SqlValue } from "../../../src/store/sql.ts";
import { makeRepository } from "../../harness/git.ts";
import { type HexCommand, packRevisions, PushedRepository } from "../pushing.ts";
import { NodeSql } from "../sqlite.ts";
import { commitFiles, expectFiles, listFiles, type MadeFile, WORKTREE_LIMITS } from "../worktree/worktree-harness.ts";

/** A database whose process dies at a statement, and which can be taken back to where it was: its transactions are savepoints in one. */
class DyingSql extends NodeSql {
  statements = 0;
  /** Number of the statement that is not run, nor any later one. */
  diesAt = Infinity;

  override exec<T extends Record<string, SqlValue>>(query: string, ...bindings: SqlBinding[]): SqlCursor<T> {
    // What a dead process had not committed is rolled back.
    if (query === "ROLLBACK") {
      super.exec("ROLLBACK TO inner");
      return super.exec("RELEASE inner");
    }
    if (++this.statements >= this.diesAt) throw new Error("the process died");
    if (query === "BEGIN") return super.exec("SAVEPOINT inner");
    return super.exec(query === "COMMIT" ? "RELEASE inner" : query, ...bindings);
  }

  /** What `restore` goes back to, any number of times. */
  save(): void {
    super.exec("SAVEPOINT saved");
  }

  restore(): void {
    super.exec("ROLLBACK TO saved");
  }
}

/** One state of the branch, with the pack that leads there from the one before. */
interface Step {
  readonly tip: string | null;
  readonly pack: Uint8Array | null;
  readonly files: ReadonlyMap<string, string>;
}

const VERSIONS: readonly Readonly<Record<string, MadeFile>>[] = [
  { a: "a", "d/b": "b", "d/e/c": "c", "d/e/f": "f", twin: "a", "caf\xe9": "odd", old: "moved" },
  { a: { mode: "100755", content: "a" }, d: "file now", "twin/x": "x", "caf\xe9": "odd 2", new: "moved", empty: "" },
  { a: "a", "d/b": "b again", "twin/x": "x", "new/y": "y", l: { mode: "120000", content: "a" } },
];

async function makeSteps(): Promise<Step[]> {
  const dir = await makeRepository("steps.git", "--bare");
  const steps: Step[] = [];
  for (const files of VERSIONS) {
    const before = steps.at(-1)?.tip;
    const tip = await commitFiles(dir, "main", files);
    const pack = await packRevisions(dir, before ? [tip, `^${before}`] : [tip]);
    steps.push({ tip, pack, files: await listFiles(dir, tip) });
  }
  return [...steps, { tip: null, pack: null, files: new Map() }];
}

/** A repository whose worktree is kept for `main`. */
class World {
  store = new MemoryChunkStore();
  readonly sql = new DyingSql();
  faults: FaultPlan = NO_FAULTS;
  chunks = new FaultyChunkStore(this.store, NO_FAULTS);
  repository = this.#start();
  #tip: string | null = null;
  #saved: { store: MemoryChunkStore; tip: string | null } | null = null;

  #start(): PushedRepository {
    this.chunks = new FaultyChunkStore(this.store, (call) => this.faults(call));
    return new PushedRepository({ chunks: this.chunks, sql: this.sql, limits: WORKTREE_LIMITS });
  }

  async push({ tip, pack }: Step): Promise<void> {
    // HEAD leads elsewhere, so that `main` may be deleted.
    const isFirst = this.#tip === null;
    const commands: HexCommand[] = isFirst ? [["refs/heads/base", null, tip]] : [];
    const { refs } = await this.repository.push([...commands, ["refs/heads/main", this.#tip, tip]], pack);
    expect(refs.map(({ error }) => error)).toEqual(refs.map(() => null));
    if (isFirst) {
      const { tables } = this.repository;
      tables.refs.setHead("refs/heads/base");
      tables.worktrees.setWanted(["main"]);
      tables.jobs.add("materialize", "main", 0);
    }
    this.#tip = tip;
  }

  /** Runs the job, while something goes wrong. */
  async run(faults: FaultPlan = NO_FAULTS, statement = Infinity): Promise<{ calls: number; statements: number }> {
    const calls = this.chunks.calls.length;
    const { statements } = this.sql;
    this.faults = (call) => faults({ ...call, number: call.number - calls });
    this.sql.diesAt = statements + statement;
    await this.repository.repository.runJobs(Date.now() + 1).catch(() => undefined);
    this.sql.diesAt = Infinity;
    this.faults = NO_FAULTS;
    return { calls: this.chunks.calls.length - calls, statements: this.sql.statements - statements };
  }

  /** Ends the process and starts another, which runs what is due soon. */
  async recover(): Promise<void> {
    this.repository = this.#start();
    for (let runs = 0; runs < 5; runs++) await this.repository.repository.runJobs(Date.now() + 60_000);
  }

  /** What `restore` goes back to, any number of times. */
  save(): void {
    this.sql.save();
    this.#saved = { store: this.store, tip: this.#tip };
  }

  restore(): void {
    const { store, tip } = this.#saved!;
    this.sql.restore();
    this.#tip = tip;
    this.store = store.copy();
    this.repository = this.#start();
  }

  async expect({ tip, files }: Step): Promise<void> {
    await expectFiles(this.repository, this.store, "main", tip, files);
    expect(this.repository.tables.jobs.has("materialize", "main")).toBe(false);
    // Nothing is left that no row names.
    const worktrees = (await this.repository.keys()).filter((key) => key.includes("/worktrees/"));
    expect(worktrees.length).toBe(files.size);
  }
}

const FAULTS: readonly Fault[] = ["before", "after", "crash"];

test.each([
  ["the first write", 0],
  ["an update", 1],
  ["the removal", 3],
] as const)("a fault at any step of %s heals, also when the branch has moved by then", async (_, at) => {
  const steps = await makeSteps();
  const world = new World();
  for (const step of steps.slice(0, at)) {
    await world.push(step);
    await world.run();
  }
  await world.push(steps[at]!);
  world.save();
  world.restore();
  const { calls, statements } = await world.run();
  await world.expect(steps[at]!);
  const injections = [
    ...Array.from({ length: calls }, (_, n) => FAULTS.map((fault) => ({ call: n + 1, fault }))).flat(),
    ...Array.from({ length: statements }, (_, n) => ({ statement: n + 1 })),
  ];
  expect(injections.length).toBeGreaterThan(40);
  for (const injection of injections) {
    for (const after of steps.slice(at, at + 2)) {
      world.restore();
      if ("statement" in injection) await world.run(NO_FAULTS, injection.statement);
      else await world.run(({ number }) => (number === injection.call ? injection.fault : null));
      if (after !== steps[at]) await world.push(after);
      await world.recover();
      await world.expect(after);
    }
  }
});

test("process after process dies, and what they wrote is not written again but for a slice", async () => {
  const dir = await makeRepository("many.git", "--bare");
  const tip = await commitFiles(
    dir,
    "main",
    Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`f${i}`, `${i}`])),
  );
  const step = { tip, pack: await packRevisions(dir, [tip]), files: await listFiles(dir, tip) };
  const world = new World();
  await world.push(step);
  let lives = 0;
  for (; (world.repository.tables.worktrees.get("main")?.materialized ?? null) === null; lives++) {
    await world.run(seededFaults(lives, 1 / 400, ["crash"]));
    await world.recover();
  }
  await world.expect(step);
}, 60_000);
