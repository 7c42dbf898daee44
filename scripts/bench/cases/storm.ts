/** Many clients that ask at the same time. */
import { git } from "../../../test/harness/git.ts";
import type { Measures, Sample } from "../figures/sample.ts";
import { median } from "../figures/summary.ts";
import { takeTurns } from "../figures/turns.ts";
import { measureCost } from "../hosts/cost.ts";
import { type Host, pushNew, readMemory } from "../hosts/host.ts";
import { type Hosts, onEach } from "../hosts/hosts.ts";
import { fetchCommand, hashPack, type RawCommand, type RawFetch, sendRaw } from "../work/raw-fetch.ts";
import type { Subject } from "../work/subjects.ts";

/** How many ask at once: a team's builds after a push. */
const CLIENTS = 20;

/** What they ask for. */
async function listStorms({ dir }: Subject): Promise<ReadonlyMap<string, readonly RawCommand[]>> {
  const tips = (await git(dir, "for-each-ref", "--format=%(objectname)")).split("\n");
  const wants = [...new Set(tips)];
  const tip = await git(
    dir,
    "for-each-ref",
    "--sort=-committerdate",
    "--count=1",
    "--format=%(objectname)",
    "refs/heads",
  );
  const same = (command: RawCommand): RawCommand[] => Array.from({ length: CLIENTS }, () => command);
  return new Map([
    ["whole", same(fetchCommand(wants))],
    ["depth 1", same(fetchCommand([tip], "deepen 1"))],
    [
      `depths 1 to ${CLIENTS}`,
      Array.from({ length: CLIENTS }, (_, index) => fetchCommand([tip], `deepen ${index + 1}`)),
    ],
    ["blob:none", same(fetchCommand(wants, "filter blob:none"))],
  ]);
}

/** Every storm, on a repository that was pushed just before (cold) and once more (warm). */
export async function measureStorms(subject: Subject, rounds: number, hosts: Hosts): Promise<Sample[]> {
  const storms = await listStorms(subject);
  const run = async (host: Host): Promise<Measures> => {
    const url = await pushNew(subject.dir, host);
    const sample: Record<string, number> = {};
    for (const [name, commands] of storms) {
      try {
        for (const state of ["cold", "warm"]) {
          for (const [measure, value] of Object.entries(await measureStorm(host, url, commands))) {
            sample[`${name}, ${state}: ${measure}`] = value;
          }
        }
        sample[`${name}: different packs`] = await countPacks(url, commands);
        host.takeEvents();
      } catch (error) {
        console.error(`${name} failed:`, error);
      }
    }
    return sample;
  };
  return takeTurns({ clients: CLIENTS, repository: subject.name }, rounds, onEach(hosts, run));
}

async function measureStorm(host: Host, url: string, commands: readonly RawCommand[]): Promise<Measures> {
  host.takeEvents();
  let fetched: RawFetch[] = [];
  const { wallSeconds, cpuSeconds } = await measureCost(host, async () => {
    fetched = await Promise.all(commands.map((command) => sendRaw(url, command)));
  });
  const caches = fetched.flatMap(({ cache }) => (cache === null ? [] : [cache]));
  return {
    "wall s": wallSeconds,
    "server CPU s": cpuSeconds,
    "first byte s": median(fetched.map(({ firstByteSeconds }) => firstByteSeconds)),
    "bodies MB": fetched.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) / 1e6,
    ...Object.fromEntries(
      [...new Set(caches)].map((state) => [`cache ${state}`, caches.filter((one) => one === state).length]),
    ),
    ...readMemory(host),
  };
}

/** How many different packs the clients get: outside of what is timed, since hashing takes the machine from the server. */
async function countPacks(url: string, commands: readonly RawCommand[]): Promise<number> {
  return new Set(await Promise.all(commands.map((command) => hashPack(url, command)))).size;
}
