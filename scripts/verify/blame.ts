/** Checks that the API tells of every line of a file what git does: commit, line number and file name there. */
import { git, tryGit } from "../../test/harness/git.ts";
import { formatRows, showProgress } from "./report.ts";
import { checkServed, type ServedHistory, timed } from "./served-history.ts";

const USAGE = `Usage: node_modules/.bin/node scripts/verify/blame.ts [OPTIONS] HISTORY

Pushes HISTORY (a bundle, or a repository's folder or URL), asks the API who brought the lines of random files of random commits,
and compares each line with git's answer. Binary files are left out; where the time was over before all was found, the API is asked
again. Prints what was compared and how long both took; ends with 1
if anything differs.

  --cases N     how many files (default 200)
  --seed N      another number, other files (default 1)
  --server URL  a Holdfast server, such as http://localhost:8787; without it one is started for the check alone
  --help        this text
`;

interface Answer {
  readonly truncated: boolean;
  readonly ranges: {
    start: number;
    count: number;
    commit: string | null;
    originalStart: number;
    originalPath: string;
  }[];
}

/** Every line as "commit line path". */
type Lines = string[];

/** What trees held is remembered, so that each time it comes further. */
const MAX_ATTEMPTS = 10;

/** @returns null of a binary file */
async function askApi(api: string, commit: string, path: string): Promise<{ lines: Lines; attempts: number } | null> {
  const encoded = path.split("/").map(encodeURIComponent).join("/");
  for (let attempts = 1; ; attempts++) {
    const response = await fetch(`${api}/blame/${commit}/${encoded}`);
    const text = await response.text();
    if (response.status === 422 && text.includes("binary")) return null;
    if (response.status !== 200) throw new Error(`${response.status} ${text}`);
    const { truncated, ranges } = JSON.parse(text) as Answer;
    if (truncated && attempts < MAX_ATTEMPTS) continue;
    const lines = ranges.flatMap(({ count, commit: brought, originalStart, originalPath }) =>
      Array.from({ length: count }, (_, i) => `${brought} ${originalStart + i} ${originalPath}`),
    );
    return { lines, attempts };
  }
}

/** @see git-blame(1), "The porcelain format" */
async function askGit(dir: string, commit: string, path: string): Promise<Lines> {
  const { code, stdout, stderr } = await tryGit(dir, [
    "-c",
    "core.quotePath=false",
    "blame",
    "--porcelain",
    commit,
    "--",
    path,
  ]);
  if (code !== 0) throw new Error(stderr);
  const lines: Lines = [];
  const paths = new Map<string, string>();
  let head: string[] = [];
  for (const line of stdout.split("\n")) {
    if (line.startsWith("\t")) lines.push(`${head[0]} ${head[1]} ${paths.get(head[0]!)}`);
    else if (line.startsWith("filename ")) paths.set(head[0]!, line.slice("filename ".length));
    else if (/^[0-9a-f]{40} \d/.test(line)) head = line.split(" ");
  }
  return lines;
}

/** A file of a commit; links and submodules are left out. */
async function listFiles(dir: string, commit: string): Promise<string[]> {
  const entries = (await git(dir, "ls-tree", "-r", "-z", commit))
    .split("\0")
    .filter((entry) => entry.startsWith("100"));
  return entries.map((entry) => entry.slice(entry.indexOf("\t") + 1));
}

async function check({ dir, api, random, cases }: ServedHistory): Promise<number> {
  const commits = (await git(dir, "rev-list", "--all")).split("\n");
  const sum = { files: 0, lines: 0, again: 0, renamed: 0, different: 0, gitMs: 0, apiMs: 0 };
  while (sum.files < cases) {
    showProgress(`file ${sum.files + 1} of ${cases}`);
    const commit = random.pick(commits);
    const files = await listFiles(dir, commit);
    if (files.length === 0) continue;
    const path = random.pick(files);
    const found = await timed(() => askApi(api, commit, path));
    if (found.result === null) continue;
    const { lines, attempts } = found.result;
    sum.again += attempts - 1;
    const expected = await timed(() => askGit(dir, commit, path));
    sum.files++;
    sum.lines += expected.result.length;
    sum.renamed += Number(expected.result.some((line) => !line.endsWith(` ${path}`)));
    sum.gitMs += expected.ms;
    sum.apiMs += found.ms;
    const first = expected.result.findIndex((line, i) => line !== lines[i]);
    if (first === -1 && lines.length === expected.result.length) continue;
    sum.different++;
    console.error(`${commit} ${path}: line ${first + 1} is\n  ${expected.result[first]}\nand not\n  ${lines[first]}`);
  }
  showProgress("");
  console.log(
    formatRows([
      ["files compared", String(sum.files)],
      ["lines", String(sum.lines)],
      ["files renamed in their history", String(sum.renamed)],
      ["asked again, as the time was over", String(sum.again)],
      ["different", String(sum.different)],
      ["git", `${Math.round(sum.gitMs)} ms`],
      ["API", `${Math.round(sum.apiMs)} ms`],
    ]),
  );
  return sum.different;
}

await checkServed(USAGE, check);
