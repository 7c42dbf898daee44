/** Whole clones of histories that differ in nothing but their length. */
import { rmSync } from "node:fs";
import type { RepositoryEvent } from "../../src/repository/repository-event.ts";
import { git } from "../../test/harness/git.ts";
import { type Host, type Hosts, listNumbers, measureCost, pushNew, readMemory } from "./hosts.ts";
import { fetchCommand, type RawCommand, type RawFetch, sendRaw } from "./raw-fetch.ts";
import { makeLongHistory } from "./subjects.ts";
import { type Figure, makeFigures, type Sample, takeTurns } from "./turns.ts";

/** The first clone after the push, and then clones in turns. */
export async function measureSize(commits: number, rounds: number, { native, holdfast }: Hosts): Promise<Figure[]> {
  const { dir, name } = await makeLongHistory(commits);
  const command = fetchCommand([await git(dir, "rev-parse", "main")]);
  const urls = new Map<Host, string>();
  for (const host of [native, holdfast]) urls.set(host, await pushNew(dir, host));
  rmSync(dir, { recursive: true });
  const clone = (host: Host): Promise<Sample> => measureClone(host, urls.get(host)!, command);
  const first = makeFigures(`first clone, ${name}`, [await clone(native)], [await clone(holdfast)]);
  const later = await takeTurns(`clone, ${name}`, rounds, {
    native: () => clone(native),
    holdfast: () => clone(holdfast),
  });
  return [...first, ...later];
}

/** One clone by a raw client, with the object's own part in it as far as the server tells. */
export async function measureClone(host: Host, url: string, command: RawCommand): Promise<Sample> {
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
function readFigures(event: RepositoryEvent): Sample {
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
