/** Pushes and fetches: whole histories, long ones, many branches, after very many pushes. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { git } from "../../../test/harness/git.ts";
import { fetchCommand, lsRefsCommand, type RawCommand } from "../../../test/harness/raw-fetch.ts";
import { makeTempDir } from "../../../test/harness/temp-dir.ts";
import { count, counts, parts } from "../../options.ts";
import { type Bench, BUNDLE, defineCase, rounds, toTurns, type Turn } from "../figures/bench.ts";
import type { Measures } from "../figures/sample.ts";
import { type Host, measureClone, measureCost, measureRaw, pushNew, readMemory } from "../hosts/host.ts";
import { HOST_OPTIONS, type Hosts, listHosts, listNumbers, onEach, openHosts } from "../hosts/hosts.ts";
import { makeBranches, makeLongHistory, makeNoise, type Subject } from "../../../test/harness/fast-import.ts";
import { findTip, makeSmallPushes, openSubjects, sendSmallPush } from "../work/subjects.ts";

const NOISE_FILES = [1000, 5000];

export const core = defineCase({
  summary: "push, fetch by a raw client and clone of whole histories",
  about: `push   git push --mirror into an empty repository
fetch  the whole pack to a raw client that discards it, and git clone --mirror
noise  push and clone of one commit with ${NOISE_FILES.join(" and ")} files that do not compress to deltas`,
  options: { only: parts(["push", "fetch", "noise"]), rounds: rounds(5), bundle: BUNDLE, ...HOST_OPTIONS },
  async measure(values, bench) {
    const hosts = await openHosts(values, bench);
    const subjects = await openSubjects(values.bundle);
    for (const name of values.only) {
      if (name === "noise") {
        for (const files of NOISE_FILES)
          await bench.attempt(`${files} files`, () => measureNoise(files, values.rounds, hosts, bench));
      } else {
        const measure = name === "push" ? measurePush : measureFetch;
        for (const subject of subjects)
          await bench.attempt(`${name} ${subject.name}`, () => measure(subject, values.rounds, hosts, bench));
      }
    }
  },
});

function measurePush({ name, dir }: Subject, rounds: number, hosts: Hosts, bench: Bench): Promise<void> {
  const push = async (host: Host) => {
    const url = await host.makeRepository();
    return measureCost(host, () => git(dir, "push", "-q", "--mirror", url));
  };
  return bench.takeTurns({ work: "push", repository: name }, rounds, onEach(hosts, push));
}

/** From a repository that got everything in one push. */
async function measureFetch({ name, dir }: Subject, rounds: number, hosts: Hosts, bench: Bench): Promise<void> {
  const urls = await pushOnce(dir, hosts);
  const tips = await git(dir, "for-each-ref", "--format=%(objectname)");
  const command = fetchCommand([...new Set(tips.split("\n"))]);
  const raw = onEach(hosts, (host) => measureRaw(host, urls.get(host)!, command));
  await bench.takeTurns({ work: "fetch, raw client", repository: name }, rounds, raw);
  const clone = onEach(hosts, (host) => measureClone(host, urls.get(host)!, "--mirror"));
  await bench.takeTurns({ work: "clone --mirror", repository: name }, rounds, clone);
}

async function measureNoise(files: number, rounds: number, hosts: Hosts, bench: Bench): Promise<void> {
  const subject = await makeNoise(files);
  await measurePush(subject, rounds, hosts, bench);
  const urls = await pushOnce(subject.dir, hosts);
  const clone = onEach(hosts, (host) => measureClone(host, urls.get(host)!));
  await bench.takeTurns({ work: "clone", repository: subject.name }, rounds, clone);
}

async function pushOnce(dir: string, hosts: Hosts): Promise<ReadonlyMap<Host, string>> {
  const urls = new Map<Host, string>();
  for (const host of listHosts(hosts)) urls.set(host, await pushNew(dir, host));
  return urls;
}

/** How many of the first and of the last pushes are reported. */
const ENDS = 200;

export const fetchCase = defineCase({
  summary: "fetches of long histories, of many branches, and after many pushes",
  about: `sizes     whole clones of generated histories that differ only in their length
branches  lists and fetches of one branch and of all, in a repository with very many
pushes    small pushes on top of a history; clones before and after them, and after maintenance`,
  options: {
    only: parts(["sizes", "branches", "pushes"]),
    rounds: rounds(5),
    commits: counts("of the histories", [1000, 10_000, 100_000]),
    branches: count("how many", 5000),
    pushes: count("how many", 10_000),
    bundle: BUNDLE,
    ...HOST_OPTIONS,
  },
  async measure({ only, rounds, commits, branches, pushes, bundle, ...values }, bench) {
    const hosts = await openHosts(values, bench);
    if (only.includes("sizes")) await bench.attempt("sizes", () => measureSizes(commits, rounds, hosts, bench));
    if (only.includes("branches"))
      await bench.attempt("branches", () => measureBranches(branches, rounds, hosts, bench));
    if (!only.includes("pushes")) return;
    for (const subject of await openSubjects(bundle))
      for (const [side, measure] of Object.entries(
        onEach(hosts, (host) => measurePushes(host, subject, pushes, rounds)),
      ))
        await bench.attempt(`pushes to ${side}`, async () => {
          for (const [work, list] of await measure()) {
            const described = { work, repository: subject.name, pushes };
            list.forEach((measures, index) => bench.note(described, side, index + 1, measures));
          }
        });
  },
});

