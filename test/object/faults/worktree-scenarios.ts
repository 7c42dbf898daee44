import { makeRepository } from "../../harness/git.ts";
import { packRevisions } from "../pushing.ts";
import { commitFiles, expectFiles, listFiles, type MadeFile } from "../worktree/worktree-harness.ts";
import type { Scenario, Step } from "./enumerate.ts";
import { addJob, alarms, push } from "./steps.ts";
import { World } from "./world.ts";

const MAIN = "refs/heads/main";

/** Less than a failed job waits: the next step comes before the retry. */
const SHORT_MS = 1_000;

/** One state of the branch, with the pack that adds it to the previous one. */
interface State {
  readonly tip: string | null;
  readonly pack: Uint8Array | null;
  readonly files: ReadonlyMap<string, string>;
}

const VERSIONS: readonly Readonly<Record<string, MadeFile>>[] = [
  { a: "a", "d/b": "b", "d/e/c": "c", "d/e/f": "f", twin: "a", "caf\xe9": "odd", old: "moved" },
  { a: { mode: "100755", content: "a" }, d: "file now", "twin/x": "x", "caf\xe9": "odd 2", new: "moved", empty: "" },
  { a: "a", "d/b": "b again", "twin/x": "x", "new/y": "y", l: { mode: "120000", content: "a" } },
];

async function makeStates(): Promise<State[]> {
  const dir = await makeRepository("steps.git", "--bare");
  const states: State[] = [];
  for (const files of VERSIONS) {
    const before = states.at(-1)?.tip;
    const tip = await commitFiles(dir, "main", files);
    const pack = await packRevisions(dir, before ? [tip, `^${before}`] : [tip]);
    states.push({ tip, pack, files: await listFiles(dir, tip) });
  }
  return [...states, { tip: null, pack: null, files: new Map() }];
}

const states = await makeStates();

/** A push that brings `main` to a state. */
function pushState({ tip, pack }: State): Step {
  return push({ [MAIN]: tip }, pack);
}

/** The files of `main` are written, then those of its next state, if there is one. */
function materialize(name: string, at: number): Scenario {
  const chosen = states.slice(at, at + 2);
  const last = chosen.at(-1)!;
  return {
    name: `materialize: ${name}`,
    async begin() {
      const world = new World({}, "default-branch");
      // HEAD points elsewhere, so that `main` may be deleted.
      await push({ "refs/heads/base": states[0]!.tip, [MAIN]: states[0]!.tip }, states[0]!.pack).run(world);
      const { tables } = world.repository;
      tables.refs.setHead("refs/heads/base");
      tables.worktrees.setWanted(["main"]);
      addJob(world, "materialize", "main");
      for (const state of states.slice(1, at + 1)) {
        await world.ring(Date.now() + SHORT_MS);
        await pushState(state).run(world);
      }
      return world;
    },
    steps: [alarms(SHORT_MS), ...chosen.slice(1).flatMap((state) => [pushState(state), alarms(SHORT_MS)])],
    check: ({ repository, store }) => expectFiles(repository, store, "main", last.tip, last.files),
  };
}

/** The files of branches, written and removed. */
export const WORKTREE_SCENARIOS: readonly Scenario[] = [
  materialize("the first write", 0),
  materialize("an update", 1),
  materialize("the removal", 3),
];
