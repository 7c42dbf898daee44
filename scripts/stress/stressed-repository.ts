/** One repository under load: git's operations on it, and whether their results match what was
 * acknowledged. */
import { rmSync } from "node:fs";
import { git, gitBytes, makeRepository, tryGit } from "../../test/harness/git.ts";
import type { Random } from "../../test/harness/random.ts";
import { COMMITTER, makeNoise, noiseText } from "../../test/harness/fast-import.ts";
import { checkRepository, describeProblem, toCheckUrl } from "../fsck/check-repository.ts";
import { demandSame, type Tally, WrongAnswer } from "../verify/report.ts";
import { type Target, UnexpectedAnswer } from "../verify/target.ts";
import { AcknowledgedRefs, type Move } from "./acknowledged-refs.ts";

/** The main branch. */
export const MAIN = "refs/heads/main";

/** A move of a ref that a client wants. Null: the ref does not exist. */
interface WantedMove {
  readonly ref: string;
  readonly old: string | null;
  readonly next: string | null;
}

interface PushOptions {
  readonly isForced?: boolean;
  readonly gate?: readonly string[];
}

/** A repository on the server. */
export class StressedRepository {
  readonly target: Target;
  readonly history: LocalHistory;
  readonly refs = new AcknowledgedRefs();
  readonly files: number;
  /** Git's URL. */
  readonly url: string;
  /** The API's path, below `/api`. */
  readonly path: string;
  readonly #tally: Tally;

  constructor(target: Target, tally: Tally, history: LocalHistory, files: number) {
    this.target = target;
    this.history = history;
    this.files = files;
    ({ url: this.url, path: this.path } = target.newRepository());
    this.#tally = tally;
  }

  /** Runs and times an operation. @see Tally.run */
  run<Result>(operation: string, work: () => Promise<Result>): Promise<Result | null> {
    return this.#tally.run(operation, this.files, work);
  }

  /** Checks a result. @see Tally.check */
  check(what: string, work: () => Promise<void> | void): Promise<boolean> {
    return this.#tally.check(`${what}, ${this.files} files`, work);
  }

  /** Pushes a move of a ref.
   * @param how `isForced`: what the ref points to may be lost, as long as the ref is at `old`;
   * `gate`: from `makeGate`
   * @returns whether it was acknowledged; false: it was refused because the ref had moved; null:
   * it failed */
  push(operation: string, { ref, old, next }: WantedMove, how: PushOptions = {}): Promise<boolean | null> {
    const lease = how.isForced === true ? [`--force-with-lease=${ref}:${old ?? ""}`] : [];
    return this.run(operation, async () => {
      const move = this.refs.begin(ref, old, next);
      const args = [...(how.gate ?? []), "push", "--porcelain", ...lease, this.url, `${next ?? ""}:${ref}`];
      const { code, stdout, stderr } = await this.target.git(this.history.dir, ...args);
      const line = stdout.split("\n").find((text) => text.includes(`:${ref}\t`)) ?? "";
      const isMoved = code === 0 && /^[ +*-]\t/.test(line);
      const isOvertaken = line.startsWith("!\t") && /stale info|non-fast-forward|fetch first|is at /.test(line);
      if (!isMoved && !isOvertaken) throw new UnexpectedAnswer(`git push ended with ${code}: ${line} ${stderr}`);
      this.refs.end(move, isMoved ? "acknowledged" : "refused");
      return isMoved;
    });
  }

  /** Pushes a commit that changes some files of the main branch. */
  async grow(operation: string, count: number, random: Random): Promise<void> {
    const old = (await this.look())?.get(MAIN);
    if (old === undefined) return;
    await this.push(operation, { ref: MAIN, old, next: await this.history.change(old, count, random) });
  }

  /** Lists refs with git.
   * @returns null if that fails */
  look(operation = "ls-remote"): Promise<Map<string, string> | null> {
    return this.run(operation, async () => {
      const begin = this.refs.now();
      const { stdout } = await this.target.demandGit(this.history.dir, "ls-remote", "--refs", this.url);
      const refs = parseRefs(stdout, "\t");
      this.refs.look(operation, begin, refs);
      return refs;
    });
  }

