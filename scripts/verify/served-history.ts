/** A history in git, and the same on a server: what the API says of it is compared with what git
 * says. */
import { git, tryGit } from "../../test/harness/git.ts";
import { Random } from "../../test/harness/random.ts";
import { type Check, count, defineCheck, type Run, SERVER } from "./check.ts";
import { demandSame, showProgress } from "./report.ts";
import type { Target } from "./target.ts";

/** What is compared, what the API says of it, and what git does. */
export type Comparison = readonly [what: string, actual: string | Buffer, expected: string | Buffer];

/** What git would do otherwise than the API, which has no configuration. */
const CONFIG = ["log.mailmap=false", "diff.renameLimit=1000"].flatMap((one) => ["-c", one]);

/** Blame tells paths as they are, unlike a diff. */
const BLAME_CONFIG = ["-c", "core.quotePath=false"];

/** A history that was pushed whole. What is asked of it is timed. */
export class ServedHistory {
  /** A bare mirror whose HEAD is that of the server's repository. */
  readonly dir: string;
  readonly random: Random;
  /** All that refs lead to. */
  readonly commits: readonly string[];
  readonly #run: Run;
  readonly #target: Target;
  readonly #path: string;

  private constructor(run: Run, target: Target, at: { dir: string; path: string }, commits: string[], random: Random) {
    this.#run = run;
    this.#target = target;
    this.dir = at.dir;
    this.#path = at.path;
    this.commits = commits;
    this.random = random;
  }

  /** Pushes a history. */
  static async serve(run: Run, source: string, server: string | undefined, random: Random): Promise<ServedHistory> {
    const [dir, target] = [await run.openHistory(source), await run.openServer(server)];
    const { url, path } = target.newRepository();
    showProgress("pushing every ref");
    await git(dir, "push", "-q", "--mirror", url);
    const { defaultBranch } = await target.demand<{ defaultBranch: string }>(`${path}/stats`);
    await git(dir, "symbolic-ref", "HEAD", `refs/heads/${defaultBranch}`);
    const commits = (await git(dir, "rev-list", "--all")).split("\n");
    return new ServedHistory(run, target, { dir, path }, commits, random);
  }

  /** One of the commits. */
  pickCommit(): string {
    return this.random.pick(this.commits);
  }

  /** Asks the API for what must be there. @param path below the repository's, with a slash in
   * front */
  get<Body>(path: string): Promise<Body> {
    return this.#time(path, () => this.#target.demand<Body>(this.#path + path));
  }

  /** Asks for all pages. @see Target.readPages */
  pages<Item, Page = unknown>(path: string, list: string, most?: number): Promise<{ first: Page; items: Item[] }> {
    return this.#time(path, () => this.#target.readPages<Item, Page>(this.#path + path, list, most));
  }

  /** Reads bytes. */
  bytes(path: string): Promise<Buffer> {
    return this.#time(path, async () => (await this.#target.read(this.#path + path)).bytes);
  }

  /** Asks the API for what may be refused. */
  ask<Body>(path: string): Promise<{ readonly status: number; readonly body: Body }> {
    return this.#time(path, () => this.#target.ask<Body>(this.#path + path));
  }

  /** What git prints, without the newline at its end. */
  async git(...args: readonly string[]): Promise<string> {
    return (await this.gitBytes(...args)).toString().replace(/\n$/, "");
  }

  /** The bytes that git prints; none if it ends with an error without saying why, as it does when
   * it finds nothing. */
  async gitBytes(...args: readonly string[]): Promise<Buffer> {
    const { code, stdoutBytes, stderr } = await this.#run.tally.time(`git ${args[0]}`, () =>
      tryGit(this.dir, [...CONFIG, ...(args[0] === "blame" ? BLAME_CONFIG : []), ...args]),
    );
    if (code !== 0 && stderr !== "") throw new Error(`git ${args.join(" ")} ended with ${code}: ${stderr}`);
    return stdoutBytes;
  }

  /** The files of a commit: no links, no submodules. */
  async listFiles(commit: string): Promise<{ path: string; bytes: number }[]> {
    const entries = (await this.git("ls-tree", "-r", "-l", "-z", commit)).split("\0");
    return entries.flatMap((entry) => {
      const [, bytes, path] = /^100\d+ blob \w+ +(\d+)\t(.*)$/s.exec(entry) ?? [];
      return path === undefined ? [] : [{ path, bytes: Number(bytes) }];
    });
  }

  #time<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
    return this.#run.tally.time(`GET ${path.split(/[?/]/)[1]}`, work);
  }
}

/** A check of what the API says of a history beside what git says, case by case.
 * @param text what is compared
 * @param compare chooses a case by chance and asks both for it */
export function defineApiCheck(
  about: string,
  compare: (history: ServedHistory) => Promise<readonly Comparison[]>,
): Check {
  return defineCheck({
    text: `Pushes HISTORY, asks the API about it, case by case, and compares each answer with git's.\n${about}`,
    operands: "HISTORY",
    options: { cases: count(200, "how many"), seed: count(1, "of what is chosen"), server: SERVER },
    async run(run, { cases, seed, server }, [source]) {
      const history = await ServedHistory.serve(run, source!, server, new Random(seed));
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
