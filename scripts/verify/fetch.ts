/** Compares what clients of every kind get from Holdfast and from git's own server: shallow,
 * deepened, partial, outdated. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { git, type GitResult, tryGit } from "../../test/harness/git.ts";
import { startNative } from "../../test/harness/native.ts";
import { listReachable } from "../../test/harness/received-pack.ts";
import { makeTempDir } from "../../test/harness/temp-dir.ts";
import { count, flag, texts } from "../options.ts";
import { defineCheck, SERVER } from "./check.ts";
import { type Command, type FetchCase, listCases } from "./fetch-cases.ts";
import { makeFetchHistory } from "./fetch-history.ts";
import { showProgress, type Tally, WrongAnswer } from "./report.ts";
import type { Target } from "./target.ts";

/** Native git serves these only if configured; Holdfast always does. `allowRefInWant` is left out:
 * with ref names, git answers a shallow fetch in an order that its own client does not read (2.39:
 * "expected 'packfile', received 'shallow-info'"). */
const NATIVE_CONFIG = ["uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"];

export const fetchCheck = defineCheck({
  text: `Pushes HISTORY to Holdfast and to git http-backend, runs the same clients with both, and
compares after each command: exit code, output, refs, shallow commits, the reachable and missing
objects of rev-list, git fsck, and the objects that are present. Holdfast must send all that git
sends, except objects that git sends without need, and nothing else, except objects that git omits
with several filters. Fresh clones must have exactly the same objects.`,
  operands: "HISTORY",
  options: {
    only: texts("PATTERN", "cases whose name matches this regular expression (default all)"),
    jobs: count("cases that run at the same time", 2),
    list: flag("prints the names of the cases, with their commands"),
    server: SERVER,
  },
  async run(run, { only, jobs, list, server }, [source]) {
    const { earlierDir, laterDir, ...history } = await makeFetchHistory(await run.openHistory(source!));
    const patterns = only.map((pattern) => new RegExp(pattern));
    const cases = listCases({ earlierDir, laterDir, ...history }).filter(
      ({ name }) => patterns.length === 0 || patterns.some((one) => one.test(name)),
    );
    if (list) return process.stdout.write(cases.map(describe).join("")) as unknown as void;
    const nativeDir = makeTempDir("native");
    const native = await startNative(nativeDir);
    run.stack.defer(() => native.close());
    const target = await run.openServer(server);
    const push = (dir: string): Promise<Pair<string>> => pushToBoth(target, native.url, nativeDir, dir);
    const follow = async (one: FetchCase, urls: Pair<string>): Promise<() => Promise<void>> => {
      const pair = new PairedClient([...one.commands, ...one.after], urls, laterDir, run.tally);
      const play = (commands: FetchCase["commands"]): Promise<boolean> =>
        run.tally.check(one.name, () => pair.play(commands));
      const isWell = await play(one.commands);
      return async () => {
        if (isWell) await play(one.after);
        pair.finish();
        showProgress(`${++done} of ${cases.length} cases: ${one.name}`);
      };
    };
    let done = 0;
    showProgress("pushing");
    const later = await push(laterDir);
    const [moving, still] = [
      cases.filter(({ after }) => after.length > 0),
      cases.filter(({ after }) => after.length === 0),
    ];
    await forEach(still, jobs, async (one) => (await follow(one, one.pushes ? await push(laterDir) : later))());
    const urls = await push(earlierDir);
    const rests: (() => Promise<void>)[] = [];
    await forEach(moving, jobs, async (one) => void rests.push(await follow(one, urls)));
    for (const url of Object.values(urls) as string[]) await git(laterDir, "push", "-q", "--mirror", url);
    await forEach(rests, jobs, (rest) => rest());
  },
});

/** Pushes all refs of a repository into a new one on each server.
 * @returns their URLs */
async function pushToBoth(target: Target, nativeUrl: string, nativeDir: string, dir: string): Promise<Pair<string>> {
  const { url } = target.newRepository();
  const name = url.split("/").at(-1)!;
  const bare = join(nativeDir, name);
  await git(nativeDir, "init", "-q", "--bare", name);
  for (const key of NATIVE_CONFIG) await git(bare, "config", key, "true");
  const urls = { holdfast: url, native: `${nativeUrl}/${name}` };
  for (const one of [urls.holdfast, urls.native]) await git(dir, "push", "-q", "--mirror", one);
  const [, head] = /^ref: (\S+)\tHEAD$/m.exec(await git(dir, "ls-remote", "--symref", url, "HEAD")) ?? [];
  if (head !== undefined) await git(bare, "symbolic-ref", "HEAD", head);
  return urls;
}

