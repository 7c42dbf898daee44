/** Pushes and fetches: Holdfast beside native git, each by the same client. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { git } from "../../test/harness/git.ts";
import { makeTempDir } from "../../test/harness/temp-dir.ts";
import { type Host, type Hosts, measureCost, pushNew } from "./hosts.ts";
import { fetchRaw, type RawFetch } from "./raw-fetch.ts";
import { makeNoise, type Subject } from "./subjects.ts";
import { type Figure, type Sample, takeTurns } from "./turns.ts";

/** Runs the same work on both hosts. */
function compare(work: string, rounds: number, hosts: Hosts, run: (host: Host) => Promise<Sample>): Promise<Figure[]> {
  return takeTurns(work, rounds, { native: () => run(hosts.native), holdfast: () => run(hosts.holdfast) });
}

/** `git push --mirror` into an empty repository. */
export function measurePush(subject: Subject, rounds: number, hosts: Hosts): Promise<Figure[]> {
  return compare(`push ${subject.name}`, rounds, hosts, async (host) => {
    const url = await host.makeRepository();
    const { wallSeconds, cpuSeconds } = await measureCost(host, () => push(subject, url));
    return { "wall s": wallSeconds, "server CPU s": cpuSeconds };
  });
}

/** The whole pack to a raw client that drops it, and `git clone --mirror`, from a repository that was pushed once. */
export async function measureFetch(subject: Subject, rounds: number, hosts: Hosts): Promise<Figure[]> {
  const urls = await pushOnce(subject, hosts);
  const tips = await git(subject.dir, "for-each-ref", "--format=%(objectname)");
  const wants = [...new Set(tips.split("\n"))];
  const raw = await compare(`fetch ${subject.name}, raw client`, rounds, hosts, async (host) => {
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
  });
  const cloned = await compare(`clone --mirror ${subject.name}`, rounds, hosts, (host) =>
    clone(host, urls.get(host)!, "--mirror"),
  );
  return [...raw, ...cloned];
}

/** Push and clone of one commit of incompressible files. */
export async function measureNoise(files: number, rounds: number, hosts: Hosts): Promise<Figure[]> {
  const subject = await makeNoise(files);
  const pushed = await measurePush(subject, rounds, hosts);
  const urls = await pushOnce(subject, hosts);
  const cloned = await compare(`clone ${subject.name}`, rounds, hosts, (host) => clone(host, urls.get(host)!));
  return [...pushed, ...cloned];
}

function push({ dir }: Subject, url: string): Promise<string> {
  return git(dir, "push", "-q", "--mirror", url);
}

async function pushOnce({ dir }: Subject, { native, holdfast }: Hosts): Promise<ReadonlyMap<Host, string>> {
  const urls = new Map<Host, string>();
  for (const host of [native, holdfast]) urls.set(host, await pushNew(dir, host));
  return urls;
}

async function clone(host: Host, url: string, ...options: readonly string[]): Promise<Sample> {
  const dir = makeTempDir("clone");
  const { wallSeconds, cpuSeconds } = await measureCost(host, () =>
    git(dir, "clone", "-q", ...options, url, join(dir, "clone")),
  );
  rmSync(dir, { recursive: true });
  return { "wall s": wallSeconds, "server CPU s": cpuSeconds };
}
