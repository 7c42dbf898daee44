/** Git as a store of files that many people edit. */
import { setTimeout as sleep } from "node:timers/promises";
import { QUIET_MS } from "../../../src/base/format/limits.ts";
import type { RepositoryEvent } from "../../../src/contract/log-events.ts";
import { git } from "../../../test/harness/git.ts";
import { count, counts, flag, parts } from "../../options.ts";
import { allOf, type Bench, defineCase, rounds } from "../figures/bench.ts";
import type { Measures } from "../figures/sample.ts";
import { type Host, inMs, measureClone, measureCost, pushNew } from "../hosts/host.ts";
import {
  apiPathOf,
  askHoldfast,
  HOST_OPTIONS,
  type Hosts,
  listHosts,
  makeWithoutWorktree,
  onEach,
  openHosts,
} from "../hosts/hosts.ts";
import {
  branchOf,
  EDITS,
  makeStoreSource,
  openApiWriter,
  openGitWriter,
  type Saved,
  type Shape,
  type Writer,
} from "./writers.ts";

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

/** Longest wait for the worktrees of new repositories. */
const WORKTREE_MS = 300_000;

/** This many saves by the API take no longer than one by git, and their percentiles need them. With
 * contention, both save equally often. */
const API_SAVES = 10;

/** Saves of each writer before the first round. */
const WARM_UP_SAVES = 1;

/** Settings of all loops of a run. */
interface SavePlan {
  /** Saves by git in all rounds together, at least; shared out evenly among the writers. */
  readonly samples: number;
  readonly rounds: number;
  /** How long Holdfast rests after a round's last save: its jobs must have begun when its CPU is
   * read. */
  readonly restMs: number;
  /** Whether the files of `main` are also stored in R2 one by one. */
  readonly hasWorktree: boolean;
}

/** One way to save. */
interface Lane {
  /** `api` saves at Holdfast, the others by git. */
  readonly side: "native" | "holdfast" | "api";
  readonly host: Host;
  /** For each writer of the shape: its writer in each of its repositories, used in turn. */
  readonly writers: readonly (readonly Writer[])[];
}

/** Saves of one shape, in each lane. */
interface Loop {
  /** Its name in the samples. */
  readonly phase: string;
  readonly edits: keyof typeof EDITS;
  readonly shape: Shape;
  readonly lanes: readonly Lane[];
  /** Whether writers change the same branch. If so, merges, conflicts and retries are reported. */
  readonly isContended: boolean;
}

/** Makes equal repositories on every host, and waits until all work for them is done.
 * @returns a function that opens the lanes of a shape */
async function openStores(
  hosts: Hosts,
  { repositories, files, branches, hasWorktree }: Omit<Shape, "writers"> & Pick<SavePlan, "hasWorktree">,
): Promise<(shape: Shape) => Promise<Lane[]>> {
  const { native, holdfast } = hosts;
  process.stderr.write(
    `pushing ${repositories} repositories of ${files} files and ${branches} branches to each host\n`,
  );
  const source = await makeStoreSource({ files, branches });
  const urls = new Map<Host, string[]>();
  for (const host of listHosts(hosts)) {
    urls.set(host, await Array.fromAsync({ length: repositories }, () => host.makeRepository()));
    for (const url of urls.get(host)!) {
      if (host === holdfast && !hasWorktree) await makeWithoutWorktree(url);
      await git(source, "push", "-q", "--mirror", url);
    }
  }
  if (hasWorktree) for (const url of urls.get(holdfast)!) await waitForWorktree(url);
  const openLane = async (side: Lane["side"], host: Host, shape: Shape): Promise<Lane> => {
    const open = side === "api" ? openApiWriter : openGitWriter;
    const writers: Writer[][] = [];
    for (let writer = 0; writer < shape.writers; writer++) {
      const places: Writer[] = [];
      for (const [repository, branch] of placesOf(writer, shape))
        places.push(await open(urls.get(host)![repository]!, branch));
      writers.push(places);
    }
    return { side, host, writers };
  };
  return async (shape) => [
    ...(native === null ? [] : [await openLane("native", native, shape)]),
    await openLane("holdfast", holdfast, shape),
    await openLane("api", holdfast, shape),
  ];
}

/** Where a writer saves. As many repositories as writers: each in its own. More: each in several,
 * alternating. Fewer: those that share one take a branch each, as long as there are enough. */