/** Processes a list in order, a few items at a time. */
async function forEach<Item>(items: readonly Item[], jobs: number, act: (item: Item) => Promise<void>): Promise<void> {
  const rest = items.values();
  const work = async (): Promise<void> => {
    for (const item of rest) await act(item);
  };
  await Promise.all(Array.from({ length: jobs }, work));
}

function describe({ name, commands, after }: FetchCase): string {
  return `${name}\n${[...commands, ...after].map((one) => `    git ${one.join(" ")}\n`).join("")}`;
}

/** One value for each server. */
interface Pair<Value> {
  readonly holdfast: Value;
  readonly native: Value;
}

/** Everything that shows what a client has received. */
interface State {
  /** Lines of `for-each-ref`. */
  readonly refs: string;
  readonly shallow: string;
  /** `rev-list --objects --all --missing=print`, sorted, and its exit status. */
  readonly reachable: string;
  /** fsck's exit status and findings. */
  readonly fsck: string;
  /** Ids of the objects that are present. */
  readonly present: ReadonlySet<string>;
}

/** Up to this many objects are read and hashed again. With more, fsck checks connectivity only:
 * index-pack has verified the objects themselves. */
const FULL_FSCK_OBJECTS = 5000;

/** Reads a client's repository without fetching. */
async function readState(dir: string): Promise<State> {
  const look = async (...args: readonly string[]): Promise<string> => {
    // Git must not fetch missing objects in order to read them.
    const { code, stdout, stderr } = await tryGit(dir, ["-c", "protocol.allow=never", ...args]);
    return `exit code ${code}\n${sortLines(stdout)}\n${sortLines(stderr)}`;
  };
  const shallow = join(existsSync(join(dir, ".git")) ? join(dir, ".git") : dir, "shallow");
  const objects = await look("cat-file", "--batch-all-objects", "--batch-check=%(objectname)");
  const present = objects.split("\n").filter((line) => line.length === 40);
  const quick = present.length > FULL_FSCK_OBJECTS ? ["--connectivity-only"] : [];
  return {
    refs: await git(dir, "for-each-ref", "--format=%(objectname) %(refname) %(symref)"),
    shallow: existsSync(shallow) ? sortLines(readFileSync(shallow, "utf8")) : "",
    reachable: await look("rev-list", "--objects", "--no-object-names", "--all", "--missing=print"),
    fsck: await look("fsck", "--no-dangling", ...quick),
    present: new Set(present),
  };
}

function sortLines(text: string): string {
  return text.split("\n").filter(Boolean).toSorted().join("\n");
}

/** Runs one case on both sides, command by command, and compares after each. */
class PairedClient {
  readonly #historyDir: string;
  readonly #filters: readonly string[];
  readonly #urls: Pair<string>;
  /** The clients' folders. */
  readonly #dirs: Pair<string> = { holdfast: makeTempDir("client"), native: makeTempDir("client") };
  readonly #tally: Tally;
  /** Ids of all refs that the clients have ever had. */
  readonly #had = new Set<string>();
  /** The shallow file of git's client. */
  #shallow = "";
  #isRefused = false;

  /** @param commands all commands of the case
   * @param historyDir a repository with everything that the servers have */
  constructor(commands: readonly Command[], urls: Pair<string>, historyDir: string, tally: Tally) {
    this.#filters = commands.flat().flatMap(listFilters);
    this.#historyDir = historyDir;
    this.#urls = urls;
    this.#tally = tally;
  }

