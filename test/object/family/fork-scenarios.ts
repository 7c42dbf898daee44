/** Forks, branches that go from one repository to another, what is released, and deletions of what
 * is pinned: as scenarios of `faults`. */
import assert from "node:assert/strict";
import { isGitError } from "../../../src/base/format/errors.ts";
import type { SyncAnswer, MergeRequest } from "../../../src/contract/merges.ts";
import { type MadeObject, makeCommit, makeObject, makeTree, packOf } from "../../harness/pack-builder.ts";
import { ANYONE } from "../../harness/requester.ts";
import type { Scenario, Step } from "../faults/enumerate.ts";
import { makeFat, makeNoise, makeVersion } from "../faults/versions.ts";
import { FamilyWorld } from "./family-world.ts";

const MAIN = "refs/heads/main";
const SIDE = "refs/heads/side";
const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;

const first = makeVersion(null, "first");
const second = makeVersion(first, "second");
/** On `first`, in deltas on `second`. */
const side = makeVersion({ ...second, commit: first.commit }, "side");
const fat = makeFat(second.commit.oid, "fat", 300_000);
const own = makeFat(second.commit.oid, "own", 280_000);
/** It can be merged with `fat`; `own` cannot. */
const aside = makeAside();
const OF_FAT = { name: MAIN, oid: fat.at(-1)!.oid, pack: packOf(...fat) };

function makeAside(): MadeObject[] {
  const blob = makeObject("blob", makeNoise("aside", 280_000));
  const tree = makeTree(["100644", "aside", blob], ["100644", "log", second.log]);
  return [blob, tree, makeCommit(tree, [second.commit.oid], "aside\n")];
}

type FamilyStep = Step<FamilyWorld>;
type FamilyScenario = Scenario<FamilyWorld>;

/** A push of one ref.
 * @param oid its new value; null: none */
function push(id: string, name: string, oid: string | null, pack: Uint8Array | null): FamilyStep {
  return {
    name: `push to ${id}`,
    async run(world) {
      world.reserve(id);
      const old = (await world.watch(() => world.refsOf(id)))?.get(name) ?? null;
      if (old === oid) return;
      const told = await world.ask(id, (repository) => repository.receive([[name, old, oid]], pack));
      assert.deepEqual(told, { unpack: "ok", refs: [{ name, error: null }] });
    },
  };
}

function fork(
  id: string,
  parent: string,
  branches: readonly string[] | null = null,
  lifeMs: number | null = null,
): FamilyStep {
  return {
    name: `fork of ${parent} to ${id}`,
    async run(world) {
      world.reserve(id);
      const request = { parent, branches, expiresMs: lifeMs === null ? null : Date.now() + lifeMs, who: null };
      const isMade = await world.ask(id, ({ repository }) => repository.fork(request));
      assert.ok(isMade || world.living().includes(id), "the fork was not made");
    },
  };
}

/** A fork of a branch that does not exist. */
const refusedFork: FamilyStep = {
  name: "refused fork",
  run: (world) =>
    assert.rejects(
      fork("b", "a", ["none"]).run(world),
      (error) => isGitError(error) && error.code === "not-found" && error.data["what"] === "branch",
    ),
};

/** Brings `main` forward to a branch of another repository. */
function sync(id: string, from: string, branch: string, oid: string): FamilyStep {
  return {
    name: `sync of ${id} from ${from}`,
    async run(world) {
      const argument = { branch: "main", source: { repository: from, branch } };
      const outcome = await world.ask(id, ({ repository }) => repository.call("syncBranch", argument, ANYONE));
      assert.ok(outcome.kind === "done", JSON.stringify(outcome));
      assert.equal((outcome.value as SyncAnswer).commit, oid);
    },
  };
}

/** Merges a branch of another repository into `main`.
 * @param refusal code of the expected error; null: it is merged */
function merge(id: string, from: string, branch: string, refusal: string | null, isDryRun = false): FamilyStep {
  const ident = { name: "Ada", email: "ada@example.com", timeSeconds: 1_700_000_000, zone: "+0000" };
  const argument: MergeRequest = {
    branch: "main",
    head: `${from}:${branch}`,
    source: { repository: from, branch },
    expected: null,
    fastForward: "allow",
    isDryRun,
    message: null,
    author: ident,
    committer: ident,
  };
  return {
    name: `merge of ${from}:${branch} into ${id}`,
    async run(world) {
      const outcome = await world.ask(id, ({ repository }) => repository.call("merge", argument, ANYONE));
      assert.equal(outcome.kind === "failed" ? outcome.code : outcome.kind, refusal ?? "done", JSON.stringify(outcome));
    },
  };
}

function remove(id: string): FamilyStep {
  return { name: `deletion of ${id}`, run: (world) => world.ask(id, ({ repository }) => repository.delete()) };
}

function alarms(withinMs: number): FamilyStep {
  return { name: "alarms", run: (world) => world.ring(Date.now() + withinMs) };
}

