/** A repository with very many branches. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { git } from "../../../test/harness/git.ts";
import { makeTempDir } from "../../../test/harness/temp-dir.ts";
import type { Measures, Sample } from "../figures/sample.ts";
import { takeRounds, toTurns, type Turn } from "../figures/turns.ts";
import { measureCost } from "../hosts/cost.ts";
import { type Host, pushNew } from "../hosts/host.ts";
import { type Hosts, listHosts, onEach } from "../hosts/hosts.ts";
import { fetchCommand, lsRefsCommand, type RawCommand, type RawFetch, sendRaw } from "../work/raw-fetch.ts";
import { makeBranches } from "../work/subjects.ts";

/** Lists one and all, fetches one and all; each fetch of one is of another branch. */
export async function measureBranches(branches: number, rounds: number, hosts: Hosts): Promise<Sample[]> {
  const { dir } = await makeBranches(branches);
  const tips = (await git(dir, "for-each-ref", "--format=%(objectname)", "refs/heads")).split("\n");
  const urls = new Map<Host, string>();
  for (const host of listHosts(hosts)) urls.set(host, await pushNew(dir, host));
  let count = 0;
  const take = (work: string, run: (host: Host, turn: number) => Promise<Measures>): Turn[] => {
    const sides = onEach(hosts, (host) => run(host, Math.floor(count++ / urls.size) % branches));
    return toTurns({ work, branches }, sides);
  };
  const raw = (host: Host, command: RawCommand): Promise<Measures> => measureRaw(host, urls.get(host)!, command);
  return takeRounds(`${branches} branches`, rounds, [
    ...take("ls-refs of one", (host, turn) => raw(host, lsRefsCommand(`refs/heads/branch-${turn}`))),
    ...take("ls-refs of all", (host) => raw(host, lsRefsCommand())),
    ...take("fetch of one, raw client", (host, turn) => raw(host, fetchCommand([tips[turn]!]))),
    ...take("clone --single-branch", (host, turn) =>
      measureClone(host, urls.get(host)!, "--single-branch", "--branch", `branch-${turn}`),
    ),
    ...take("fetch of all, raw client", (host) => raw(host, fetchCommand([...new Set(tips)]))),
    ...take("clone --mirror", (host) => measureClone(host, urls.get(host)!, "--mirror")),
  ]);
}

async function measureRaw(host: Host, url: string, command: RawCommand): Promise<Measures> {
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

async function measureClone(host: Host, url: string, ...options: readonly string[]): Promise<Measures> {
  const dir = makeTempDir("clone");
  const { wallSeconds, cpuSeconds } = await measureCost(host, () =>
    git(dir, "clone", "-q", "-n", ...options, url, join(dir, "clone")),
  );
  rmSync(dir, { recursive: true });
  return { "wall s": wallSeconds, "server CPU s": cpuSeconds };
}
