/** Checks that archives, listings and searches of commits are those of git. */
import { gunzipSync } from "node:zlib";
import { git, tryGit } from "../../test/harness/git.ts";
import type { Random } from "../../test/harness/random.ts";
import { listZip } from "../../test/harness/zip-entries.ts";
import { formatRows, showProgress } from "./report.ts";
import { checkServed, type ServedHistory, timed } from "./served-history.ts";

const USAGE = `Usage: node_modules/.bin/node scripts/verify/archive.ts [OPTIONS] HISTORY

Pushes HISTORY (a bundle, or a repository's folder or URL), and asks the API about random commits: a tar, which must be git archive's
to the byte, the same compressed, a ZIP with the same entries, all files as git ls-tree -r -l lists them, one directory with the last commit
of each entry as git log -1 tells it, and a search for a random pattern, as git grep -n -E finds it.
Prints what was compared and how long both took; ends with 1 if anything differs.

  --cases N     how many commits (default 200)
  --seed N      another number, other commits (default 1)
  --server URL  a Holdfast server, such as http://localhost:8787; without it one is started for the check alone
  --help        this text
`;

/** Entries of a directory whose last commits are compared: git takes a process for each. */
const LAST_COMMITS = 3;

/** Matches of one search: a pattern that has more is compared up to there. */
const MATCHES = 3_000;

/** Milliseconds that the API and git took. */
type Times = Record<string, { api: number; git: number }>;

interface Page<Item> {
  readonly nextCursor: string | null;
  readonly files?: Item[];
  readonly matches?: Item[];
}

interface File {
  readonly path: string;
  readonly mode: string;
  readonly oid: string;
  readonly size: number | null;
}

async function read(url: string): Promise<Buffer> {
  const response = await fetch(url);
  const bytes = Buffer.from(await response.arrayBuffer());
  if (response.status !== 200) throw new Error(`${url}: ${response.status} ${bytes.toString().slice(0, 300)}`);
  return bytes;
}

async function readPages<Item>(url: string, name: "files" | "matches", most = Infinity): Promise<Item[]> {
  const items: Item[] = [];
  for (let cursor = ""; ;) {
    const page = JSON.parse((await read(url + cursor)).toString()) as Page<Item>;
    items.push(...page[name]!);
    if (page.nextCursor === null || items.length >= most) return items;
    cursor = `&cursor=${page.nextCursor}`;
  }
}

/** Asks both and notes how long each took. */
async function askBoth<A, B>(
  times: Times,
  what: string,
  api: () => Promise<A>,
  native: () => Promise<B>,
): Promise<[A, B]> {
  const [ours, theirs] = [await timed(api), await timed(native)];
  const sum = (times[what] ??= { api: 0, git: 0 });
  sum.api += ours.ms;
  sum.git += theirs.ms;
  return [ours.result, theirs.result];
}

async function compareArchives({ dir, api }: ServedHistory, commit: string, times: Times): Promise<string[]> {
  const archive = async (format: string): Promise<Buffer> =>
    (await tryGit(dir, ["archive", `--format=${format}`, "--prefix=some/where/", commit])).stdoutBytes;
  const url = (format: string): string => `${api}/archive/${commit}.${format}?prefix=some/where/`;
  const [tar, gitTar] = await askBoth(
    times,
    "tar",
    () => read(url("tar")),
    () => archive("tar"),
  );
  const [gz] = await askBoth(
    times,
    "tar.gz",
    () => read(url("tar.gz")),
    () => archive("tar.gz"),
  );
  const [zip, gitZip] = await askBoth(
    times,
    "zip",
    () => read(url("zip")),
    () => archive("zip"),
  );
  const wrong: string[] = [];
  if (!tar.equals(gitTar)) wrong.push("tar");
  if (!gunzipSync(gz).equals(gitTar)) wrong.push("tar.gz");
  if ((await listZip(zip)).join("\n") !== (await listZip(gitZip)).join("\n")) wrong.push("zip");
  return wrong;
}

/** @returns what is wrong, and the paths of all files */
async function compareFiles(
  { dir, api }: ServedHistory,
  commit: string,
  times: Times,
): Promise<{ wrong: string[]; paths: string[] }> {
  const list = async (): Promise<string> => (await tryGit(dir, ["ls-tree", "-r", "-l", "-z", commit])).stdout;
  const url = `${api}/files/all?ref=${commit}`;
  const [files, listed] = await askBoth(times, "files/all", () => readPages<File>(url, "files"), list);
  const lines = files.map(({ path, mode, oid, size }) => `${mode} ${oid} ${size ?? "-"}\t${path}`);
  const expected = listed
    .split("\0")
    .filter((line) => line !== "")
    .map((line) => line.replace(/^(\d+) \w+ (\w+) +/, "$1 $2 "));
  const isSame = lines.join("\0") === expected.join("\0");
  return { wrong: isSame ? [] : ["files/all"], paths: files.map(({ path }) => path) };
}