/** Makes `a`, with hot chunks and one in R2, and what else steps make.
 * @param partRows of what a fork copies */
async function begin(steps: readonly FamilyStep[] = [], partRows = Infinity): Promise<FamilyWorld> {
  const world = new FamilyWorld({ limits: { pruneGraceMs: 0 }, partRows: () => partRows });
  const pushes = [
    push("a", MAIN, first.commit.oid, first.pack),
    push("a", MAIN, second.commit.oid, second.pack),
    push("a", SIDE, side.commit.oid, side.pack),
    push("a", OF_FAT.name, OF_FAT.oid, OF_FAT.pack),
  ];
  for (const step of [...pushes, ...steps]) await step.run(world);
  await world.ring(Date.now() + 10_000);
  return world;
}

/** A fork with an R2 object of its own, beside that of `a`. */
const BRANCHED = [fork("b", "a"), push("b", "refs/heads/own", own.at(-1)!.oid, packOf(...own))];

/** `b` has what `a` had before its last push, and a commit of its own on top of that. */
function behind(commit: readonly MadeObject[]): readonly FamilyStep[] {
  const after = push("b", MAIN, commit.at(-1)!.oid, packOf(...commit));
  return [fork("b", "a"), push("b", MAIN, second.commit.oid, null), after];
}

/** `b` and `c`, without what `a` got after them. */
const BOTH_BEHIND = [fork("b", "a", ["side"]), push("b", MAIN, first.commit.oid, null), fork("c", "b")];

async function checkKeys(world: FamilyWorld, count: number): Promise<void> {
  assert.equal((await Array.fromAsync(world.store.list(""))).length, count, "R2 objects");
}

/** Whatever several repositories do with each other. */
export const FORK_SCENARIOS: readonly FamilyScenario[] = [
  {
    name: "fork of a branch in deltas on another",
    begin,
    steps: [fork("b", "a", ["side"]), push("b", SIDE, second.commit.oid, second.pack)],
  },
  { name: "fork", begin, steps: [fork("b", "a"), alarms(3_000)] },
  { name: "fork in many parts", begin: () => begin([], 2), steps: [fork("b", "a")] },
  { name: "fork of a fork", begin: () => begin(BRANCHED), steps: [fork("c", "b")] },
  { name: "refused fork, and what it left", begin, steps: [refusedFork, alarms(2 * HOUR_MS), fork("b", "a")] },
  {
    name: "fork that needs its parent's objects no more",
    begin: () => begin(BRANCHED),
    steps: [
      push("b", MAIN, second.commit.oid, null),
      alarms(3 * DAY_MS),
      push("a", MAIN, second.commit.oid, null),
      alarms(3 * DAY_MS),
    ],
    check: (world) => checkKeys(world, 1),
  },
  {
    name: "deletion of a parent, then of its forks",
    begin: () => begin([...BRANCHED, fork("c", "b")]),
    steps: [remove("a"), alarms(2 * DAY_MS), remove("b"), alarms(2 * DAY_MS), remove("c"), alarms(2 * DAY_MS)],
    check: (world) => checkKeys(world, 0),
  },
  {
    name: "deletion of a fork",
    begin: () => begin(BRANCHED),
    steps: [remove("b"), alarms(2 * DAY_MS)],
    check: (world) => checkKeys(world, 1),
  },
  {
    name: "fork that deletes itself",
    begin: () => begin([fork("b", "a", null, HOUR_MS)]),
    steps: [alarms(2 * HOUR_MS)],
    check: (world) => assert.deepEqual(world.living(), ["a"]),
  },
];

/** Merges of another's branch, and what follows another's. */
export const MERGE_SCENARIOS: readonly FamilyScenario[] = [
  {
    name: "merge of another's branch",
    begin: () => begin(behind(aside)),
    steps: [merge("b", "a", "main", null), alarms(3 * DAY_MS)],
    check: (world) => checkKeys(world, 2),
  },
  {
    name: "sync of a branch",
    begin: () => begin(BOTH_BEHIND),
    steps: [sync("b", "a", "main", OF_FAT.oid), alarms(3 * DAY_MS)],
    check: (world) => checkKeys(world, 1),
  },
  {
    name: "sync of what belongs to a third, which is deleted then",
    begin: () => begin([...BOTH_BEHIND, sync("b", "a", "main", OF_FAT.oid)]),
    steps: [sync("c", "b", "main", OF_FAT.oid), remove("a"), alarms(3 * DAY_MS)],
    check: (world) => checkKeys(world, 1),
  },
  {
    name: "merge of another's branch that is only tried",
    begin: () => begin(behind(aside)),
    steps: [merge("b", "a", "main", null, true), alarms(3 * DAY_MS)],
  },
  {
    name: "merge that conflicts with another's branch",
    begin: () => begin(behind(own)),
    steps: [merge("b", "a", "main", "conflict"), alarms(3 * DAY_MS)],
  },
];
