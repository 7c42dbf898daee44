/** `npm run bench:rest`: what reading by the REST API takes, by number of files and of commits. */
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { parseArgs, promisify } from "node:util";
import { git, gitEnv } from "../../test/harness/git.ts";
import { startServer } from "../../test/harness/server.ts";
import { formatRows } from "../verify/report.ts";
import { makeLongHistory, makeNoise, type Subject } from "./work/subjects.ts";
import { median } from "./figures/summary.ts";

const USAGE = `Usage: npm run bench:rest -- [OPTIONS]

Pushes repositories of several sizes and asks each reading route of the API again and again. Prints, in milliseconds, the first answer
after the server was started anew, the median of the others, and the median of the git command that tells the same from a local
repository, where there is one.

  --files N    files of ~8 KB in a repository of one commit; may be repeated (default 100, 1000, 5000)
  --commits N  commits in a repository of 40 files; may be repeated (default 100, 1000, 10000)
  --rounds N   requests of each route after the first (default 20)
  --url URL    a Holdfast server that runs already; it gets repositories below /bench/, and its first answers are not told
  --csv FILE   writes the figures there too, with the values of every round
  --help       this text
`;

const run = promisify(execFile);

/** A route, and the git command that tells the same. */
interface Route {
  readonly name: string;
  readonly path: string;
  readonly git: readonly string[] | null;
}

/** The routes that read a repository. @param file one of its files */
function listRoutes(repository: string, file: string): Route[] {
  const base = `/repos/${repository}`;
  const dir = file.split("/")[0]!;
  return [
    { name: "list of repositories", path: "/repos", git: null },
    { name: "repository", path: base, git: null },
    { name: "branches", path: `${base}/branches`, git: ["for-each-ref", "refs/heads"] },
    { name: "log", path: `${base}/log`, git: ["log", "-30", "main"] },
    { name: "log of a file", path: `${base}/log?path=${file}`, git: ["log", "-30", "main", "--", file] },
    { name: "files", path: `${base}/files?ref=main&path=${dir}`, git: ["ls-tree", "-l", "main", `${dir}/`] },
    {
      name: "files with last commits",
      path: `${base}/files?ref=main&path=${dir}&lastCommit=true`,
      git: null,
    },
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

/** What asking one route came to: ms. */
interface Timing {
  readonly subject: string;
  readonly route: string;
  readonly first: number;
  readonly samples: readonly number[];
  readonly git: readonly number[];
}

async function timeRequest(url: string): Promise<number> {
  const startMs = performance.now();
  const response = await fetch(url);
  const body = await response.text();
  if (!response.ok) throw new Error(`${url}: ${response.status} ${body.slice(0, 300)}`);
  return performance.now() - startMs;
}

async function timeGit(dir: string, args: readonly string[]): Promise<number> {
  const startMs = performance.now();
  await run("git", [...args], { cwd: dir, env: gitEnv(), maxBuffer: 2 ** 30 }).catch((error: { code?: unknown }) => {
    // Nothing found.
    if (args[0] !== "grep" || error.code !== 1) throw error;
  });
  return performance.now() - startMs;
}

async function measure(
  subject: Subject,
  server: { url: string; restart?: () => Promise<void> },
  rounds: number,
): Promise<Timing[]> {
  const repository = `bench/${subject.name.replaceAll(" ", "-")}-${process.pid}`;
  await git(subject.dir, "push", "-q", `${server.url}/${repository}.git`, "main");
  const [file] = (await git(subject.dir, "ls-tree", "-r", "--name-only", "main")).split("\n");
  const timings: Timing[] = [];
  for (const route of listRoutes(repository, file!)) {
    process.stderr.write(`${subject.name}: ${route.name}\n`);
    const url = `${server.url}/api${route.path}`;
    const hasParent = (await git(subject.dir, "rev-list", "-2", "main")).includes("\n");
    if (!hasParent && route.name === "compare") continue;
    await server.restart?.();
    const first = await timeRequest(url);
    const samples: number[] = [];
    const gitSamples: number[] = [];
    for (let round = 0; round < rounds; round++) {
      samples.push(await timeRequest(url));
      if (route.git !== null && round < 5) gitSamples.push(await timeGit(subject.dir, route.git));
    }
    timings.push({ subject: subject.name, route: route.name, first, samples, git: gitSamples });
  }
  return timings;
}

const { values } = parseArgs({
  options: {
    files: { type: "string", multiple: true, default: ["100", "1000", "5000"] },
    commits: { type: "string", multiple: true, default: ["100", "1000", "10000"] },
    rounds: { type: "string", default: "20" },
    url: { type: "string" },
    csv: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

if (values.help) {
  process.stdout.write(USAGE);
} else {
  const started = values.url === undefined ? await startServer() : null;
  try {
    const timings: Timing[] = [];
    const makers = [
      ...values.files.map((count) => () => makeNoise(Number(count))),
      ...values.commits.map((count) => () => makeLongHistory(Number(count))),
    ];
    for (const make of makers) {
      timings.push(...(await measure(await make(), started ?? { url: values.url! }, Number(values.rounds))));
    }
    const format = (ms: number): string => (Number.isFinite(ms) ? ms.toFixed(1) : "–");
    const rows = timings.map(({ subject, route, first, samples, git: gitSamples }) => [
      subject,
      route,
      started === null ? "–" : format(first),
      format(median(samples)),
      format(gitSamples.length === 0 ? Number.NaN : median(gitSamples)),
    ]);
    const heads = ["repository", "route", "first", "median", "git"];
    process.stdout.write(`${formatRows([heads, ...rows], [2, 3, 4])}\n`);
    if (values.csv !== undefined) {
      const lines = timings.map(({ subject, route, first, samples }) => [subject, route, first, ...samples].join(","));
      writeFileSync(values.csv, `repository,route,first,samples\n${lines.join("\n")}\n`);
    }
  } finally {
    await started?.close();
  }
}
