/** What one does with a new repository, in under two minutes. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { git } from "../../../test/harness/git.ts";
import { makeTempDir } from "../../../test/harness/temp-dir.ts";
import type { Bench } from "../figures/bench.ts";
import { count, counts, defineCase } from "../figures/command.ts";
import type { Measures } from "../figures/sample.ts";
import { inMs, measureCost } from "../hosts/cost.ts";
import { apiPathOf, makeWithoutWorktree } from "../hosts/holdfast.ts";
import type { Host } from "../hosts/host.ts";
import { HOST_OPTIONS, type Hosts, onEach, openHosts } from "../hosts/hosts.ts";
import { listRoutes, measureRoute } from "../work/routes.ts";
import { addCommit, makeNoise, noiseText, type Subject } from "../work/subjects.ts";

/** Of the routes, those that are asked here. */
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

/** There are many short works: this is long enough for the CPU clock to show whether a server is busy. */
const IDLE_MS = 40;

export const quick = defineCase({
  summary: "push, clone, push of a changed file, fetch, and reading by the API, by number of files",
  about: `Files are of 8 KB of noise. They are not put into the bucket one by one (worktrees): a server does that
behind its answers, and what is measured next would be slower for it. Reading is beside the git commands
that tell the same from a local repository.`,
  options: {
    files: counts("how many, in each size", [100, 1000, 5000]),
    rounds: count("recorded rounds over all sizes, after one of the first size to warm up", 4),
    requests: count("recorded requests of each route in each round, after one to warm up", 2),
    ...HOST_OPTIONS,
  },
  async measure({ files, rounds, requests, ...values }, bench) {
    const hosts = await openHosts(values, bench);
    process.stderr.write(`making ${files.join()} files\n`);
    const sizes = await Promise.all(files.map(makeSize));
    process.stderr.write("warm-up\n");
    await bench.attempt("warm-up", () => measureJourneys(sizes[0]!, 0, hosts, bench));
    // Rounds go over all sizes, so that each figure has met all minutes of the run.
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

/** What is pushed, and what it is then. */
export interface Size {
  readonly files: number;
  /** With branches `main`, which is pushed, and `next`, which is pushed to `main` then. */
  readonly subject: Subject;
  /** A repository that holds what was pushed last, for git to tell of it as the server does. */
  readonly pushed: string;
  /** One of its files. */
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

/** What one host did, by works. */
export type Works = (readonly [work: string, measures: Measures])[];

/** Has each host do some works, and keeps what they took. */
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

/** Has each host take the journey, with a new repository.
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
    // What was taken before has left the host idle.
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

/** @throws Error if a clone has not what was pushed last */
export async function checkFetched(dir: string, clone: string, url: string): Promise<void> {
  const pushed = await git(dir, "rev-parse", "next");
  const fetched = await git(clone, "rev-parse", "origin/main");
  if (fetched !== pushed) throw new Error(`${pushed} was pushed to ${url}, and ${fetched} came back`);
}
