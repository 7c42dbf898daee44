/** Checks that the API lists histories as git does, commit by commit and in order. */
import { git, tryGit } from "../../test/harness/git.ts";
import type { Random } from "../../test/harness/random.ts";
import { formatRows, showProgress } from "./report.ts";
import { checkServed, type ServedHistory, timed } from "./served-history.ts";

const USAGE = `Usage: node_modules/.bin/node scripts/verify/log.ts [OPTIONS] HISTORY

Pushes HISTORY (a bundle, or a repository's folder or URL), asks the API for random logs (of random commits; with and without a
path, times, an author, first parents only, renames followed; in pages of random size), and compares each with git's.
Prints what was compared and how long both took; ends with 1 if anything differs.

  --cases N     how many logs (default 200)
  --seed N      another number, other logs (default 1)
  --server URL  a Holdfast server, such as http://localhost:8787; without it one is started for the check alone
  --help        this text
`;

/** A log as both are asked for it. */
interface Case {
  readonly query: Readonly<Record<string, string>>;
  readonly args: readonly string[];
}

/** Chooses what to ask of a commit. */
async function choose(dir: string, random: Random, commits: readonly string[]): Promise<Case> {
  const ref = random.pick(commits);
  const query: Record<string, string> = { ref, limit: String(random.pick([10, 30, 100])) };
  const args: string[] = [];
  const at = async (format: string) => git(dir, "log", "-1", `--format=${format}`, random.pick(commits));
  if (random.below(4) === 0) args.push(`--since=${(query["since"] = await at("%cI"))}`);
  if (random.below(4) === 0) args.push(`--until=${(query["until"] = await at("%cI"))}`);
  if (random.below(4) === 0) args.push("-F", `--author=${(query["author"] = await at(random.pick(["%an", "%ae"])))}`);
  if (random.below(4) === 0) {
    query["firstParent"] = "true";
    args.push("--first-parent");
  }
  const path = random.below(4) === 0 ? null : await choosePath(dir, random, random.pick(commits));
  if (path !== null) {
    query["path"] = path;
    if (random.below(3) === 0) {
      query["follow"] = "true";
      args.push("--follow");
    }
  }
  return { query, args: [...args, ref, "--", ...(path === null ? [] : [path])] };
}

/** A file of a commit, or a folder of it. */
async function choosePath(dir: string, random: Random, commit: string): Promise<string | null> {
  const files = (await git(dir, "ls-tree", "-r", "-z", "--name-only", commit)).split("\0").filter(Boolean);
  if (files.length === 0) return null;
  const parts = random.pick(files).split("/");
  return parts.slice(0, random.pick([parts.length, parts.length, random.below(parts.length) + 1])).join("/");
}

/** Asks for all pages. */
async function askApi(api: string, query: Case["query"]): Promise<{ oids: string[]; pages: number }> {
  const oids: string[] = [];
  let pages = 0;
  for (let cursor: string | null = null; ;) {
    const parameters = new URLSearchParams(cursor === null ? query : { ...query, cursor });
    const response = await fetch(`${api}/log?${parameters.toString()}`);
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
    const page = (await response.json()) as { commits: { oid: string }[]; nextCursor: string | null };
    oids.push(...page.commits.map(({ oid }) => oid));
    pages++;
    if (page.nextCursor === null) return { oids, pages };
    cursor = page.nextCursor;
  }
}

async function askGit(dir: string, args: readonly string[]): Promise<string[]> {
  const { code, stdout, stderr } = await tryGit(dir, ["-c", "log.mailmap=false", "log", "--format=%H", ...args]);
  if (code !== 0) throw new Error(stderr);
  return stdout.split("\n").filter(Boolean);
}

async function check({ dir, api, random, cases }: ServedHistory): Promise<number> {
  const commits = (await git(dir, "rev-list", "--all")).split("\n");
  const sum = { commits: 0, pages: 0, different: 0, gitMs: 0, apiMs: 0 };
  for (let number = 1; number <= cases; number++) {
    showProgress(`log ${number} of ${cases}`);
    const { query, args } = await choose(dir, random, commits);
    const expected = await timed(() => askGit(dir, args));
    const found = await timed(() => askApi(api, query));
    sum.commits += expected.result.length;
    sum.pages += found.result.pages;
    sum.gitMs += expected.ms;
    sum.apiMs += found.ms;
    if (found.result.oids.join() === expected.result.join()) continue;
    sum.different++;
    const first = expected.result.findIndex((oid, i) => oid !== found.result.oids[i]);
    console.error(`git log ${args.join(" ")}\n  ${JSON.stringify(query)}: differs from commit ${first} on`);
  }
  showProgress("");
  console.log(
    formatRows([
      ["logs compared", String(cases)],
      ["commits listed", String(sum.commits)],
      ["pages", String(sum.pages)],
      ["different", String(sum.different)],
      ["git", `${Math.round(sum.gitMs)} ms`],
      ["API", `${Math.round(sum.apiMs)} ms`],
    ]),
  );
  return sum.different;
}

await checkServed(USAGE, check);
