/** Times of the REST API's reading routes, by number of files and of commits. */
import { authorization } from "../../../test/harness/authorization.ts";
import { git, tryGit } from "../../../test/harness/git.ts";
import { count, counts } from "../../options.ts";
import { type Bench, defineCase } from "../figures/bench.ts";
import type { Work } from "../figures/sample.ts";
import type { Host } from "../hosts/host.ts";
import { apiPathOf, HOST_OPTIONS, openHosts } from "../hosts/hosts.ts";
import { makeLongHistory, makeNoise, type Subject } from "../../../test/harness/fast-import.ts";

/** Files in the repository with many commits. */
const FILES = 40;

export const rest = defineCase({
  summary: "every reading route of the API, beside the git command that gives the same",
  about: `Git reads a local repository; its start is included. "first ms" is the first answer after a start of
the server. The benchmark restarts its own server for each route and each round, because no two
processes are equally fast.`,
  options: {
    files: counts("files of 8 KB in a repository of one commit", [100, 1000, 5000]),
    commits: counts(`commits in a repository of ${FILES} files`, [100, 1000, 10_000]),
    rounds: count("over all routes", 5),
    requests: count("recorded requests of each route in each round, after one warm-up", 4),
    ...HOST_OPTIONS,
  },
  async measure({ files, commits, rounds, requests, ...values }, bench) {
    // Git reads local repositories here: it needs no host.
    const { holdfast: host } = await openHosts({ ...values, "no-native": true }, bench);
    const routes: AskedRoute[] = [];
    for (const size of files) routes.push(...(await push(await makeNoise(size), [size, 1], host)));
    for (const size of commits) routes.push(...(await push(await makeLongHistory(size), [FILES, size], host)));
    const { restart } = host;
    for (const { route, asked, work } of restart === undefined ? [] : routes) {
      await bench.attempt(Object.values(work).join(), async () => {
        await restart!();
        bench.note(work, "holdfast", 1, { "first ms": await timeRequest(`${asked.origin}/api${route.path}`) });
      });
    }
    for (let round = 1; round <= rounds; round++) {
      process.stderr.write(`round ${round} of ${rounds}\n`);
      await restart?.();
      for (const { route, asked, work } of routes) {
        const side = values["no-native"] ? { ...asked, dir: null } : asked;
        await bench.attempt(route.name, () => measureRoute(route, side, { work, round, requests, bench }));
      }
    }
  },
});

/** A route of one repository. */
interface AskedRoute {
  readonly route: Route;
  readonly asked: Asked;
  readonly work: { readonly route: string; readonly files: number; readonly commits: number };
}

async function push(subject: Subject, size: readonly [number, number], host: Host): Promise<AskedRoute[]> {
  const { name, dir } = subject;
  const [files, commits] = size;
  process.stderr.write(`pushing ${name}\n`);
  const url = await host.makeRepository();
  await git(dir, "push", "-q", url, "main");
  const [file = ""] = (await git(dir, "ls-tree", "-r", "--name-only", "main")).split("\n");
  const asked = { origin: new URL(url).origin, dir };
  return (
    listRoutes(apiPathOf(url), file)
      // With one commit there is nothing to compare.
      .filter((route) => commits > 1 || route.name !== "compare")
      .map((route) => ({ route, asked, work: { route: route.name, files, commits } }))
  );
}

/** A route, and the git command that gives the same from a local repository. */
interface Route {
  readonly name: string;
  /** Below `/api`. */
  readonly path: string;
  readonly git: readonly string[] | null;
}

/** All measured routes.
 * @param base the repository's path below `/api`
 * @param file one of its files on `main`, in a folder */
export function listRoutes(base: string, file: string): Route[] {
  const dir = file.split("/")[0]!;
  return [
    { name: "list of repositories", path: "/repos", git: null },
    { name: "repository", path: base, git: null },
    { name: "branches", path: `${base}/branches`, git: ["for-each-ref", "refs/heads"] },
    { name: "log", path: `${base}/log`, git: ["log", "-30", "main"] },
    { name: "log of a file", path: `${base}/log?path=${file}`, git: ["log", "-30", "main", "--", file] },
    { name: "files", path: `${base}/files?ref=main&path=${dir}`, git: ["ls-tree", "-l", "main", `${dir}/`] },
    { name: "files with last commits", path: `${base}/files?ref=main&path=${dir}&lastCommit=true`, git: null },
    { name: "all files", path: `${base}/files/all?ref=main`, git: ["ls-tree", "-r", "-l", "main"] },
    { name: "raw file", path: `${base}/raw/main/${file}`, git: ["show", `main:${file}`] },
    { name: "commit", path: `${base}/commits/main`, git: ["show", "--numstat", "-p", "main"] },
    { name: "compare", path: `${base}/compare/main~1...main`, git: ["diff", "main~1...main"] },
    { name: "blame", path: `${base}/blame/main/${file}`, git: ["blame", "main", "--", file] },
    { name: "grep", path: `${base}/grep?ref=main&pattern=Version%209`, git: ["grep", "-n", "Version 9", "main"] },
    { name: "stats", path: `${base}/stats`, git: null },
    { name: "languages", path: `${base}/languages`, git: null },
    { name: "contributors", path: `${base}/contributors`, git: ["shortlog", "-sne", "main"] },
    { name: "activity", path: `${base}/activity`, git: null },
  ];
}

/** Calls a route and reads the whole answer.
 * @returns milliseconds
 * @throws Error unless the status is a success */
export async function timeRequest(url: string): Promise<number> {
  const startMs = performance.now();
  const response = await fetch(url, { headers: authorization() });
  const body = await response.text();
  if (!response.ok) throw new Error(`${url}: ${response.status} ${body.slice(0, 300)}`);
  return performance.now() - startMs;
}

/** Where routes are called. */
interface Asked {
  /** The server's, without a trailing slash. */
  readonly origin: string;
  /** A local repository with the same content; null if only the API is measured. */
  readonly dir: string | null;
}

/** Calls a route several times, alternating with git, after one unrecorded time each: a round of
 * `wall ms`. */
export async function measureRoute(
  { path, git }: Route,
  { origin, dir }: Asked,
  { work, round, requests, bench }: { work: Work; round: number; requests: number; bench: Bench },
): Promise<void> {
  for (let request = 0; request <= requests; request++) {
    const native = dir === null || git === null ? Number.NaN : await timeGit(dir, git);
    const holdfast = await timeRequest(`${origin}/api${path}`);
    if (request === 0) continue;
    bench.note(work, "native", round, { "wall ms": native });
    bench.note(work, "holdfast", round, { "wall ms": holdfast });
  }
}

/** Runs the git command, including its start.
 * @returns milliseconds
 * @throws Error with git's standard error if it fails */
async function timeGit(dir: string, args: readonly string[]): Promise<number> {
  const startMs = performance.now();
  const { code, stderr } = await tryGit(dir, args);
  const tookMs = performance.now() - startMs;
  const hasFoundNothing = args[0] === "grep" && code === 1;
  if (code !== 0 && !hasFoundNothing) throw new Error(`git ${args.join(" ")} ended with ${code}:\n${stderr}`);
  return tookMs;
}
