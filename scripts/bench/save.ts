/** `node scripts/bench/save.ts`: how long saving a file takes, through `POST …/commits`. */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { askApi } from "../../test/harness/api.ts";
import setUp from "../../test/harness/build.ts";
import { git, makeRepository, tryGit } from "../../test/harness/git.ts";
import { type Server, startServer } from "../../test/harness/server.ts";

const USAGE = `Usage: node scripts/bench/save.ts [OPTIONS]

Writers save one file after the other, each save a commit of its own, and every save is timed by its client. In the end
every repository is looked at by git: whether all commits are there, and whether its objects are sound.

  --writers N     who save at the same time (default 1)
  --repos N       repositories, which the writers share out among themselves (default: one for each writer)
  --files N       files of each repository at the beginning (default 100)
  --per-folder N  entries of each folder (default 50)
  --commits N     saves of each writer (default 200)
  --warm-up N     saves of each writer before those that count (default 20)
  --no-worktree   without the copies of the files in R2 that are brought up to date behind the saves
  --csv FILE      writes every save there: writer, number, milliseconds
  --help          this text
`;

const { values } = parseArgs({
  options: {
    writers: { type: "string", default: "1" },
    repos: { type: "string" },
    files: { type: "string", default: "100" },
    "per-folder": { type: "string", default: "50" },
    commits: { type: "string", default: "200" },
    "warm-up": { type: "string", default: "20" },
    "no-worktree": { type: "boolean", default: false },
    csv: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

const AUTHOR = { name: "Ada Example", email: "ada@example.com" };

interface Sample {
  readonly writer: number;
  readonly number: number;
  readonly ms: number;
}

if (values.help) process.stdout.write(USAGE);
else await main();

async function main(): Promise<void> {
  const [writers, files, perFolder] = [Number(values.writers), Number(values.files), Number(values["per-folder"])];
  const [commits, warmUp] = [Number(values.commits), Number(values["warm-up"])];
  const repos = Number(values.repos ?? writers);
  const cleanUp = await setUp();
  const limits = values["no-worktree"] ? { maxWorktreePathBytes: 0 } : {};
  const server = await startServer({ vars: { LIMITS: JSON.stringify(limits) } });
  try {
    const source = await makeSource(files, perFolder);
    const urls = Array.from({ length: repos }, (_, i) => `${server.url}/bench/repo-${i}.git`);
    for (const url of urls) await git(source, "push", "-q", url, "main");
    const save = (from: number, count: number): Promise<Sample[]> =>
      saveAll(server, { writers, repos, files, perFolder, from, count });
    await save(0, warmUp);
    server.takeEvents();
    const startMs = performance.now();
    const startCpuSeconds = server.readUsage().cpuSeconds;
    const samples = await save(warmUp, commits);
    const cpuSeconds = server.readUsage().cpuSeconds - startCpuSeconds;
    report(server, samples, (performance.now() - startMs) / 1_000, cpuSeconds);
    await checkAll(urls, (writers / repos) * (warmUp + commits) + 1);
    if (values.csv !== undefined) {
      const lines = samples.map(({ writer, number, ms }) => `${writer},${number},${ms.toFixed(2)}`);
      writeFileSync(values.csv, `writer,number,ms\n${lines.join("\n")}\n`);
    }
  } finally {
    await server.close();
    await cleanUp();
  }
}

/** A repository of one commit with so many small files. */
async function makeSource(files: number, perFolder: number): Promise<string> {
  const dir = await makeRepository("source.git", "--bare");
  const lines = ["commit refs/heads/main\ncommitter Ada Example <ada@example.com> 1700000000 +0000\ndata 0\n"];
  for (let file = 0; file < files; file++) {
    const content = `This is file ${file}\n`;
    lines.push(`M 100644 inline ${pathOf(file, files, perFolder)}\ndata ${content.length}\n${content}\n`);
  }
  const { code, stderr } = await tryGit(dir, ["fast-import", "--quiet"], { stdin: lines.join("") });
  if (code !== 0) throw new Error(stderr);
  return dir;
}

/** Where a file lies, so that no folder has more entries than wanted. */
function pathOf(file: number, files: number, perFolder: number): string {
  const parts = [`file-${file}.txt`];
  for (let at = Math.floor(file / perFolder), left = files / perFolder; left > 1; left /= perFolder) {
    parts.unshift(`folder-${at % perFolder}`);
    at = Math.floor(at / perFolder);
  }
  return parts.join("/");
}

async function saveAll(
  server: Server,
  plan: { writers: number; repos: number; files: number; perFolder: number; from: number; count: number },
): Promise<Sample[]> {
  const samples: Sample[] = [];
  const write = async (writer: number): Promise<void> => {
    for (let number = plan.from; number < plan.from + plan.count; number++) {
      // Files all over the tree, others for each writer.
      const file = (writer * 7_919 + number * 104_729) % plan.files;
      const json = {
        branch: "main",
        message: `Save ${number} of ${writer}`,
        author: AUTHOR,
        operations: [
          {
            op: "put",
            path: pathOf(file, plan.files, plan.perFolder),
            content: `Writer ${writer}, save ${number}\n${"a line of the note\n".repeat(1 + (number % 40))}`,
          },
        ],
      };
      const path = `/repos/bench/repo-${writer % plan.repos}/commits`;
      const startMs = performance.now();
      const { status, body } = await askApi(server, path, { method: "POST", json });
      samples.push({ writer, number, ms: performance.now() - startMs });
      if (status !== 201) throw new Error(`${status}: ${JSON.stringify(body)}`);
    }
  };
  await Promise.all(Array.from({ length: plan.writers }, (_, writer) => write(writer)));
  return samples;
}

function report(server: Server, samples: readonly Sample[], seconds: number, cpuSeconds: number): void {
  const sorted = samples.map(({ ms }) => ms).sort((a, b) => a - b);
  const at = (share: number): string =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!.toFixed(1);
  const pushes = server.takeEvents().filter((event) => event.event === "push");
  const operations = pushes.reduce((sum, { operations: { puts, parts, gets } }) => sum + puts + parts + gets, 0);
  const mean = (of: (push: (typeof pushes)[number]) => number): string =>
    (pushes.reduce((sum, push) => sum + of(push), 0) / pushes.length).toFixed(1);
  console.log(
    `${samples.length} saves in ${seconds.toFixed(1)} s (${(samples.length / seconds).toFixed(0)} a second): ` +
      `p50 ${at(0.5)} ms, p90 ${at(0.9)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms; ` +
      `server CPU ${((cpuSeconds * 1_000) / samples.length).toFixed(1)} ms each, indexing ${mean(({ indexMs }) => indexMs)} ms, settling ${mean(({ settleMs }) => settleMs)} ms, ` +
      `pack ${mean(({ packBytes }) => packBytes)} bytes; R2 operations ${operations}`,
  );
}

/** @throws Error when a commit is missing or an object is not sound */
async function checkAll(urls: readonly string[], commits: number): Promise<void> {
  for (const url of urls) {
    const dir = await makeRepository("check.git", "--bare");
    await git(dir, "fetch", "-q", url, "main:main");
    await git(dir, "fsck", "--strict");
    const count = Number(await git(dir, "rev-list", "--count", "main"));
    if (count !== commits) throw new Error(`${url} has ${count} commits, not ${commits}`);
  }
  console.log(`${urls.length} repositories of ${commits} commits, sound`);
}