async function compareLastCommits(
  { dir, api, random }: ServedHistory,
  commit: string,
  paths: readonly string[],
  times: Times,
): Promise<string[]> {
  const path = random.pick(paths);
  const folder = random.below(2) === 0 ? "" : path.slice(0, Math.max(0, path.lastIndexOf("/")));
  const url = `${api}/files?ref=${commit}&lastCommit=true&path=${encodeURIComponent(folder)}`;
  const { result, ms } = await timed(() => read(url));
  (times["files?lastCommit"] ??= { api: 0, git: 0 }).api += ms;
  const { entries } = JSON.parse(result.toString()) as { entries: { path: string; lastCommit: string | null }[] };
  const wrong: string[] = [];
  for (const entry of random.shuffled(entries).slice(0, LAST_COMMITS)) {
    const last = await timed(() => git(dir, "log", "-1", "--format=%H", commit, "--", `:(literal)${entry.path}`));
    times["files?lastCommit"]!.git += last.ms;
    // On a busy machine the API may have run out of time, and says so.
    if (entry.lastCommit !== null && entry.lastCommit !== last.result)
      wrong.push(`last commit of ${entry.path} (${entry.lastCommit})`);
  }
  return wrong;
}

/** A pattern that means the same to RE2 and to POSIX, and is likely to match something. */
function makePattern(random: Random, text: string): string {
  const words = text.match(/[A-Za-z_]{3,}/g) ?? ["nothing"];
  const [one, other] = [random.pick(words), random.pick(words)];
  return random.pick([
    one,
    `${one}[a-z]+`,
    `^ *${one}`,
    `(${one}|${other})$`,
    `${one}.*${other}`,
    `[^a-z]${one}[^a-z]`,
  ]);
}

async function compareSearch(
  { dir, api, random }: ServedHistory,
  commit: string,
  paths: readonly string[],
  times: Times,
): Promise<string[]> {
  const { stdout: text } = await tryGit(dir, ["cat-file", "blob", `${commit}:${random.pick(paths)}`]);
  const pattern = makePattern(random, text.slice(0, 100_000));
  const flags = random.pick([[], ["-i"], ["-w"]]);
  const options = `${flags[0] === "-i" ? "&ignoreCase=true" : ""}${flags[0] === "-w" ? "&word=true" : ""}`;
  const url = `${api}/grep?ref=${commit}&limit=1000${options}&pattern=${encodeURIComponent(pattern)}`;
  const [matches, found] = await askBoth(
    times,
    "grep",
    () => readPages<{ path: string; line: number }>(url, "matches", MATCHES),
    async () => (await tryGit(dir, ["grep", "-I", "-n", "-z", "-E", ...flags, "-e", pattern, commit])).stdout,
  );
  const places = Array.from(found.matchAll(/^[0-9a-f]+:([^\0]*)\0(\d+)\0/gm), ([, path, line]) => `${path}:${line}`);
  const ours = matches.map(({ path, line }) => `${path}:${line}`);
  const expected = matches.length >= MATCHES ? places.slice(0, ours.length) : places;
  return ours.join("\n") === expected.join("\n") ? [] : [`search for ${pattern} ${flags.join()}`];
}

async function check(history: ServedHistory): Promise<number> {
  const { dir, random, cases } = history;
  const commits = random.shuffled((await git(dir, "rev-list", "--all")).split("\n")).slice(0, cases);
  const times: Times = {};
  let different = 0;
  for (const [i, commit] of commits.entries()) {
    showProgress(`commit ${i + 1} of ${commits.length}`);
    const { wrong, paths } = await compareFiles(history, commit, times);
    wrong.push(...(await compareArchives(history, commit, times)));
    if (paths.length > 0) {
      wrong.push(...(await compareLastCommits(history, commit, paths, times)));
      wrong.push(...(await compareSearch(history, commit, paths, times)));
    }
    if (wrong.length === 0) continue;
    different += 1;
    console.error(`${commit}: ${wrong.join(", ")}`);
  }
  showProgress("");
  const rows = Object.entries(times).map(([what, { api, git: native }]) => {
    const per = (ms: number): string => `${(ms / commits.length).toFixed(1)} ms`;
    return [what, per(api), per(native)];
  });
  console.log(formatRows([["", "API", "git"], ...rows], [1, 2]));
  console.log(`${commits.length} commits compared, ${different} differ`);
  return different;
}

await checkServed(USAGE, check);
