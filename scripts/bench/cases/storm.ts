/** Many clients that ask at the same time. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { git } from "../../../test/harness/git.ts";
import { makeTempDir } from "../../../test/harness/temp-dir.ts";
import type { Measures, Sample, Work } from "../figures/sample.ts";
import { takeRounds, type Turn } from "../figures/turns.ts";
import { measureCost } from "../hosts/cost.ts";
import { type Host, pushNew, readMemory } from "../hosts/host.ts";
import { type Hosts, onEach } from "../hosts/hosts.ts";
import { allOf } from "../work/all-of.ts";
import { fetchCommand, hashPack, type RawCommand, sendRaw } from "../work/raw-fetch.ts";
import type { Subject } from "../work/subjects.ts";

/** What the clients of a storm do. */
export interface Storm {
  /** `raw`: one that drops what comes, and leaves the machine to the server. `git`: stock git. */
  readonly client: "raw" | "git";
  /** What they ask for. */
  readonly storm: string;
  /** Has all of them ask at once. */
  ask(url: string): Promise<Shown>;
  /** Counts the packs that differ from others which were asked for alike. */
  countDifferent?(url: string): Promise<number>;
}

/** What a storm showed to its clients. */
export interface Shown {
  readonly each: readonly Measures[];
  readonly together: Measures;
}

/** Where a storm is measured. */
export interface StormSettings {
  readonly subject: Subject;
  readonly clients: number;
  readonly rounds: number;
  readonly hosts: Hosts;
  /** Holdfast with its response cache off; null: there is none. */
  readonly uncached: Host | null;
}

/** The storms, by the names by which they are chosen. */
export const STORM_NAMES = ["depth-1", "whole", "depths", "blob-none", "git"] as const;

/** How many packs are compared at a time: each lies in memory. */
const COMPARED_AT_ONCE = 4;

/** Every storm of so many clients. */
export async function listStorms(
  { dir }: Subject,
  clients: number,
): Promise<Readonly<Record<(typeof STORM_NAMES)[number], Storm>>> {
  const tips = (await git(dir, "for-each-ref", "--format=%(objectname)")).split("\n");
  const wants = [...new Set(tips)];
  const newest = ["--sort=-committerdate", "--count=1", "--format=%(objectname)"];
  const tip = await git(dir, "for-each-ref", ...newest, "refs/heads");
  const repeat = (command: RawCommand): RawCommand[] => Array.from({ length: clients }, () => command);
  const depths = Array.from({ length: clients }, (_, index) => fetchCommand([tip], `deepen ${index + 1}`));
  return {
    "depth-1": rawStorm("depth 1", repeat(fetchCommand([tip], "deepen 1"))),
    whole: rawStorm("whole", repeat(fetchCommand(wants))),
    depths: rawStorm("depths 1 to N", depths),
    "blob-none": rawStorm("blob:none", repeat(fetchCommand(wants, "filter blob:none"))),
    git: {
      client: "git",
      storm: "depth 1",
      ask: (url) => cloneAtOnce(clients, (dir) => git(".", "clone", "-q", "--depth", "1", url, dir)),
    },
  };
}

/** Measures a storm on repositories that were pushed just before: the first time (cold) and once more (warm), and, on others, the first
 * time without the cache (off). Native git, which has none, does the same beside each. */
export function measureStorm(storm: Storm, settings: StormSettings): Promise<Sample[]> {
  const { subject, clients, rounds, hosts, uncached } = settings;
  const run = async (host: Host, caches: readonly string[]): Promise<(readonly [Work, Measures])[]> => {
    const shown: (readonly [Work, Measures])[] = [];
    const url = await pushNew(subject.dir, host);
    for (const cache of caches) {
      const work = { client: storm.client, clients, storm: storm.storm, cache, repository: subject.name };
      const list = await measureOnce(host, () => storm.ask(url));
      // Untimed: hashing takes the machine from the server.
      const different = cache === "cold" ? undefined : await storm.countDifferent?.(url);
      if (different !== undefined) list.push({ "packs that differ": different });
      shown.push(...list.map((measures) => [work, measures] as const));
    }
    await host.remove(url);
    return shown;
  };
  const caches = ["cold", "warm"];
  const turns: Turn[] = Object.entries(
    onEach(hosts, (host) => run(host, uncached === null || host === hosts.holdfast ? caches : [...caches, "off"])),
  );
  if (uncached !== null) turns.push(["holdfast", () => run(uncached, ["off"])]);
  return takeRounds([storm.client, storm.storm, `${clients} clients`, subject.name].join(", "), rounds, turns);
}

/** Measures one storm.
 * @returns what all clients saw together, and then what each saw */
export async function measureOnce(host: Host, ask: () => Promise<Shown>): Promise<Measures[]> {
  host.takeEvents();
  let shown!: Shown;
  const { wallSeconds, cpuSeconds } = await measureCost(host, async () => {
    shown = await ask();
  });
  return [{ "wall s": wallSeconds, "server CPU s": cpuSeconds, ...shown.together, ...readMemory(host) }, ...shown.each];
}

/** Has every client clone into a folder of its own, all at once. */
export async function cloneAtOnce(clients: number, clone: (dir: string) => Promise<unknown>): Promise<Shown> {
  const dir = makeTempDir("clones");
  const start = performance.now();
  const clones = Array.from({ length: clients }, async (_, index) => {
    await clone(join(dir, String(index)));
    return { "client s": (performance.now() - start) / 1000 };
  });
  try {
    return { each: await allOf(clones), together: {} };
  } finally {
    rmSync(dir, { recursive: true });
  }
}

function rawStorm(storm: string, commands: readonly RawCommand[]): Storm {
  return {
    client: "raw",
    storm,
    ask: (url) => fetchAtOnce(url, commands),
    countDifferent: (url) => countDifferent(url, commands),
  };
}

async function fetchAtOnce(url: string, commands: readonly RawCommand[]): Promise<Shown> {
  const fetched = await Promise.all(commands.map((command) => sendRaw(url, command)));
  const count = (state: string): number => fetched.filter(({ cache }) => cache === state).length;
  // Native git says nothing of a cache.
  const isTold = fetched.some(({ cache }) => cache !== null);
  return {
    each: fetched.map(({ totalSeconds, firstByteSeconds }) => ({
      "client s": totalSeconds,
      "first byte s": firstByteSeconds,
    })),
    together: {
      "bodies MB": fetched.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) / 1e6,
      ...(isTold ? { misses: count("miss"), shared: count("shared"), hits: count("hit") } : {}),
    },
  };
}

async function countDifferent(url: string, commands: readonly RawCommand[]): Promise<number> {
  const packs = new Map(commands.map((command) => [command, new Set<string>()]));
  for (let at = 0; at < commands.length; at += COMPARED_AT_ONCE) {
    const group = commands.slice(at, at + COMPARED_AT_ONCE);
    await Promise.all(group.map(async (command) => packs.get(command)!.add(await hashPack(url, command))));
  }
  return [...packs.values()].reduce((sum, hashes) => sum + hashes.size - 1, 0);
}
