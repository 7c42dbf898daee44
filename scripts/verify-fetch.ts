/** Checks what clients of every kind get: cut, deepened and partial clones, beside the same clients of git's own server. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { readCommandLine } from "./command-line.ts";
import { git } from "../test/harness/git.ts";
import { startNative } from "../test/harness/native.ts";
import { startServer } from "../test/harness/server.ts";
import { makeTempDir } from "../test/harness/temp-dir.ts";
import { type FetchCase, listCases } from "./verify/fetch-cases.ts";
import { type FetchHistory, makeFetchHistory } from "./verify/fetch-history.ts";
import { type CaseResult, type Pair, PairedClient } from "./verify/paired-client.ts";
import { formatRows, showProgress } from "./verify/report.ts";

const USAGE = `Usage: node_modules/.bin/node scripts/verify-fetch.ts [OPTIONS] HISTORY [URL]

Pushes HISTORY (a bundle, or a repository's folder or URL) to Holdfast and to git http-backend, has clients do the same with
both, and compares after each command: exit code, output, refs, shallow commits, what rev-list reaches and misses, git fsck, and
the objects that are really there. Holdfast must send all that git sends but what git sends without need, and nothing else but what
git leaves out of several filters. Fresh clones must be the same to the object.
Ends with 1 if anything differs.

URL is that of a Holdfast server, such as http://localhost:8787; it gets new repositories below /verify/. Without it, a
server is started for the check alone.

  --only PATTERN  cases whose name matches this regular expression; may be repeated (default: all)
  --jobs N        cases that are played at a time (default 2)
  --list          prints the names of the cases, with their commands
  --help          this text
`;

/** What native git must be told to serve, and Holdfast always does. Not `allowRefInWant`: git answers a cut fetch by ref names in
 * an order that its own client does not read (2.39: "expected 'packfile', received 'shallow-info'"). */
const NATIVE_CONFIG = ["allowFilter", "allowAnySHA1InWant"];

/** Both servers, and how they are given repositories. */
class Servers {
  readonly #nativeDir: string;
  readonly #urls: Pair<string>;
  readonly #branch: string;
  #count = 0;

  constructor(nativeDir: string, urls: Pair<string>, branch: string) {
    this.#nativeDir = nativeDir;
    this.#urls = urls;
    this.#branch = branch;
  }

