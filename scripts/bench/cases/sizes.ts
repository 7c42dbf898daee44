/** Whole clones of histories that differ in nothing but their length. */
import { rmSync } from "node:fs";
import type { RepositoryEvent } from "../../../src/repository/state/repository-event.ts";
import { git } from "../../../test/harness/git.ts";
import { type Measures, type Sample, toSamples } from "../figures/sample.ts";
import { takeRounds, toTurns, type Turn } from "../figures/turns.ts";
import { measureCost } from "../hosts/cost.ts";
import { listNumbers } from "../hosts/holdfast.ts";
import { type Host, pushNew, readMemory } from "../hosts/host.ts";
import { type Hosts, onEach } from "../hosts/hosts.ts";
import { fetchCommand, type RawCommand, type RawFetch, sendRaw } from "../work/raw-fetch.ts";
import { makeLongHistory } from "../work/subjects.ts";

/** The first clone of each after its push, and then clones of all in turns. */
export async function measureSizes(sizes: readonly number[], rounds: number, hosts: Hosts): Promise<Sample[]> {
  const samples: Sample[] = [];
  const turns: Turn[] = [];
  for (const commits of sizes) {
    const { first, later } = await prepareSize(commits, hosts);
    samples.push(...first);
    turns.push(...later);
  }
  return [...samples, ...(await takeRounds(`clones of ${sizes.join(", ")} commits`, rounds, turns))];
}

async function prepareSize(
  commits: number,
  hosts: Hosts,
): Promise<{ readonly first: readonly Sample[]; readonly later: readonly Turn[] }> {
  const { dir } = await makeLongHistory(commits);
  const command = fetchCommand([await git(dir, "rev-parse", "main")]);
  const urls = new Map<Host, string>();
  const sides = onEach(hosts, (host) => measureClone(host, urls.get(host)!, command));
  const first: Sample[] = [];
  for (const [side, prepare] of Object.entries(
    onEach(hosts, async (host) => urls.set(host, await pushNew(dir, host))),
  )) {
    await prepare();
    first.push(...toSamples({ work: "first clone", commits }, side, 1, await sides[side]!()));
  }
  rmSync(dir, { recursive: true });
  return { first, later: toTurns({ work: "clone", commits }, sides) };
}

/** One clone by a raw client, with the object's own part in it as far as the server tells. */
export async function measureClone(host: Host, url: string, command: RawCommand): Promise<Measures> {
  host.takeEvents();
  let fetched!: RawFetch;
  const { cpuSeconds } = await measureCost(host, async () => {
    fetched = await sendRaw(url, command);
  });
  const own = host
    .takeEvents()
    .filter(({ event }) => event === "fetch")
    .map(readFigures);
  return {
    "first byte s": fetched.firstByteSeconds,
    "wall s": fetched.totalSeconds,
    "server CPU s": cpuSeconds,
    "body MB": fetched.sizeBytes / 1e6,
    ...Object.assign({}, ...own),
    ...readMemory(host),
  };
}

/** Every number of an event that tells what the object itself did. */
function readFigures(event: RepositoryEvent): Measures {
  const numbers = listNumbers(event);
  const chosen = {
    "plan ms": "planMs",
    "held MB": "peakBytes",
    "rows read": "operations rowsRead",
    "R2 gets": "operations gets",
  };
  const known = Object.entries(chosen).filter(([, path]) => path in numbers);
  return Object.fromEntries(known.map(([name, path]) => [name, numbers[path]! / (path === "peakBytes" ? 1e6 : 1)]));
}
