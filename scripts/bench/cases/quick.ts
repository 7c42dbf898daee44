/** What a user does with a new repository: each step alone, and one right after the other. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { git } from "../../../test/harness/git.ts";
import { fetchCommand, sendRaw } from "../../../test/harness/raw-fetch.ts";
import { makeTempDir } from "../../../test/harness/temp-dir.ts";
import { count, counts } from "../../options.ts";
import { allOf, type Bench, defineCase } from "../figures/bench.ts";
import type { Measures } from "../figures/sample.ts";
import { type Host, inMs, measureCost } from "../hosts/host.ts";
import { apiPathOf, HOST_OPTIONS, type Hosts, makeWithoutWorktree, onEach, openHosts } from "../hosts/hosts.ts";
import { addCommit, makeNoise, noiseText, type Subject } from "../../../test/harness/fast-import.ts";
import { listRoutes, measureRoute } from "./rest.ts";

/** The measured routes. */
const ROUTES = new Set([
  "list of repositories",
  "repository",
  "branches",
  "log",
  "files",
  "all files",
  "raw file",
  "stats",
  "contributors",
]);

/** Many steps are short. This is long enough for the CPU clock to show whether a server is busy. */
const IDLE_MS = 40;

export const quick = defineCase({
  summary: "push, clone, push of a changed file, fetch, and reading by the API, by number of files",
  about: `Each file is 8 KB of noise. Worktrees are off (files are not written to the bucket one by one): a
server writes them after its answers, which would slow down the next measurement. Reading routes are
compared with the git commands that give the same from a local repository.`,
  options: {
    files: counts("files of each size", [100, 1000, 5000]),
    rounds: count("recorded rounds over all sizes, after one warm-up of the first size", 4),
    requests: count("recorded requests of each route in each round, after one warm-up", 2),
    ...HOST_OPTIONS,
  },
  async measure({ files, rounds, requests, ...values }, bench) {
    const hosts = await openHosts(values, bench);
    process.stderr.write(`making ${files.join()} files\n`);
    const sizes = await Promise.all(files.map(makeSize));
    process.stderr.write("warm-up\n");
    await bench.attempt("warm-up", () => measureJourneys(sizes[0]!, 0, hosts, bench));
    // Each round covers all sizes, so that every figure is spread over the whole run.
    for (let round = 1; round <= rounds; round++) {
      for (const size of sizes) {
        const name = `round ${round} of ${rounds}, ${size.files} files`;
        process.stderr.write(`${name}\n`);
        await bench.attempt(name, async () => {
          const url = await measureJourneys(size, round, hosts, bench);
          const asked = { origin: new URL(url).origin, dir: hosts.native === null ? null : size.pushed };
          for (const route of listRoutes(apiPathOf(url), size.file)) {
            const work = { work: route.name, files: size.files };
            if (ROUTES.has(route.name)) await measureRoute(route, asked, { work, round, requests, bench });
          }
        });
      }
    }
    process.stderr.write(`took ${(performance.now() / 1000).toFixed(0)} s, the build included\n`);
  },
});

/** A repository of one size: what is pushed first, and what after it. */
interface Size {
  readonly files: number;
  /** Has the branches `main`, which is pushed first, and `next`, which is then pushed to `main`. */
  readonly subject: Subject;
  /** A local repository with the latest push, which git reads as the server does. */
  readonly pushed: string;
  /** The path of one of its files. */
  readonly file: string;
}

async function makeSize(files: number): Promise<Size> {
  const subject = await makeNoise(files);
  const [file = ""] = (await git(subject.dir, "ls-tree", "-r", "--name-only", "main")).split("\n");
  await addCommit(subject, "next", file, noiseText("next"));
  const pushed = join(makeTempDir("pushed"), "pushed.git");
  await git(".", "clone", "-q", "--bare", "--single-branch", "--branch", "next", subject.dir, pushed);
  await git(pushed, "branch", "-q", "-m", "main");
  return { files, subject, pushed, file };
}

/** What one host did, by work. */
type Works = (readonly [work: string, measures: Measures])[];

/** Runs some works on each host and keeps the figures. */
async function noteWorks(
  { files }: Size,
  round: number,
  hosts: Hosts,
  bench: Bench,
  run: (host: Host) => Promise<Works>,
): Promise<void> {
  for (const [side, take] of Object.entries(onEach(hosts, run))) {
    for (const [work, measures] of await take()) bench.note({ work, files }, side, round, measures);
  }
}

/** Runs all steps on each host, with a new repository.
 * @returns the URL of Holdfast's */
async function measureJourneys(size: Size, round: number, hosts: Hosts, bench: Bench): Promise<string> {
  let url = "";
  await noteWorks(size, round, hosts, bench, async (host) => {
    url = await host.makeRepository();
    if (host === hosts.holdfast) await makeWithoutWorktree(url);
    return takeJourney(size.subject, host, url);
  });
  return url;
}