  /** Runs commands until one is refused.
   * @throws WrongAnswer as soon as something differs */
  async play(commands: readonly Command[]): Promise<void> {
    for (const command of commands) if (!this.#isRefused) await this.#step(command);
  }

  /** Removes the clients. */
  finish(): void {
    for (const dir of [this.#dirs.holdfast, this.#dirs.native]) rmSync(dir, { recursive: true });
    this.#tally.count(this.#isRefused ? "cases that both refuse" : "cases that both serve");
  }

  async #step(command: Command): Promise<void> {
    const run = (side: keyof Pair<string>): Promise<GitResult> =>
      tryGit(
        this.#dirs[side],
        command.map((argument) => (argument === "URL" ? this.#urls[side] : argument)),
      );
    const verb = command.find((word) => /^[a-z-]+$/.test(word) && word !== "-c")!;
    const actual = await this.#tally.time(verb, () => run("holdfast"));
    const expected = await this.#tally.time(`${verb}, git's server`, () => run("native"));
    const after = `after git ${command.join(" ")}`;
    if ((actual.code === 0) !== (expected.code === 0))
      throw new WrongAnswer(`${after}: ${describeEnd(actual)}, and with git's server ${describeEnd(expected)}`);
    const differences = [differ("output", actual.stdout.split("\n"), expected.stdout.split("\n"))];
    this.#isRefused = expected.code !== 0;
    if (!this.#isRefused || !command.includes("clone"))
      differences.push(
        ...(await this.#compare(await readState(this.#dirs.holdfast), await readState(this.#dirs.native))),
      );
    const told = differences.filter((one) => one !== null);
    if (told.length > 0) throw new WrongAnswer(`${after}: ${told.join("; ")}`);
  }

  /** Compares the clients' objects.
   *
   * Holdfast's client must have no object that the other lacks, except with several filters at
   * once. There git forgets that it has not sent an object that one filter has passed and another
   * has held back, and leaves it out when it meets it again; each filter on its own must pass such
   * an object. Holdfast's client may lack objects that git sent without need, mostly in partial
   * clones: those reachable from commits that the client said it had. Git only looks at the trees
   * of the nearest of them. */
  async #compare(holdfast: State, native: State): Promise<(string | null)[]> {
    const extra = [...holdfast.present.difference(native.present)];
    const lacking = [...native.present.difference(holdfast.present)];
    const had = lacking.length > 0 && this.#had.size > 0 ? await this.#listKnown() : new Set<string>();
    const passed = extra.length > 0 && this.#filters.length > 1 ? await this.#listPassed() : new Set<string>();
    const lost = lacking.filter((oid) => !had.has(oid));
    const wrong = extra.filter((oid) => !passed.has(oid));
    if (lacking.length > lost.length)
      this.#tally.count("objects that git sent without need", lacking.length - lost.length);
    if (extra.length > wrong.length) this.#tally.count("objects that git left out", extra.length - wrong.length);
    this.#shallow = native.shallow;
    for (const line of native.refs.split("\n")) if (line !== "") this.#had.add(line.slice(0, 40));
    const isSame = lacking.length === lost.length && extra.length === wrong.length;
    const names = ["refs", "shallow", "fsck", ...(isSame ? ["reachable" as const] : [])] as const;
    return [
      ...names.map((name) => differ(name, holdfast[name].split("\n"), native[name].split("\n"))),
      differ("objects present", wrong, lost),
    ];
  }

  /** The objects that all filters pass. */
  async #listPassed(): Promise<ReadonlySet<string>> {
    const shown: ReadonlySet<string>[] = [];
    for (const filter of this.#filters)
      shown.push(await listReachable(this.#historyDir, "--all", `--filter=${filter}`));
    return shown.reduce((all, one) => all.intersection(one));
  }

  /** The objects reachable from commits that a client said it had. */
  async #listKnown(): Promise<ReadonlySet<string>> {
    const checked = await tryGit(this.#historyDir, ["cat-file", "--batch-check"], {
      stdin: [...this.#had, ""].join("\n"),
    });
    const known = checked.stdout.split("\n").filter((line) => line !== "" && !line.endsWith(" missing"));
    const file = join(makeTempDir("past"), "shallow");
    writeFileSync(file, this.#shallow === "" ? "" : `${this.#shallow}\n`);
    const list = ["rev-list", "--objects", "--no-object-names", ...known.map((line) => line.slice(0, 40))];
    return new Set((await git(this.#historyDir, "--shallow-file", file, ...list)).split("\n"));
  }
}

/** What only one side has; null if nothing. */
function differ(what: string, holdfast: readonly string[], native: readonly string[]): string | null {
  const [here, there] = [new Set(holdfast), new Set(native)];
  const lines = [
    ...[...here.difference(there)].map((line) => `only here ${line}`),
    ...[...there.difference(here)].map((line) => `only with git's server ${line}`),
  ];
  return lines.length === 0 ? null : `${what} differ in ${lines.length}: ${lines.slice(0, 6).join(", ")}`;
}

/** The filters of an argument; a combined one is split. @see git-rev-list(1) "--filter" */
function listFilters(argument: string): string[] {
  if (!argument.startsWith("--filter=")) return [];
  const filter = argument.slice("--filter=".length);
  if (!filter.startsWith("combine:")) return [filter];
  const parts = filter.slice("combine:".length).split("+");
  return parts.flatMap((part) => listFilters(`--filter=${decodeURIComponent(part)}`));
}

/** A command's exit status and error in one line. */
function describeEnd({ code, stderr }: GitResult): string {
  const lines = stderr.split("\n").filter((line) => /^(fatal|error|remote|hint)?:? ?\S/.test(line));
  return `exit code ${code}: ${lines.slice(0, 2).join("; ")}`.slice(0, 240);
}
