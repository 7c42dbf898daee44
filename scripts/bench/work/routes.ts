/** The reading routes of the API, and the git commands that give the same. */
import { authorization } from "../../../test/harness/authorization.ts";
import { tryGit } from "../../../test/harness/git.ts";
import type { Bench } from "../figures/bench.ts";
import type { Work } from "../figures/sample.ts";

/** A route, and the git command that gives the same from a local repository. */
export interface Route {
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
export interface Asked {
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