/** The first clone of each after its push, then clones of all, alternating. */
async function measureSizes(sizes: readonly number[], rounds: number, hosts: Hosts, bench: Bench): Promise<void> {
  const turns: Turn[] = [];
  for (const commits of sizes) {
    const { dir } = await makeLongHistory(commits);
    const command = fetchCommand([await git(dir, "rev-parse", "main")]);
    const urls = await pushOnce(dir, hosts);
    const sides = onEach(hosts, (host) => cloneRaw(host, urls.get(host)!, command));
    for (const [side, clone] of Object.entries(sides))
      bench.note({ work: "first clone", commits }, side, 1, await clone());
    rmSync(dir, { recursive: true });
    turns.push(...toTurns({ work: "clone", commits }, sides));
  }
  await bench.takeRounds(`clones of ${sizes.join(", ")} commits`, rounds, turns);
}

/** One clone by a raw client, with the time that the object itself spent on it, as far as the
 * server reports it. */
async function cloneRaw(host: Host, url: string, command: RawCommand): Promise<Measures> {
  host.takeEvents();
  const cost = await measureRaw(host, url, command);
  const own = host.takeEvents().filter(({ event }) => event === "fetch");
  const numbers = listNumbers(own.at(-1));
  const chosen = { "plan ms": "planMs", "rows read": "operations rowsRead", "R2 gets": "operations gets" };
  const told = Object.entries(chosen).map(([name, path]) => [name, numbers[path] ?? Number.NaN] as const);
  const heldMb = (numbers["peakBytes"] ?? Number.NaN) / 1e6;
  return { ...cost, ...Object.fromEntries(told), "held MB": heldMb, ...readMemory(host) };
}

/** Lists one ref and all refs, fetches one and all. Each fetch of one takes another branch. */
async function measureBranches(branches: number, rounds: number, hosts: Hosts, bench: Bench): Promise<void> {
  const { dir } = await makeBranches(branches);
  const tips = (await git(dir, "for-each-ref", "--format=%(objectname)", "refs/heads")).split("\n");
  const urls = await pushOnce(dir, hosts);
  let count = 0;
  const take = (work: string, run: (host: Host, url: string, turn: number) => Promise<Measures>): Turn[] => {
    const sides = onEach(hosts, (host) => run(host, urls.get(host)!, Math.floor(count++ / urls.size) % branches));
    return toTurns({ work, branches }, sides);
  };
  await bench.takeRounds(`${branches} branches`, rounds, [
    ...take("ls-refs of one", (host, url, turn) => measureRaw(host, url, lsRefsCommand(`refs/heads/branch-${turn}`))),
    ...take("ls-refs of all", (host, url) => measureRaw(host, url, lsRefsCommand())),
    ...take("fetch of one, raw client", (host, url, turn) => measureRaw(host, url, fetchCommand([tips[turn]!]))),
    ...take("clone --single-branch", (host, url, turn) =>
      measureClone(host, url, "-n", "--single-branch", "--branch", `branch-${turn}`),
    ),
    ...take("fetch of all, raw client", (host, url) => measureRaw(host, url, fetchCommand([...new Set(tips)]))),
    ...take("clone --mirror", (host, url) => measureClone(host, url, "--mirror")),
  ]);
}

/** Pushes on top of a history, the last ones after maintenance. Raw clones run in between; the
 * first of them is reported by itself.
 * @returns the measures by work */
async function measurePushes(
  host: Host,
  subject: Subject,
  pushes: number,
  rounds: number,
): Promise<Map<string, readonly Measures[]>> {
  const works = new Map<string, readonly Measures[]>();
  const cloneOften = async (state: string, url: string, oid: string): Promise<void> => {
    const command = fetchCommand([oid]);
    works.set(`first clone ${state}`, [await cloneRaw(host, url, command)]);
    const later: Measures[] = [];
    while (later.length < rounds) later.push(await cloneRaw(host, url, command));
    works.set(`clone ${state}`, later);
  };
  let tip = await findTip(subject.dir);
  const url = await pushNew(subject.dir, host);
  await cloneOften("before", url, tip);
  const times: Measures[] = [];
  for await (const push of makeSmallPushes(subject.dir, tip, pushes)) {
    const index = times.length;
    if (index === Math.max(0, pushes - ENDS)) {
      await cloneOften("after the pushes", url, tip);
      await host.maintain(url);
      await cloneOften("after maintenance", url, tip);
    }
    times.push({ ms: await sendSmallPush(url, push, index === 0) });
    tip = push.new;
    if (index % 100 === 0) process.stderr.write(`small pushes: ${index} of ${pushes}\n`);
  }
  works.set(`the first ${ENDS} pushes`, times.slice(0, ENDS));
  works.set(`the last ${ENDS} pushes`, times.slice(-ENDS));
  const mirror = join(makeTempDir("mirror"), "mirror.git");
  await git(".", "clone", "-q", "--mirror", url, mirror);
  await cloneOften("same in one push", await pushNew(mirror, host), tip);
  return works;
}