  /** Clones everything, checks every object, then removes the clone.
   * @param keep does not remove it
   * @returns its folder; null if that failed */
  async clone(operation: string, keep = false): Promise<string | null> {
    const dir = await makeRepository("clone.git", "--bare");
    const isWhole = await this.fetch(operation, dir);
    if (keep && isWhole) return dir;
    rmSync(dir, { recursive: true, force: true });
    return null;
  }

  /** Fetches the server's state into a clone, with `ls-remote` before and after, and checks the
   * whole clone.
   * @returns whether it succeeded and the clone is intact */
  async fetch(operation: string, dir: string): Promise<boolean> {
    await this.look();
    const begin = this.refs.now();
    const isFetched = await this.run(operation, async () => {
      const { code, stderr } = await this.target.git(dir, "fetch", "-q", "--prune", this.url, "+refs/*:refs/*");
      if (code === 0) return true;
      // A ref was moved back, or deleted, between the list of refs and the wants. Git's own server
      // answers the same.
      if (/not our ref|unknown ref/.test(stderr) && this.refs.isRewound(begin, isTakenBack)) return false;
      throw new UnexpectedAnswer(`git fetch ended with ${code}: ${stderr}`);
    });
    if (isFetched !== true) return false;
    const refs = parseRefs(await git(dir, "for-each-ref", "--format=%(objectname) %(refname)"), " ");
    this.refs.look(operation, begin, refs);
    await this.look();
    return this.verifyCut(operation, dir);
  }

  /** Checks a clone with git fsck, and counts it if it is intact.
   * @param look checks more
   * @returns whether it is intact */
  verifyCut(operation: string, dir: string, look?: () => Promise<void>): Promise<boolean> {
    return this.check(operation, async () => {
      const fsck = ["fsck", "--strict", "--full", "--no-dangling", "--no-progress"];
      const { code, stdout, stderr } = await tryGit(dir, fsck);
      if (code !== 0) throw new WrongAnswer(`git fsck ended with ${code}: ${stdout}${stderr}`);
      await look?.();
      this.#tally.count("clones verified");
    });
  }

  /** Clones repeatedly, at least once, until some other work is over. */
  async cloneBeside(operation: string, cloners: number, work: readonly Promise<unknown>[]): Promise<void> {
    let isOver = false;
    const over = Promise.all(work).finally(() => (isOver = true));
    const clone = async (): Promise<void> => {
      do await this.clone(operation);
      while (!isOver);
    };
    await Promise.all([over, ...Array.from({ length: cloners }, clone)]);
  }

  /** Explains all views of the refs, when no ref is moving any more. */
  explainLooks(): void {
    for (const line of this.refs.explainLooks()) this.#tally.wrong(`${line}, ${this.files} files`);
  }
}

/** Whether a move may have made something unreachable, or will when it is done. */
function isTakenBack({ ref, old, outcome }: Move): boolean {
  return outcome !== "refused" && old !== null && ref !== MAIN;
}

function parseRefs(text: string, separator: string): Map<string, string> {
  const lines = text.split("\n").filter((line) => line !== "");
  return new Map(lines.map((line) => line.split(separator) as [string, string]).map(([oid, name]) => [name, oid]));
}

/** Clones the repository, compares refs with what was acknowledged and with the API, and has the
 * server check itself. */
export async function checkAtEnd(repository: StressedRepository): Promise<void> {
  const refs = await repository.look("ls-remote at the end");
  await repository.clone("clone at the end");
  repository.explainLooks();
  if (refs === null) return;
  await repository.check("refs at the end", () => demandNone(repository.refs.compare(refs)));
  await compareList(repository, "branches", "refs/heads/", refs);
  await compareList(repository, "tags", "refs/tags/", refs);
  const problems = await repository.run("fsck of the server", () => listProblems(repository.url));
  await repository.check("fsck of the server", () => demandNone(problems ?? []));
}

