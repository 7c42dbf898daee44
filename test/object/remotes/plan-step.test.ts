import { expect, test } from "vitest";
import { NULL_OID_HEX } from "../../../src/base/format/oid.ts";
import { planStep, type StepLimits } from "../../../src/object/remotes/plan-step.ts";
import type { RefUpdate } from "../../../src/object/remotes/plan-updates.ts";
import type { NumberSet } from "../../../src/base/numbers/number-set.ts";
import type { Tables } from "../../../src/object/store/tables.ts";
import { git, makeRepository, tryGit } from "../../harness/git.ts";
import { makeHistory } from "../../harness/history.ts";
import { testSome } from "../../harness/sweep.ts";
import { PushedRepository } from "../pushing.ts";

const CAPABILITIES: ReadonlySet<string> = new Set(["report-status", "ofs-delta"]);
const NO_LIMITS: StepLimits = { updates: 100, objects: 1e6, packBytes: 1e9 };

/** Sends a repository to an empty one in steps.
 * @returns the values that each ref had on the way */
async function sendInSteps(repository: PushedRepository, wanted: Map<string, string>, limits: StepLimits, dir: string) {
  const there = new Map<string, string>();
  const haves = new Set<string>();
  const passed = new Map<string, string[]>();
  for (let steps = 0; steps < 500; steps++) {
    const updates = [...wanted]
      .filter(([name, oid]) => there.get(name) !== oid)
      .map(([name, oid]): RefUpdate => ({ name, old: there.get(name) ?? NULL_OID_HEX, new: oid }));
    if (updates.length === 0) return { steps, passed };
    const target = { capabilities: CAPABILITIES, refs: there, haves };
    const step = planStep(repository.tables, updates, target, limits);
    if (step.canShrink) expect(step.packBytes).toBeLessThanOrEqual(limits.packBytes);
    expect(step.updates.length).toBeLessThanOrEqual(limits.updates);
    const stdin = await repository.stream(step.plan!);
    const { code, stderr } = await tryGit(dir, ["index-pack", "--stdin", "--fix-thin", "--strict"], { stdin });
    expect(code, stderr).toBe(0);
    for (const { name, old, new: oid } of step.updates) {
      if (old !== NULL_OID_HEX) await git(dir, "merge-base", "--is-ancestor", old, oid);
      await git(dir, "update-ref", name, oid);
      passed.set(name, [...(passed.get(name) ?? []), oid]);
      there.set(name, oid);
      haves.add(oid);
    }
  }
  throw new Error("it takes too many steps");
}

async function push(dir: string): Promise<{ repository: PushedRepository; refs: Map<string, string> }> {
  const repository = new PushedRepository();
  const names = (await git(dir, "for-each-ref", "--format=%(refname)")).split("\n");
  await repository.pushFrom(dir, Object.fromEntries(names.map((name) => [name, name])));
  return { repository, refs: repository.refs() };
}

const LIMITS: readonly (readonly [string, Partial<StepLimits>, least: number])[] = [
  ["without limits", {}, 1],
  ["of few refs", { updates: 3 }, 3],
  ["of few bytes", { packBytes: 4_000 }, 5],
  ["of few objects", { objects: 30 }, 5],
];

testSome(2, LIMITS, "steps %s bring a history whole, always forward", async ([, limits, least]) => {
  const dir = await makeHistory({ commits: 60, files: 8, branches: 5, merges: 4, tags: 4 });
  const { repository, refs } = await push(dir);
  const copy = await makeRepository("copy.git", "--bare");
  const { steps } = await sendInSteps(repository, refs, { ...NO_LIMITS, ...limits }, copy);
  expect(steps).toBeGreaterThanOrEqual(least);
  await git(copy, "fsck", "--full", "--strict");
  expect(await git(copy, "for-each-ref")).toBe(await git(dir, "for-each-ref"));
});

test("only what is sent is planned, however much is left for later steps", async () => {
  const dir = await makeHistory({ commits: 600, files: 8, branches: 5, tags: 4 });
  const { repository, refs } = await push(dir);
  const { tables, countLocated } = countIn(repository.tables);
  const updates = [...refs].map(([name, oid]): RefUpdate => ({ name, old: NULL_OID_HEX, new: oid }));
  const target = { capabilities: CAPABILITIES, refs: new Map<string, string>(), haves: new Set<string>() };
  const { plan } = planStep(tables, updates, target, { ...NO_LIMITS, objects: 100 });
  expect(plan!.objectCount).toBeLessThanOrEqual(100);
  // Each object, the bases of deltas, and the commits half way.
  expect(countLocated()).toBeLessThan(500);
});

/** Counts the objects whose rows are read. */
function countIn(tables: Tables): { tables: Tables; countLocated: () => number } {
  let located = 0;
  const objects = new Proxy(tables.objects, {
    get(index, name) {
      if (name === "locate") return (numbers: NumberSet) => ((located += numbers.size), index.locate(numbers));
      const value: unknown = Reflect.get(index, name, index);
      return typeof value === "function" ? (value.bind(index) as unknown) : value;
    },
  });
  const counting = new Proxy(tables, { get: (_, name) => (name === "objects" ? objects : Reflect.get(tables, name)) });
  return { tables: counting, countLocated: () => located };
}

test("a ref whose old value was merged as a second parent moves past the merge first", async () => {
  const dir = await makeRepository("merged.git", "--bare");
  const tree = (await tryGit(dir, ["mktree"], { stdin: "" })).stdout.trim();
  const commit = (name: string, ...parents: string[]) =>
    git(dir, "commit-tree", tree, "-m", name, ...parents.flatMap((parent) => ["-p", parent]));
  const root = await commit("root");
  const old = await commit("old", root);
  let tip = root;
  for (let i = 0; i < 20; i++) tip = await commit(`before ${i}`, tip);
  const merge = (tip = await commit("merge", tip, old));
  for (let i = 0; i < 20; i++) tip = await commit(`after ${i}`, tip);
  await git(dir, "update-ref", "refs/heads/main", tip);
  const { repository } = await push(dir);
  const updates = [{ name: "refs/heads/main", old, new: tip }];
  const target = { capabilities: CAPABILITIES, refs: new Map([["refs/heads/main", old]]), haves: new Set([old]) };
  const step = planStep(repository.tables, updates, target, { ...NO_LIMITS, packBytes: 1 });
  // No older commit has the old value in its past.
  expect(step).toMatchObject({ updates: [{ old, new: merge }], canShrink: false });
});

test("deletions bring no pack, and a tag is not cut", async () => {
  const { repository, refs } = await push(await makeHistory({ commits: 30, files: 3, tags: 2 }));
  const target = { capabilities: CAPABILITIES, refs: new Map<string, string>(), haves: new Set<string>() };
  const gone = [{ name: "refs/heads/gone", old: refs.get("refs/heads/main")!, new: NULL_OID_HEX }];
  const limits = { ...NO_LIMITS, packBytes: 1 };
  expect(planStep(repository.tables, gone, target, limits)).toMatchObject({ plan: null, packBytes: 0 });
  const tag = [{ name: "refs/tags/v1", old: NULL_OID_HEX, new: refs.get("refs/tags/v1")! }];
  expect(planStep(repository.tables, tag, target, limits)).toMatchObject({ updates: tag, canShrink: false });
});
