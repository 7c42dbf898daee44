/** What one does with a new repository, one after the other: push, clone, push a changed file, fetch it into the clone. */
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
const IDLE_MS = 40;

/** Samples, and where the repository lies. */
export interface Journeys {
  readonly samples: Sample[];
  /** Of Holdfast's. */
  readonly url: string;
}

/** Has each host take the journey, with a new repository.
 * @param subject with branches `main`, which is pushed, and `next`, which is pushed to `main` then */
export async function measureJourneys(
  subject: Subject,
  { files, round }: { readonly files: number; readonly round: number },
  hosts: Hosts,
): Promise<Journeys> {
  const samples: Sample[] = [];
  let url = "";
  for (const [side, run] of Object.entries(onEach(hosts, (host) => takeJourney(subject, host, hosts)))) {
    const journey = await run();
    if (side === "holdfast") ({ url } = journey);
    for (const [work, measures] of Object.entries(journey.works)) {
      samples.push(...toSamples({ work, files }, side, round, measures));
    }
  }
  return { samples, url };
}

/** The works of one journey. */
interface Journey {
  readonly url: string;
  readonly works: Readonly<Record<string, Measures>>;
}

async function takeJourney({ dir }: Subject, host: Host, { holdfast }: Hosts): Promise<Journey> {
  const url = await host.makeRepository();
  if (host === holdfast) await makeWithoutWorktree(url);
  const clone = join(makeTempDir("clone"), "clone");
  const works: Record<string, Measures> = {};
  const take = async (work: string, run: () => Promise<unknown>): Promise<void> => {
    // What was taken before has left the host idle.
    const isIdle = Object.keys(works).length > 0;
    const { wallSeconds, cpuSeconds } = await measureCost(host, run, { idleMs: IDLE_MS, isIdle });
    works[work] = { "wall ms": wallSeconds * 1000, "server CPU ms": cpuSeconds * 1000 };
  };
  await take("push", () => git(dir, "push", "-q", url, "main"));
  await take("clone", () => git(dir, "clone", "-q", url, clone));
  await take("incremental push", () => git(dir, "push", "-q", url, "next:main"));
  await take("fetch", () => git(clone, "fetch", "-q"));
  const pushed = await git(dir, "rev-parse", "next");
  const fetched = await git(clone, "rev-parse", "origin/main");
  if (fetched !== pushed) throw new Error(`${pushed} was pushed to ${url}, and ${fetched} came back`);
  rmSync(clone, { recursive: true });
  return { url, works };
}
