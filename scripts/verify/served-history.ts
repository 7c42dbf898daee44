/** A history in git, and the same on a server: the API's answers are compared with git's. */
import { git, tryGit } from "../../test/harness/git.ts";
import { Random } from "../../test/harness/random.ts";
import { count } from "../options.ts";
import { type Check, defineCheck, type Run, SERVER } from "./check.ts";
import { demandSame, showProgress } from "./report.ts";

/** The name of the compared value, the API's value, and git's. */
export type Comparison = readonly [what: string, actual: string | Buffer, expected: string | Buffer];

/** Settings that make git behave like the API, which has no configuration. */
const CONFIG = ["log.mailmap=false", "diff.renameLimit=1000"].flatMap((one) => ["-c", one]);

/** The API's blame gives paths unquoted, unlike its diffs. */
const BLAME_CONFIG = ["-c", "core.quotePath=false"];

/** A history that was pushed whole. Requests about it are timed; their paths, with a leading slash,
 * are below the repository's. */
export interface ServedHistory {
  /** A bare mirror with the same HEAD as the server's repository. */
  readonly dir: string;
  readonly random: Random;
  /** All commits reachable from refs. */
  readonly commits: readonly string[];
  /** A random commit. */
  pickCommit(): string;
  /** Calls the API; the answer must be a success. */
  get<Body>(path: string): Promise<Body>;
  /** Reads all pages. @see Target.readPages */
  pages<Item, Page = unknown>(path: string, list: string, most?: number): Promise<{ first: Page; items: Item[] }>;
  /** Reads bytes. */
  bytes(path: string): Promise<Buffer>;
  /** Calls the API; it may refuse. */
  ask<Body>(path: string): Promise<{ readonly status: number; readonly body: Body }>;
  /** Git's output, without the newline at its end. */
  git(...args: readonly string[]): Promise<string>;
  /** The bytes that git prints; none if it fails without a message, as it does when it finds
   * nothing. */
  gitBytes(...args: readonly string[]): Promise<Buffer>;
}

/** Pushes a history. */
async function serve(run: Run, source: string, server: string | undefined, random: Random): Promise<ServedHistory> {
  const [dir, target] = [await run.openHistory(source), await run.openServer(server)];
  const { url, path: base } = target.newRepository();
  showProgress("pushing every ref");
  await git(dir, "push", "-q", "--mirror", url);
  const { defaultBranch } = await target.demand<{ defaultBranch: string }>(`${base}/stats`);
  await git(dir, "symbolic-ref", "HEAD", `refs/heads/${defaultBranch}`);
  const commits = (await git(dir, "rev-list", "--all")).split("\n");
  const time = <Result>(path: string, work: (path: string) => Promise<Result>): Promise<Result> =>
    run.tally.time(`GET ${path.split(/[?/]/)[1]}`, () => work(base + path));
  const gitBytes = async (...args: readonly string[]): Promise<Buffer> => {
    const all = [...CONFIG, ...(args[0] === "blame" ? BLAME_CONFIG : []), ...args];
    const { code, stdoutBytes, stderr } = await run.tally.time(`git ${args[0]}`, () => tryGit(dir, all));
    if (code !== 0 && stderr !== "") throw new Error(`git ${args.join(" ")} ended with ${code}: ${stderr}`);
    return stdoutBytes;
  };
  return {
    dir,
    random,
    commits,
    pickCommit: () => random.pick(commits),
    get: (path) => time(path, (whole) => target.demand(whole)),
    pages: (path, list, most) => time(path, (whole) => target.readPages(whole, list, most)),
    bytes: (path) => time(path, async (whole) => (await target.read(whole)).bytes),
    ask: (path) => time(path, (whole) => target.ask(whole)),
    git: async (...args) => (await gitBytes(...args)).toString().replace(/\n$/, ""),
    gitBytes,
  };
}

/** The regular files of a commit: no links, no submodules. */
export async function listFiles(history: ServedHistory, commit: string): Promise<{ path: string; bytes: number }[]> {
  const entries = (await history.git("ls-tree", "-r", "-l", "-z", commit)).split("\0");
  return entries.flatMap((entry) => {
    const [, bytes, path] = /^100\d+ blob \w+ +(\d+)\t(.*)$/s.exec(entry) ?? [];
    return path === undefined ? [] : [{ path, bytes: Number(bytes) }];
  });
}

/** A check that compares the API's answers about a history with git's, case by case.
 * @param text what is compared
 * @param compare chooses a random case and asks both */
export function defineApiCheck(
  about: string,
  compare: (history: ServedHistory) => Promise<readonly Comparison[]>,
): Check {
  return defineCheck({
    text: `Pushes HISTORY, queries the API about it case by case, and compares each answer with git's.\n${about}`,
    operands: "HISTORY",
    options: { cases: count("number of cases", 200), seed: count("of the random choices", 1), server: SERVER },
    async run(run, { cases, seed, server }, [source]) {
      const history = await serve(run, source!, server, new Random(seed));
      for (let number = 1; number <= cases; number++) {
        showProgress(`case ${number} of ${cases}`);
        await run.tally.check(`case ${number}`, async () => {
          for (const [what, actual, expected] of await compare(history)) {
            run.tally.count("answers compared");
            await run.tally.check(`case ${number}`, () => demandSame(what, actual, expected));
          }
        });
      }
    },
  });
}