export function placesOf(
  writer: number,
  { writers, repositories, branches }: Shape,
): readonly (readonly [repository: number, branch: string])[] {
  const branch = branchOf(Math.floor(writer / repositories) % branches);
  const count = Math.max(1, Math.ceil((repositories - writer) / writers));
  return Array.from({ length: count }, (_, turn) => [(writer + turn * writers) % repositories, branch]);
}

/** @throws Error if the files are not written to R2 in time */
async function waitForWorktree(url: string): Promise<void> {
  const path = `${apiPathOf(url)}/worktrees`;
  for (const deadline = Date.now() + WORKTREE_MS; ; await sleep(250)) {
    const { worktrees } = await askHoldfast<{ worktrees: readonly { state: string }[] }>(url, path);
    if (worktrees.every(({ state }) => state !== "writing")) return;
    if (Date.now() > deadline)
      throw new Error(`${url}: its worktree is still being written after ${WORKTREE_MS / 1000} s`);
  }
}

/** Runs loops round by round, so that the rounds of each are spread over the run. The lanes of a
 * loop alternate, so that they meet the same state of the machine. */
async function measureLoops(loops: readonly Loop[], plan: SavePlan, bench: Bench): Promise<void> {
  for (let round = 0; round <= plan.rounds; round++) {
    for (const loop of loops) {
      const { writers, files } = loop.shape;
      process.stderr.write(`${loop.phase}, ${writers} writers, ${files} files: round ${round} of ${plan.rounds}\n`);
      const savesByGit = Math.max(1, Math.ceil(plan.samples / plan.rounds / writers));
      for (const lane of loop.lanes) {
        for (const writer of lane.writers.flat()) await writer.catchUp();
        const savesEach = lane.side === "api" && !loop.isContended ? API_SAVES * savesByGit : savesByGit;
        if (round === 0) await saveAll(loop, lane, WARM_UP_SAVES);
        else await measureLane(loop, lane, { round, restMs: plan.restMs }, () => saveAll(loop, lane, savesEach), bench);
      }
    }
  }
}

async function measureLane(
  { phase, shape, isContended }: Loop,
  { side, host }: Lane,
  { round, restMs }: { readonly round: number; readonly restMs: number },
  saveAll: () => Promise<Saved[]>,
  bench: Bench,
): Promise<void> {
  let saves: Saved[] = [];
  host.takeEvents();
  const work = async (): Promise<void> => void (saves = await saveAll());
  const cost = await measureCost(host, work, { delayMs: side === "native" ? 0 : restMs });
  const count = saves.length;
  const perSave = (of: "merges" | "conflicts" | "retries"): number =>
    saves.reduce((sum, saved) => sum + saved[of], 0) / count;
  const described = { phase, ...shape };
  for (const { steps } of saves) bench.note(described, side, round, steps);
  bench.note(described, side, round, {
    "saves/s": count / cost["wall s"],
    "server CPU ms per save": (cost["server CPU s"] * 1000) / count,
    ...measureEvents(host.takeEvents(), count),
    ...(isContended && {
      "merges per save": perSave("merges"),
      "conflicts per save": perSave("conflicts"),
      "retries per save": perSave("retries"),
    }),
  });
}

/** The server's own figures for each save: its time, and that of the jobs after it. */
function measureEvents(events: readonly RepositoryEvent[], count: number): Measures {
  const pushes = events.flatMap((event) => {
    if (event.event === "push") return [event];
    return event.event === "call" ? (event.pushes ?? []) : [];
  });
  const jobs = events.filter((event) => event.event === "job");
  if (pushes.length === 0) return {};
  const mean = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0) / count;
  const operations = ({ operations: { puts, parts, gets } }: (typeof pushes | typeof jobs)[number]): number =>
    puts + parts + gets;
  return {
    "indexing ms": mean(pushes.map(({ indexMs }) => indexMs)),
    "applying ms": mean(pushes.map(({ applyMs }) => applyMs)),
    "pack KB": mean(pushes.map(({ packBytes }) => packBytes)) / 1000,
    "R2 operations": mean(pushes.map(operations)),
    "R2 operations of jobs": mean(jobs.map(operations)),
  };
}

/** The number of saves so far, which numbers each save. */
let savesSoFar = 0;

/** Each writer makes this many saves. */
async function saveAll({ edits, shape }: Loop, lane: Lane, savesEach: number): Promise<Saved[]> {
  const saves: Saved[] = [];
  const write = async (places: readonly Writer[], writer: number): Promise<void> => {
    for (let turn = 0; turn < savesEach; turn++) {
      saves.push(await places[turn % places.length]!.save(EDITS[edits](++savesSoFar, writer, shape)));
    }
  };
  await allOf(lane.writers.map(write));
  return saves;
}