async function takeJourney({ dir }: Subject, host: Host, url: string): Promise<Works> {
  const clone = join(makeTempDir("clone"), "clone");
  const works: Works = [];
  const take = async (work: string, run: () => Promise<unknown>): Promise<void> => {
    // After the previous measurement the host is idle already.
    works.push([work, inMs(await measureCost(host, run, { idleMs: IDLE_MS, isIdle: works.length > 0 }))]);
  };
  await take("push", () => git(dir, "push", "-q", url, "main"));
  await take("clone", () => git(dir, "clone", "-q", url, clone));
  await take("incremental push", () => git(dir, "push", "-q", url, "next:main"));
  await take("fetch", () => git(clone, "fetch", "-q"));
  await checkFetched(dir, clone, url);
  rmSync(clone, { recursive: true });
  return works;
}

/** @throws Error if a clone does not have the last push */
async function checkFetched(dir: string, clone: string, url: string): Promise<void> {
  const pushed = await git(dir, "rev-parse", "next");
  const fetched = await git(clone, "rev-parse", "origin/main");
  if (fetched !== pushed) throw new Error(`${pushed} was pushed to ${url}, but ${fetched} was fetched`);
}

/** Clients of the storm. */
const CLONES = 20;

/** How many repositories get a first push in a row, and the files of each (1.6 MB). */
const FIRST_PUSHES = 60;
const FIRST_PUSH_FILES = 200;

export const follow = defineCase({
  summary: "steps without a pause: pushes, a fetch, a clone, a storm, first pushes",
  about: `Without pauses: a push, a push of one changed file, its fetch by a clone that has the first push, a
clone; a push and ${CLONES} shallow clones by clients that discard what arrives; ${FIRST_PUSHES} first
pushes of ${FIRST_PUSH_FILES} files. Files are written to the bucket, as by default. The CPU of each
step is what the server used until its answer, including jobs. "all four, and what follows" runs
until all jobs are done.`,
  options: {
    files: counts("files of each size", [100, 1000, 5000]),
    rounds: count("recorded rounds over all sizes, after one warm-up", 4),
    ...HOST_OPTIONS,
  },
  async measure({ files, rounds, ...values }, bench) {
    const hosts = await openHosts(values, bench);
    const small = await makeSize(FIRST_PUSH_FILES);
    const sizes = await Promise.all(files.map(makeSize));
    const takeAll = ({ subject }: Size) => {
      return async (host: Host): Promise<Works> => [
        ...(await doAfterEachOther(subject, host)),
        ...(await pushAndStorm(subject, host)),
      ];
    };
    await bench.attempt("warm-up", () => noteWorks(small, 0, hosts, bench, takeAll(small)));
    for (let round = 1; round <= rounds; round++) {
      const name = `round ${round} of ${rounds}`;
      process.stderr.write(`${name}\n`);
      for (const size of sizes)
        await bench.attempt(`${size.files} files, ${name}`, () => noteWorks(size, round, hosts, bench, takeAll(size)));
      const pushAll = (host: Host): Promise<Works> => pushFirst(small.subject, host);
      await bench.attempt(`first pushes, ${name}`, () => noteWorks(small, round, hosts, bench, pushAll));
    }
  },
});

async function pushFirst({ dir }: Subject, host: Host): Promise<Works> {
  const urls = await Array.fromAsync({ length: FIRST_PUSHES }, () => host.makeRepository());
  const pushes = await measure(host, async () => {
    for (const url of urls) await git(dir, "push", "-q", url, "main");
  });
  await allOf(urls.map((url) => host.rest(url)));
  return [[`${FIRST_PUSHES} first pushes`, pushes]];
}

async function doAfterEachOther({ dir }: Subject, host: Host): Promise<Works> {
  const url = await host.makeRepository();
  const folder = makeTempDir("follow");
  const [behind, clone] = [join(folder, "behind"), join(folder, "clone")];
  await git(".", "clone", "-q", "--single-branch", "--branch", "main", dir, behind);
  await git(behind, "remote", "set-url", "origin", url);
  const before = host.readCpuSeconds();
  const works: Works = [
    ["push", await measure(host, () => git(dir, "push", "-q", url, "main"))],
    ["incremental push", await measure(host, () => git(dir, "push", "-q", url, "next:main"))],
    ["fetch", await measure(host, () => git(behind, "fetch", "-q"))],
    ["clone", await measure(host, () => git(".", "clone", "-q", url, clone))],
  ];
  await host.rest(url);
  works.push(["all four, and what follows", { "server CPU ms": (host.readCpuSeconds() - before) * 1000 }]);
  for (const one of [behind, clone]) await checkFetched(dir, one, url);
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

/** Measures a piece of work alone, without the host's work after its answer. */
async function measure(host: Host, work: () => Promise<unknown>): Promise<Measures> {
  const before = host.readCpuSeconds();
  const start = performance.now();
  await work();
  return { "wall ms": performance.now() - start, "server CPU ms": (host.readCpuSeconds() - before) * 1000 };
}
