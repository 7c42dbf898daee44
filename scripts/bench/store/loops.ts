/** Writers that save one file after the other, at the same time, to equal repositories on every
 * host. */
import { setTimeout as sleep } from "node:timers/promises";
import type { RepositoryEvent } from "../../../src/repository/state/repository-event.ts";
import { git } from "../../../test/harness/git.ts";
import { allOf, type Bench } from "../figures/bench.ts";
import type { Measures } from "../figures/sample.ts";
import { apiPathOf, askHoldfast, makeWithoutWorktree } from "../hosts/holdfast.ts";
import { type Host, measureCost } from "../hosts/host.ts";
import { type Hosts, listHosts } from "../hosts/hosts.ts";
import { branchOf, EDITS, makeStoreSource, type Shape } from "./edits.ts";
import { openApiWriter, openGitWriter, type Saved, type Writer } from "./writers.ts";

/** Longest wait for the worktrees of new repositories. */
const WORKTREE_MS = 300_000;

/** This many saves by the API take no longer than one by git, and their percentiles need them. With
 * contention, both save equally often. */
const API_SAVES = 10;

/** Saves of each writer before the first round. */
const WARM_UP_SAVES = 1;

/** Settings of all loops of a run. */
export interface SavePlan {
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
export interface Loop {
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
export async function openStores(
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
export async function measureLoops(loops: readonly Loop[], plan: SavePlan, bench: Bench): Promise<void> {
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
let count = 0;

/** Each writer makes this many saves. */
async function saveAll({ edits, shape }: Loop, lane: Lane, savesEach: number): Promise<Saved[]> {
  const saves: Saved[] = [];
  const write = async (places: readonly Writer[], writer: number): Promise<void> => {
    for (let turn = 0; turn < savesEach; turn++) {
      saves.push(await places[turn % places.length]!.save(EDITS[edits](++count, writer, shape)));
    }
  };
  await allOf(lane.writers.map(write));
  return saves;
}
