/** Git as a store of files that many people edit. */
import { QUIET_MS } from "../../../src/format/limits.ts";
import { count, counts, flag, parts } from "../../options.ts";
import { type Bench, defineCase, rounds } from "../figures/bench.ts";
import { type Host, inMs, measureClone, pushNew } from "../hosts/host.ts";
import { HOST_OPTIONS, type Hosts, onEach, openHosts } from "../hosts/hosts.ts";
import { branchOf, type EDITS, makeStoreSource, type Shape } from "./edits.ts";
import { type Loop, measureLoops, openStores, type SavePlan } from "./loops.ts";

/** Files of the repositories that are pulled, or written by all. */
const FILES = 100;

export const store = defineCase({
  summary: "many writers saving files by git and by the API; first pulls; writers of one branch",
  about: `Writers save one file after the other, one commit per save, alternating between git (add, commit,
pull, push, each timed) and Holdfast's POST …/commits. All of it takes a quarter of an hour.

modify      changes files all over the repository
add         makes new files
pull        first clones of repositories with branches of one commit each that changes ten files
contention  writers of one branch: each its own files, each its own lines of one file, all one line`,
  options: {
    only: parts(["modify", "add", "pull", "contention"]),
    writers: counts("writers at the same time", [1, 5, 20]),
    repositories: count("repositories that the writers share (default: one for each writer)", undefined),
    branches: count("branches of each; writers that share a repository take one each, if there are enough", 1),
    files: counts("of a repository at the beginning", [100, 2000]),
    samples: count(
      "saves by git in all rounds, by the API ten times as many; under contention half as many by each",
      60,
    ),
    rounds: rounds(3),
    "pull-branches": counts("of the repositories that are pulled", [1, 10, 50, 100, 200, 500]),
    contenders: counts("writers of one branch", [5]),
    "no-worktree": flag("without the copies of the files in R2, which are updated after the saves"),
    ...HOST_OPTIONS,
  },
  percentiles: ["save ms"],
  async measure({ only, writers, files, branches, ...values }, bench) {
    const hosts = await openHosts(values, bench);
    // The jobs of a save begin this late: they write its files to R2, and report to the registry.
    const jobs = { restMs: QUIET_MS + 100, hasWorktree: !values["no-worktree"] };
    const plan: SavePlan = { samples: values.samples, rounds: values.rounds, ...jobs };
    // Phases that add files come last, because repositories grow by them.
    const phases = (["modify", "add"] as const).filter((phase) => only.includes(phase));
    for (const size of phases.length === 0 ? [] : files) {
      const shapes = writers.map((count) => {
        return { writers: count, repositories: values.repositories ?? count, branches, files: size };
      });
      await bench.attempt(`saves, ${size} files`, () => measureSaves(phases, shapes, plan, hosts, bench));
    }
    for (const count of only.includes("pull") ? values["pull-branches"] : [])
      await bench.attempt(`pull, ${count} branches`, () => measureFirstPulls(count, FILES, plan.rounds, hosts, bench));
    // Git's writers retry very often.
    const fewer = { ...plan, samples: Math.ceil(plan.samples / 2) };
    for (const count of only.includes("contention") ? values.contenders : []) {
      const shape = { writers: count, repositories: 1, branches: 1, files: FILES };
      await bench.attempt(`contention of ${count} writers`, () => measureContention(shape, fewer, hosts, bench));
    }
  },
});

/** Loops of several shapes on the same repositories, without contention.
 * @param shapes all with as many files and branches */
export async function measureSaves(
  phases: readonly ("add" | "modify")[],
  shapes: readonly Shape[],
  plan: SavePlan,
  hosts: Hosts,
  bench: Bench,
): Promise<void> {
  const repositories = Math.max(...shapes.map((shape) => shape.repositories));
  const openLanes = await openStores(hosts, { ...plan, ...shapes[0]!, repositories });
  const lanes = await Array.fromAsync(shapes, openLanes);
  for (const phase of phases) {
    const loops = shapes.map((shape, index): Loop => {
      return { phase, edits: phase, shape, isContended: false, lanes: lanes[index]! };
    });
    await measureLoops(loops, plan, bench);
  }
}

/** What writers of one branch change: different files; a line of their own in one file; all the
 * same line, which cannot be merged. */
const CONTENTIONS: Readonly<Record<string, keyof typeof EDITS>> = {
  "contention, own files": "modify",
  "contention, own lines": "own line",
  "contention, one line": "same line",
};

/** Writers of one branch, who merge the saves of the others: git's in their clones, the API's on
 * the server. */
export async function measureContention(shape: Shape, plan: SavePlan, hosts: Hosts, bench: Bench): Promise<void> {
  const lanes = await (await openStores(hosts, { ...plan, ...shape }))(shape);
  const loops = Object.entries(CONTENTIONS).map(([phase, edits]) => ({
    phase,
    edits,
    shape,
    lanes,
    isContended: true,
  }));
  await measureLoops(loops, plan, bench);
}

/** Clones, with a checkout, of repositories that were pushed just before: everything, or the last
 * branch alone. */
export async function measureFirstPulls(
  branches: number,
  files: number,
  rounds: number,
  hosts: Hosts,
  bench: Bench,
): Promise<void> {
  const source = await makeStoreSource({ files, branches });
  const last = ["--single-branch", "--branch", branchOf(branches - 1)];
  for (const [pull, options] of Object.entries({ "all branches": [], "one branch": last })) {
    const clone = async (host: Host) => {
      const url = await pushNew(source, host);
      return inMs(await measureClone(host, url, ...options));
    };
    await bench.takeTurns({ phase: `pull of ${pull}`, branches, files }, rounds, onEach(hosts, clone));
  }
}