/** @throws WrongAnswer with the problems, if there are any */
function demandNone(problems: readonly string[]): void {
  if (problems.length > 0) throw new WrongAnswer(problems.join("; "));
}

async function compareList(
  repository: StressedRepository,
  list: "branches" | "tags",
  prefix: string,
  refs: ReadonlyMap<string, string>,
): Promise<void> {
  const { target, path } = repository;
  const pages = await repository.run(`GET ${list} at the end`, () =>
    target.readPages<{ name: string; commit?: string; oid?: string }>(`${path}/${list}?limit=100`, list),
  );
  if (pages === null) return;
  const listed = pages.items.map(({ name, commit, oid }) => `${commit ?? oid} ${prefix}${name}`);
  const expected = [...refs].filter(([name]) => name.startsWith(prefix)).map(([name, oid]) => `${oid} ${name}`);
  await repository.check(`${list} at the end`, () => {
    demandSame(`list of ${list}`, listed.toSorted().join("\n"), expected.toSorted().join("\n"));
  });
}

/** The server's check of all that is stored. */
async function listProblems(url: string): Promise<string[]> {
  const found: string[] = [];
  for await (const report of checkRepository({ url: toCheckUrl(url), attempts: 1 })) {
    for (const problem of report.problems) if (problem.kind !== "orphan") found.push(describeProblem(problem));
    const untold = report.problemCount - report.problems.length;
    if (untold > 0) found.push(`and ${untold} more`);
  }
  return found;
}

/** Commits and their content in git itself. */
export class LocalHistory {
  /** Bare. */
  readonly dir: string;
  /** The first commit. */
  readonly root: string;
  readonly #paths: readonly string[];
  #commits = 0;

  private constructor(dir: string, root: string, paths: string) {
    this.dir = dir;
    this.root = root;
    this.#paths = paths.split("\n");
  }

  /** Makes a commit of files of 8 KB of noise each. */
  static async make(files: number): Promise<LocalHistory> {
    const { dir } = await makeNoise(files);
    const root = await git(dir, "rev-parse", "refs/heads/main");
    return new LocalHistory(dir, root, await git(dir, "ls-tree", "-r", "--name-only", root));
  }

  /** Removes the repository. */
  remove(): void {
    rmSync(this.dir, { recursive: true, force: true });
  }

  /** One of the files of the first commit, which all other commits have, too. */
  pickPath(random: Random): string {
    return random.pick(this.#paths);
  }

  /** Makes a commit that changes some files of its parent.
   * @param count how many files; at most all
   * @returns its id, which is unique */
  async change(parent: string, count: number, random: Random): Promise<string> {
    const number = ++this.#commits;
    const message = `Change ${number}\n`;
    const stream = [
      `commit refs/made/${number}\nmark :1\n${COMMITTER} ${1_700_000_000 + 60 * number} +0000\n`,
      `data ${message.length}\n${message}from ${parent}\n`,
    ];
    for (const path of random.shuffled(this.#paths).slice(0, count)) {
      const text = noiseText(`${number} ${path}`);
      stream.push(`M 100644 inline ${path}\ndata ${text.length}\n${text}\n`);
    }
    stream.push("\nget-mark :1\n");
    return (await gitBytes(this.dir, ["fast-import", "--quiet"], { stdin: stream.join("") })).toString().trim();
  }

  /** Whether the repository has an object. */
  async has(oid: string): Promise<boolean> {
    return (await tryGit(this.dir, ["cat-file", "-e", oid])).code === 0;
  }

  /** The text that a git command prints. */
  tell(...args: readonly string[]): Promise<string> {
    return git(this.dir, ...args);
  }

  /** The bytes that a git command prints. */
  tellBytes(...args: readonly string[]): Promise<Buffer> {
    return gitBytes(this.dir, args);
  }
}
