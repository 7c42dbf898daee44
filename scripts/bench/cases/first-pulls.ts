/** The first pulls of repositories with many branches. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { git } from "../../../test/harness/git.ts";
import { makeTempDir } from "../../../test/harness/temp-dir.ts";
import type { Measures, Sample } from "../figures/sample.ts";
import { takeTurns } from "../figures/turns.ts";
import { measureCost } from "../hosts/cost.ts";
import { type Host, pushNew } from "../hosts/host.ts";
import { type Hosts, listHosts, onEach } from "../hosts/hosts.ts";
import { branchOf, makeStoreSource } from "../work/store-source.ts";

/** What is pulled for the first time: everything, or the last branch alone. Each pull is the first one of a repository. */
const PULLS = {
  "all branches": () => [],
  "one branch": (branches: number) => ["--single-branch", "--branch", branchOf(branches - 1)],
} as const satisfies Record<string, (branches: number) => readonly string[]>;

/** Clones, with the files of a branch, repositories that were pushed just before. */
export async function measureFirstPulls(
  branches: number,
  { rounds, files, perFolder }: { readonly rounds: number; readonly files: number; readonly perFolder: number },
  hosts: Hosts,
): Promise<Sample[]> {
  const source = await makeStoreSource({ files, perFolder, branches });
  const samples: Sample[] = [];
  for (const [step, optionsOf] of Object.entries(PULLS)) {
    const work = { phase: "pull", by: "git", step, writers: 1, repositories: 1, branches, files };
    samples.push(
      ...(await takeTurns(
        work,
        rounds,
        onEach(hosts, (host) => clone(source, host, optionsOf(branches))),
      )),
    );
  }
  for (const host of listHosts(hosts)) host.takeEvents();
  return samples;
}

async function clone(source: string, host: Host, options: readonly string[]): Promise<Measures> {
  const url = await pushNew(source, host);
  const dir = makeTempDir("clone");
  const { wallSeconds, cpuSeconds } = await measureCost(host, () =>
    git(dir, "clone", "-q", ...options, url, join(dir, "clone")),
  );
  rmSync(dir, { recursive: true });
  return { ms: wallSeconds * 1000, "server CPU ms": cpuSeconds * 1000 };
}
