/** What people do, one right after the other: nobody waits until the server has done what it does behind its answers. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { git } from "../../../test/harness/git.ts";
import { makeTempDir } from "../../../test/harness/temp-dir.ts";
import { type Measures, type Sample, toSamples, type Work } from "../figures/sample.ts";
import type { Host } from "../hosts/host.ts";
import { type Hosts, onEach } from "../hosts/hosts.ts";
import { allOf } from "../work/all-of.ts";
import { fetchCommand, sendRaw } from "../work/raw-fetch.ts";
import type { Subject } from "../work/subjects.ts";

/** Clients of a storm. */
const CLONES = 20;

/** What one host did, by works. */
type Works = [work: string, measures: Measures][];

/** Measures in turns: a push, a push of one changed file, its fetch by a clone that has what was pushed first, a clone; and with another
 * repository, a push, and shallow clones at once, by clients that drop what comes.
 * @param subject with branches `main`, which is pushed, and `next`, which is pushed to `main` then */
export function measureFollowing(
  subject: Subject,
  { files, round }: { readonly files: number; readonly round: number },
  hosts: Hosts,
): Promise<Sample[]> {
  return takeTurns({ files }, round, hosts, async (host) => [
    ...(await follow(subject, host)),
    ...(await pushAndStorm(subject, host)),
  ]);
}

/** Measures in turns: so many new repositories, each pushed to once, one after the other. */
export function measureFirstPushes(
  { dir }: Subject,
  { files, round, count }: { readonly files: number; readonly round: number; readonly count: number },
  hosts: Hosts,
): Promise<Sample[]> {
  return takeTurns({ files }, round, hosts, async (host) => {
    const urls = await Array.fromAsync({ length: count }, () => host.makeRepository());
    const pushes = await measure(host, async () => {
      for (const url of urls) await git(dir, "push", "-q", url, "main");
    });
    await allOf(urls.map((url) => host.rest(url)));
    return [[`${count} first pushes`, pushes]];
  });
}

async function takeTurns(
  work: Work,
  round: number,
  hosts: Hosts,
  run: (host: Host) => Promise<Works>,
): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (const [side, turn] of Object.entries(onEach(hosts, run))) {
    for (const [name, measures] of await turn()) {
      samples.push(...toSamples({ work: name, ...work }, side, round, measures));
    }
  }
  return samples;
}

async function follow({ dir }: Subject, host: Host): Promise<Works> {
  const url = await host.makeRepository();
  const folder = makeTempDir("follow");
  const behind = join(folder, "behind");
  await git(".", "clone", "-q", "--single-branch", "--branch", "main", dir, behind);
  await git(behind, "remote", "set-url", "origin", url);
  const before = host.readCpuSeconds();
  const works: Works = [
    ["push", await measure(host, () => git(dir, "push", "-q", url, "main"))],
    ["incremental push", await measure(host, () => git(dir, "push", "-q", url, "next:main"))],
    ["fetch", await measure(host, () => git(behind, "fetch", "-q"))],
    ["clone", await measure(host, () => git(".", "clone", "-q", url, join(folder, "clone")))],
  ];
  await host.rest(url);
  works.push(["all four, and what follows", { "server CPU ms": (host.readCpuSeconds() - before) * 1000 }]);
  const pushed = await git(dir, "rev-parse", "next");
  for (const clone of [behind, join(folder, "clone")]) {
    const fetched = await git(clone, "rev-parse", "origin/main");
    if (fetched !== pushed) throw new Error(`${pushed} was pushed to ${url}, and ${fetched} came back`);
  }
  rmSync(folder, { recursive: true });
  return works;
}

async function pushAndStorm({ dir }: Subject, host: Host): Promise<Works> {
  const url = await host.makeRepository();
  await git(dir, "push", "-q", url, "main");
  const command = fetchCommand([await git(dir, "rev-parse", "main")], "deepen 1");
  const storm = await measure(host, () => allOf(Array.from({ length: CLONES }, () => sendRaw(url, command))));
  await host.rest(url);
  return [[`${CLONES} shallow clones`, storm]];
}

/** Measures a piece of work alone: what the host does behind it is not waited for. */
async function measure(host: Host, work: () => Promise<unknown>): Promise<Measures> {
  const before = host.readCpuSeconds();
  const start = performance.now();
  await work();
  return { "wall ms": performance.now() - start, "server CPU ms": (host.readCpuSeconds() - before) * 1000 };
}
