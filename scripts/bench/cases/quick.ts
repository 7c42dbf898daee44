/** What a user does with a new repository, in under two minutes. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { git } from "../../../test/harness/git.ts";
import { makeTempDir } from "../../../test/harness/temp-dir.ts";
import { count, counts } from "../../options.ts";
import { type Bench, defineCase } from "../figures/bench.ts";
import type { Measures } from "../figures/sample.ts";
import { apiPathOf, makeWithoutWorktree } from "../hosts/holdfast.ts";
import { type Host, inMs, measureCost } from "../hosts/host.ts";
import { HOST_OPTIONS, type Hosts, onEach, openHosts } from "../hosts/hosts.ts";
import { listRoutes, measureRoute } from "../work/routes.ts";
import { addCommit, makeNoise, noiseText, type Subject } from "../work/subjects.ts";

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
export interface Size {
  readonly files: number;
  /** Has the branches `main`, which is pushed first, and `next`, which is then pushed to `main`. */
  readonly subject: Subject;
  /** A local repository with the latest push, which git reads as the server does. */
  readonly pushed: string;
  /** The path of one of its files. */
  readonly file: string;
}

export async function makeSize(files: number): Promise<Size> {
  const subject = await makeNoise(files);
  const [file = ""] = (await git(subject.dir, "ls-tree", "-r", "--name-only", "main")).split("\n");
  await addCommit(subject, "next", file, noiseText("next"));
  const pushed = join(makeTempDir("pushed"), "pushed.git");
  await git(".", "clone", "-q", "--bare", "--single-branch", "--branch", "next", subject.dir, pushed);
  await git(pushed, "branch", "-q", "-m", "main");
  return { files, subject, pushed, file };
}

/** What one host did, by work. */
export type Works = (readonly [work: string, measures: Measures])[];

/** Runs some works on each host and keeps the figures. */
export async function noteWorks(
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
export async function checkFetched(dir: string, clone: string, url: string): Promise<void> {
  const pushed = await git(dir, "rev-parse", "next");
  const fetched = await git(clone, "rev-parse", "origin/main");
  if (fetched !== pushed) throw new Error(`${pushed} was pushed to ${url}, but ${fetched} was fetched`);
}
