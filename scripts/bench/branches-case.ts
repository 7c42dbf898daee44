/** A repository with very many branches. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { git } from "../../test/harness/git.ts";
import { makeTempDir } from "../../test/harness/temp-dir.ts";
import { type Host, type Hosts, measureCost, pushNew } from "./hosts.ts";
import { fetchCommand, lsRefsCommand, type RawCommand, type RawFetch, sendRaw } from "./raw-fetch.ts";
import { makeBranches } from "./subjects.ts";
import { type Figure, type Sample, takeTurns } from "./turns.ts";

/** Lists one and all, fetches one and all; each fetch of one is of another branch. */
export async function measureBranches(branches: number, rounds: number, hosts: Hosts): Promise<Figure[]> {
  const { dir, name } = await makeBranches(branches);
  const tips = (await git(dir, "for-each-ref", "--format=%(objectname)", "refs/heads")).split("\n");
  const urls = new Map<Host, string>();
  for (const host of [hosts.native, hosts.holdfast]) urls.set(host, await pushNew(dir, host));
  let count = 0;
  const figures: Figure[] = [];
  const take = async (work: string, run: (host: Host, turn: number) => Promise<Sample>): Promise<void> => {
    const side = (host: Host) => (): Promise<Sample> => run(host, Math.floor(count++ / 2) % branches);
    const sides = { native: side(hosts.native), holdfast: side(hosts.holdfast) };
    figures.push(...(await takeTurns(`${work}, ${name}`, rounds, sides)));
  };
  const raw = (host: Host, command: RawCommand): Promise<Sample> => measureRaw(host, urls.get(host)!, command);
  await take("ls-refs of one", (host, turn) => raw(host, lsRefsCommand(`refs/heads/branch-${turn}`)));
  await take("ls-refs of all", (host) => raw(host, lsRefsCommand()));
  await take("fetch of one, raw client", (host, turn) => raw(host, fetchCommand([tips[turn]!])));
  await take("clone --single-branch", (host, turn) =>
    measureClone(host, urls.get(host)!, "--single-branch", "--branch", `branch-${turn}`),
  );
  await take("fetch of all, raw client", (host) => raw(host, fetchCommand([...new Set(tips)])));
  await take("clone --mirror", (host) => measureClone(host, urls.get(host)!, "--mirror"));
  return figures;
}

async function measureRaw(host: Host, url: string, command: RawCommand): Promise<Sample> {
  let fetched!: RawFetch;
  const { cpuSeconds } = await measureCost(host, async () => {
    fetched = await sendRaw(url, command);
  });
  return {
    "first byte s": fetched.firstByteSeconds,
    "wall s": fetched.totalSeconds,
    "server CPU s": cpuSeconds,
    "body MB": fetched.sizeBytes / 1e6,
  };
}

async function measureClone(host: Host, url: string, ...options: readonly string[]): Promise<Sample> {
  const dir = makeTempDir("clone");
  const { wallSeconds, cpuSeconds } = await measureCost(host, () =>
    git(dir, "clone", "-q", "-n", ...options, url, join(dir, "clone")),
  );
  rmSync(dir, { recursive: true });
  return { "wall s": wallSeconds, "server CPU s": cpuSeconds };
}
