/** What one does with a new repository, one after the other: push, clone, and then again and again: push a changed file, fetch it into
 * the clone. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { git } from "../../../test/harness/git.ts";
import { makeTempDir } from "../../../test/harness/temp-dir.ts";
import { type Measures, type Sample, toSamples } from "../figures/sample.ts";
import { measureCost } from "../hosts/cost.ts";
import { makeWithoutWorktree } from "../hosts/holdfast.ts";
import type { Host } from "../hosts/host.ts";
import { type Hosts, onEach } from "../hosts/hosts.ts";
import type { Subject } from "../work/subjects.ts";

/** There are many short works: this is long enough for the CPU clock to show whether a server is busy. */
const IDLE_MS = 100;

/** How often it is done. */
export interface Rounds {
  /** Of the repository. */
  readonly files: number;
  readonly rounds: number;
  /** Pushes of a changed file in each round, each of which is a round of its own in the samples, as is each fetch: they are short. */
  readonly changes: number;
  /** Whether a round goes before those that count. */
  readonly warmUp: boolean;
}

/** Samples, and where the last round's repository lies. */
export interface Journeys {
  readonly samples: Sample[];
  /** Of Holdfast's. */
  readonly url: string;
}

/** Has each host take the journey in turns, with a new repository each time.
 * @param subject with branches `main`, which is pushed, and `next-1`, `next-2` and so on, which are pushed to `main` then */
export async function measureJourneys(
  subject: Subject,
  { files, rounds, changes, warmUp }: Rounds,
  hosts: Hosts,
): Promise<Journeys> {
  const samples: Sample[] = [];
  let url = "";
  for (let round = warmUp ? 0 : 1; round <= rounds; round++) {
    for (const [side, run] of Object.entries(onEach(hosts, (host) => takeJourney(subject, changes, host, hosts)))) {
      process.stderr.write(`${files} files, ${round === 0 ? "warm-up" : `round ${round} of ${rounds}`}, ${side}\n`);
      const journey = await run();
      if (side === "holdfast") ({ url } = journey);
      if (round === 0) continue;
      for (const [work, taken] of Object.entries(journey.works)) {
        taken.forEach((measures, index) => {
          samples.push(...toSamples({ work, files }, side, (round - 1) * taken.length + index + 1, measures));
        });
      }
    }
  }
  return { samples, url };
}

/** The works of one journey, each as often as it was done. */
interface Journey {
  readonly url: string;
  readonly works: Readonly<Record<string, readonly Measures[]>>;
}

async function takeJourney({ dir }: Subject, changes: number, host: Host, { holdfast }: Hosts): Promise<Journey> {
  const url = await host.makeRepository();
  if (host === holdfast) await makeWithoutWorktree(url);
  const clone = join(makeTempDir("clone"), "clone");
  const works: Record<string, Measures[]> = {};
  const take = async (work: string, run: () => Promise<unknown>): Promise<void> => {
    // What was taken before has left the host idle.
    const isIdle = Object.keys(works).length > 0;
    const { wallSeconds, cpuSeconds } = await measureCost(host, run, { idleMs: IDLE_MS, isIdle });
    (works[work] ??= []).push({ "wall ms": wallSeconds * 1000, "server CPU ms": cpuSeconds * 1000 });
  };
  await take("push", () => git(dir, "push", "-q", url, "main"));
  await take("clone", () => git(dir, "clone", "-q", url, clone));
  for (let change = 1; change <= changes; change++) {
    await take("incremental push", () => git(dir, "push", "-q", url, `next-${change}:main`));
    await take("fetch", () => git(clone, "fetch", "-q"));
    const pushed = await git(dir, "rev-parse", `next-${change}`);
    const fetched = await git(clone, "rev-parse", "origin/main");
    if (fetched !== pushed) throw new Error(`${pushed} was pushed to ${url}, and ${fetched} came back`);
  }
  rmSync(clone, { recursive: true });
  return { url, works };
}
