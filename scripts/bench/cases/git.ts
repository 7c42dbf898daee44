/** Pushes and fetches: Holdfast beside native git, each by the same client. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { git } from "../../../test/harness/git.ts";
import { makeTempDir } from "../../../test/harness/temp-dir.ts";
import type { Measures, Sample } from "../figures/sample.ts";
import { takeTurns } from "../figures/turns.ts";
import { measureCost } from "../hosts/cost.ts";
import { type Host, pushNew } from "../hosts/host.ts";
import { type Hosts, listHosts, onEach } from "../hosts/hosts.ts";
import { fetchRaw, type RawFetch } from "../work/raw-fetch.ts";
import { makeNoise, type Subject } from "../work/subjects.ts";

/** `git push --mirror` into an empty repository. */
export function measurePush(subject: Subject, rounds: number, hosts: Hosts): Promise<Sample[]> {
  return takeTurns(
    { work: "push", repository: subject.name },
    rounds,
    onEach(hosts, async (host) => {
      const url = await host.makeRepository();
      const { wallSeconds, cpuSeconds } = await measureCost(host, () => push(subject, url));
      return { "wall s": wallSeconds, "server CPU s": cpuSeconds };
    }),
  );
}

/** The whole pack to a raw client that drops it, and `git clone --mirror`, from a repository that was pushed once. */
export async function measureFetch(subject: Subject, rounds: number, hosts: Hosts): Promise<Sample[]> {
  const urls = await pushOnce(subject, hosts);
  const tips = await git(subject.dir, "for-each-ref", "--format=%(objectname)");
  const wants = [...new Set(tips.split("\n"))];
  const raw = await takeTurns(
    { work: "fetch, raw client", repository: subject.name },
    rounds,
    onEach(hosts, async (host) => {
      let fetched!: RawFetch;
      const { cpuSeconds } = await measureCost(host, async () => {
        fetched = await fetchRaw(urls.get(host)!, wants);
      });
      return {
        "first byte s": fetched.firstByteSeconds,
        "wall s": fetched.totalSeconds,
        "server CPU s": cpuSeconds,
        "body MB": fetched.sizeBytes / 1e6,
      };
    }),
  );
  const cloned = await takeTurns(
    { work: "clone --mirror", repository: subject.name },
    rounds,
    onEach(hosts, (host) => clone(host, urls.get(host)!, "--mirror")),
  );
  return [...raw, ...cloned];
}

/** Push and clone of one commit of incompressible files. */
export async function measureNoise(files: number, rounds: number, hosts: Hosts): Promise<Sample[]> {
  const subject = await makeNoise(files);
  const pushed = await measurePush(subject, rounds, hosts);
  const urls = await pushOnce(subject, hosts);
  const cloned = await takeTurns(
    { work: "clone", repository: subject.name },
    rounds,
    onEach(hosts, (host) => clone(host, urls.get(host)!)),
  );
  return [...pushed, ...cloned];
}

function push({ dir }: Subject, url: string): Promise<string> {
  return git(dir, "push", "-q", "--mirror", url);
}

async function pushOnce({ dir }: Subject, hosts: Hosts): Promise<ReadonlyMap<Host, string>> {
  const urls = new Map<Host, string>();
  for (const host of listHosts(hosts)) urls.set(host, await pushNew(dir, host));
  return urls;
}

async function clone(host: Host, url: string, ...options: readonly string[]): Promise<Measures> {
  const dir = makeTempDir("clone");
  const { wallSeconds, cpuSeconds } = await measureCost(host, () =>
    git(dir, "clone", "-q", ...options, url, join(dir, "clone")),
  );
  rmSync(dir, { recursive: true });
  return { "wall s": wallSeconds, "server CPU s": cpuSeconds };
}
