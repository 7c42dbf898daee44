/** Checks that Holdfast keeps a history as it is: pushes it, clones it, compares, and plays its last commits over one by one. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { readCommandLine } from "./command-line.ts";
import { git, listRefs, tryGit } from "../test/harness/git.ts";
import { replay } from "../test/harness/replay.ts";
import { startServer } from "../test/harness/server.ts";
import { makeTempDir } from "../test/harness/temp-dir.ts";
import { findBranch } from "./verify/fetch-history.ts";
import { compared, formatRows, type Row, showProgress } from "./verify/report.ts";

const USAGE = `Usage: node_modules/.bin/node scripts/verify-history.ts [OPTIONS] HISTORY [URL]

Pushes every ref of HISTORY (a bundle, or a repository's folder or URL), clones it as a mirror, compares all refs and runs
git fsck. Then pushes the last commits of one branch (first parents only) one by one, with a fetch after each into one old
clone, and compares how many objects came with how many were missing. Ends with 1 if anything differs.

URL is that of a Holdfast server, such as http://localhost:8787; it gets two new repositories below /verify/. Without it, a
server is started for the check alone.

  --commits N    commits to play over, or as many as there are (default 200)
  --branch NAME  their branch (default the one that HEAD names, or else the newest)
  --help         this text
`;

async function measureSeconds(act: () => Promise<unknown>): Promise<string> {
  const start = performance.now();
  await act();
  return `${((performance.now() - start) / 1000).toFixed(1)} s`;
}

async function cloneMirror(from: string): Promise<string> {
  const dir = join(makeTempDir("clone"), "clone.git");
  await git(makeTempDir("cwd"), "clone", "-q", "--mirror", from, dir);
  return dir;
}

/** What fsck prints of a repository, be it content or not: an old history may carry flaws of its own. */
async function checkObjects(dir: string): Promise<string> {
  const { code, stdout, stderr } = await tryGit(dir, ["fsck", "--full", "--no-dangling"]);
  // Which branch HEAD names is nobody's flaw.
  const lines = `${stdout}${stderr}`.split("\n").filter((line) => line !== "" && !line.startsWith("notice: HEAD "));
  return [`exit code ${code}`, ...lines.toSorted()].join("\n");
}

/** All refs in one push, and back by a mirror clone. */
async function verifyWhole(origin: string, url: string): Promise<Row[]> {
  const refs = await listRefs(origin);
  showProgress("pushing every ref");
  const pushSeconds = await measureSeconds(() => git(origin, "push", "-q", "--mirror", url));
  showProgress("cloning");
  let mirror = "";
  const cloneSeconds = await measureSeconds(async () => (mirror = await cloneMirror(url)));
  showProgress("checking the clone's objects");
  const [objects, found] = [await git(origin, "rev-list", "--objects", "--all", "--count"), await checkObjects(mirror)];
  return [
    ["push of every ref", pushSeconds, ""],
    ["mirror clone", cloneSeconds, ""],
    compared("refs of the clone", await listRefs(mirror), refs, `${refs.split("\n").length} refs`),
    compared("objects by git fsck", found, await checkObjects(origin), `${objects} objects`),
  ];
}

/** Commit after commit. */
async function verifyReplay(origin: string, branch: string, url: string, commits: number): Promise<Row[]> {
  showProgress(`pushing ${branch} up to where the replay begins`);
  const { clone, steps } = await replay({ origin, branch, url, commits });
  const sum = { pushes: 0, missing: 0, received: 0, excess: 0, pushMs: 0, fetchMs: 0 };
  for await (const { commit, missing, received, pushMs, fetchMs } of steps) {
    sum.pushes++;
    sum.missing += missing;
    sum.received += received;
    sum.pushMs += pushMs;
    sum.fetchMs += fetchMs;
    if (received > missing) {
      sum.excess++;
      console.error(`${commit}: ${received} objects came, ${missing} were missing`);
    }
    showProgress(`replay: ${sum.pushes} pushes, ${sum.received} objects received`);
  }
  const fresh = await cloneMirror(url);
  const each = (ms: number): string => `${sum.pushes} × ${Math.round(ms / Math.max(1, sum.pushes))} ms`;
  return [
    ["pushes of one commit", each(sum.pushMs), ""],
    ["fetches after each", each(sum.fetchMs), ""],
    ["objects that were missing", String(sum.missing), ""],
    ["objects received", String(sum.received), sum.excess === 0 ? "ok" : "FAILED"],
    compared("refs of the old clone", await listRefs(clone), await listRefs(fresh)),
    compared("its tip", await git(clone, "rev-parse", branch), await git(origin, "rev-parse", branch)),
    compared("its objects by git fsck", await checkObjects(clone), await checkObjects(fresh)),
  ];
}

/** @returns whether everything was as it should be */
async function verify(history: string, options: { url?: string; commits: number; branch?: string }): Promise<boolean> {
  showProgress(`reading ${history}`);
  const origin = await cloneMirror(existsSync(history) ? resolve(history) : history);
  const branch = options.branch ?? (await findBranch(origin));
  const server = options.url === undefined ? await startServer() : null;
  const base = `${(options.url ?? server!.url).replace(/\/$/, "")}/verify/${Date.now().toString(36)}`;
  try {
    const rows = await verifyWhole(origin, `${base}-whole.git`);
    rows.push(...(await verifyReplay(origin, branch, `${base}-replay.git`, options.commits)));
    showProgress("");
    console.log(formatRows(rows));
    return rows.every(([, , verdict]) => verdict !== "FAILED");
  } finally {
    await server?.close();
  }
}

const { values, positionals } = readCommandLine({
  allowPositionals: true,
  options: {
    commits: { type: "string", default: "200" },
    branch: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
// Removed with all that is made in it when this process ends.
process.env["HOLDFAST_TEST_DIR"] = makeTempDir("verify");
const [history, url] = positionals;
const commits = Number(values.commits);
if (values.help) console.log(USAGE);
else if (history === undefined || positionals.length > 2 || !Number.isInteger(commits) || commits < 0) {
  console.error(USAGE);
  process.exitCode = 2;
} else {
  const { branch } = values;
  const isSame = await verify(history, {
    commits,
    ...(url === undefined ? {} : { url }),
    ...(branch === undefined ? {} : { branch }),
  });
  process.exitCode = isSame ? 0 : 1;
}
