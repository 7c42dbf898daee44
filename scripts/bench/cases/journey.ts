/** What one does with a new repository, one after the other: push, clone, push one file more, fetch that into the clone. */
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
  readonly files: number;
  readonly rounds: number;
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
 * @param subject with branches `main`, which is pushed, and `next`, which is pushed to `main` then */
export async function measureJourneys(
  subject: Subject,
  { files, rounds, warmUp }: Rounds,
  hosts: Hosts,
): Promise<Journeys> {
  const samples: Sample[] = [];
  let url = "";
  for (let round = warmUp ? 0 : 1; round <= rounds; round++) {
    for (const [side, run] of Object.entries(onEach(hosts, (host) => takeJourney(subject, host, hosts)))) {
      process.stderr.write(`${files} files, ${round === 0 ? "warm-up" : `round ${round} of ${rounds}`}, ${side}\n`);
      const journey = await run();
      if (side === "holdfast") ({ url } = journey);
      if (round === 0) continue;
      for (const [work, measures] of journey.works) samples.push(...toSamples({ work, files }, side, round, measures));
    }
  }
  return { samples, url };
}

async function takeJourney(
  { dir }: Subject,
  host: Host,
  { holdfast }: Hosts,
): Promise<{ url: string; works: readonly (readonly [work: string, measures: Measures])[] }> {
  const url = await host.makeRepository();
  if (host === holdfast) await makeWithoutWorktree(url);
  const clone = join(makeTempDir("clone"), "clone");
  const works = [
    ["push", await measure(host, () => git(dir, "push", "-q", url, "main"))],
    ["clone", await measure(host, () => git(dir, "clone", "-q", url, clone))],
    ["incremental push", await measure(host, () => git(dir, "push", "-q", url, "next:main"))],
    ["fetch", await measure(host, () => git(clone, "fetch", "-q"))],
  ] as const;
  const [fetched, pushed] = [await git(clone, "rev-parse", "origin/main"), await git(dir, "rev-parse", "next")];
  if (fetched !== pushed) throw new Error(`${pushed} was pushed to ${url}, and ${fetched} came back`);
  rmSync(clone, { recursive: true });
  return { url, works };
}

async function measure(host: Host, work: () => Promise<unknown>): Promise<Measures> {
  const { wallSeconds, cpuSeconds } = await measureCost(host, work, { idleMs: IDLE_MS });
  return { "wall ms": wallSeconds * 1000, "server CPU ms": cpuSeconds * 1000 };
}