  /** Pushes all refs of a repository into a new one on each server.
   * @returns their URLs */
  async push(dir: string): Promise<Pair<string>> {
    const name = `repository-${this.#count++}.git`;
    await git(this.#nativeDir, "init", "-q", "--bare", `--initial-branch=${this.#branch}`, name);
    const nativeDir = join(this.#nativeDir, name);
    for (const key of NATIVE_CONFIG) await git(nativeDir, "config", `uploadpack.${key}`, "true");
    const urls = { holdfast: `${this.#urls.holdfast}/${name}`, native: `${this.#urls.native}/${name}` };
    await this.advance(urls, dir);
    const heads = await git(dir, "ls-remote", "--symref", urls.holdfast, "HEAD");
    const head = /^ref: (\S+)\tHEAD$/m.exec(heads)?.[1];
    if (head !== `refs/heads/${this.#branch}`) console.error(`HEAD is ${head} on Holdfast; git's is made the same`);
    if (head !== undefined) await git(nativeDir, "symbolic-ref", "HEAD", head);
    return urls;
  }

  /** Makes all refs what they are in another repository. */
  async advance({ holdfast, native }: Pair<string>, dir: string): Promise<void> {
    for (const url of [holdfast, native]) await git(dir, "push", "-q", "--mirror", url);
  }
}

/** Works on a list, a few at a time, in order. */
async function forEach<Item>(items: readonly Item[], jobs: number, act: (item: Item) => Promise<void>): Promise<void> {
  const rest = items.values();
  const work = async (): Promise<void> => {
    for (const item of rest) await act(item);
  };
  await Promise.all(Array.from({ length: jobs }, work));
}

async function playAll(
  cases: readonly FetchCase[],
  { servers, history, jobs }: { readonly servers: Servers; readonly history: FetchHistory; readonly jobs: number },
): Promise<CaseResult[]> {
  const { earlierDir, laterDir } = history;
  const results: CaseResult[] = [];
  const finish = (pair: PairedClient): void => {
    const result = pair.finish();
    results.push(result);
    reportProblems(result);
    showProgress(`${results.length} of ${cases.length} cases: ${result.name}`);
  };
  showProgress("pushing");
  const laterUrls = await servers.push(laterDir);
  await forEach(
    cases.filter(({ server }) => server !== "moving"),
    jobs,
    async (one) => {
      const pair = new PairedClient(one, one.server === "own" ? await servers.push(laterDir) : laterUrls, laterDir);
      await pair.play(one.commands);
      finish(pair);
    },
  );
  const movingUrls = await servers.push(earlierDir);
  const moving = cases
    .filter(({ server }) => server === "moving")
    .map((one) => ({ one, pair: new PairedClient(one, movingUrls, laterDir) }));
  await forEach(moving, jobs, ({ one, pair }) => pair.play(one.commands));
  await servers.advance(movingUrls, laterDir);
  await forEach(moving, jobs, async ({ one, pair }) => {
    await pair.play(one.after);
    finish(pair);
  });
  return results;
}

function reportProblems({ name, problems }: CaseResult): void {
  for (const { command, difference } of problems) {
    const { what, count, examples } = difference;
    showProgress("");
    console.error(
      `${name}: after git ${command}\n  ${what}: ${count} differ\n${examples.map((line) => `    ${line}\n`).join("")}`,
    );
  }
}

function formatResults(results: readonly CaseResult[]): string {
  const head = ["case", "verdict", "sent", "by git", "present", "with git", "note"];
  const rows = results.map(({ name, problems, sent, present, surplus, omitted, refused }) => [
    name,
    problems.length > 0 ? "FAILED" : "ok",
    String(sent.holdfast),
    String(sent.native),
    String(present.holdfast),
    String(present.native),
    [
      ...new Set(problems.map(({ difference }) => `${difference.what}: ${difference.count}`)),
      ...(surplus > 0 ? [`git sent ${surplus} without need`] : []),
      ...(omitted > 0 ? [`git left out ${omitted}`] : []),
      ...(refused === null ? [] : [`both refuse: ${refused}`]),
    ].join("; "),
  ]);
  return formatRows([head, ...rows], [2, 3, 4, 5]);
}

/** @returns whether everything was as it should be */
async function verify(
  source: string,
  options: { url?: string; only: readonly string[]; jobs: number; list: boolean },
): Promise<boolean> {
  showProgress(`reading ${source}`);
  const history = await makeFetchHistory(existsSync(source) ? resolve(source) : source);
  const patterns = options.only.map((pattern) => new RegExp(pattern));
  const cases = listCases(history).filter(
    ({ name }) => patterns.length === 0 || patterns.some((one) => one.test(name)),
  );
  if (options.list) {
    const lines = cases.map(({ name, commands, after }) => [
      name,
      ...[...commands, ...after].map((one) => one.join(" ")),
    ]);
    console.log(
      lines.map(([name, ...commands]) => `${name}\n${commands.map((one) => `    git ${one}\n`).join("")}`).join(""),
    );
    return true;
  }
  const nativeDir = makeTempDir("native");
  const native = await startNative(nativeDir);
  const server = options.url === undefined ? await startServer() : null;
  const base = `${(options.url ?? server!.url).replace(/\/$/, "")}/verify-${Date.now().toString(36)}`;
  try {
    const servers = new Servers(nativeDir, { holdfast: base, native: native.url }, history.branch);
    const results = await playAll(cases, { servers, history, jobs: options.jobs });
    showProgress("");
    console.log(formatResults(results.toSorted((a, b) => (a.name < b.name ? -1 : 1))));
    const failed = results.filter(({ problems }) => problems.length > 0).length;
    console.log(`${results.length - failed} of ${results.length} cases as git has them`);
    return failed === 0;
  } finally {
    await Promise.all([native.close(), server?.close()]);
  }
}

const { values, positionals } = readCommandLine({
  allowPositionals: true,
  options: {
    only: { type: "string", multiple: true, default: [] },
    jobs: { type: "string", default: "2" },
    list: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
// Removed with all that is made in it when this process ends.
process.env["HOLDFAST_TEST_DIR"] = makeTempDir("verify");
const [history, url] = positionals;
const jobs = Number(values.jobs);
// Exiting, unlike ending by the signal, removes the temporary folder.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
if (values.help) console.log(USAGE);
else if (history === undefined || positionals.length > 2 || !Number.isInteger(jobs) || jobs < 1) {
  console.error(USAGE);
  process.exitCode = 2;
} else {
  const { only, list } = values;
  const isSame = await verify(history, { only, jobs, list, ...(url === undefined ? {} : { url }) });
  process.exitCode = isSame ? 0 : 1;
}
