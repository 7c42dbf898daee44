/** Two clients that run the same commands, one with Holdfast and one with git's own server, and the
 * differences between their states. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { git, type GitResult, tryGit } from "../../test/harness/git.ts";
import { listReachable } from "../../test/harness/received-pack.ts";
import { makeTempDir } from "../../test/harness/temp-dir.ts";
import type { Command } from "./fetch-cases.ts";
import { type Tally, WrongAnswer } from "./report.ts";

/** One value for each server. */
export interface Pair<Value> {
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

/** One side's client. */
class Client {
  readonly dir = makeTempDir("client");
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  run(command: Command): Promise<GitResult> {
    const args = command.map((argument) => (argument === "URL" ? this.#url : argument));
    return tryGit(this.dir, args);
  }

  /** Reads the repository's state without fetching. */
  async readState(): Promise<State> {
    const gitDir = existsSync(join(this.dir, ".git")) ? join(this.dir, ".git") : this.dir;
    const objects = await this.#look("cat-file", "--batch-all-objects", "--batch-check=%(objectname)");
    const present = objects.split("\n").filter((line) => line.length === 40);
    const quick = present.length > FULL_FSCK_OBJECTS ? ["--connectivity-only"] : [];
    return {
      refs: await git(this.dir, "for-each-ref", "--format=%(objectname) %(refname) %(symref)"),
      shallow: existsSync(join(gitDir, "shallow")) ? sortLines(readFileSync(join(gitDir, "shallow"), "utf8")) : "",
      reachable: await this.#look("rev-list", "--objects", "--no-object-names", "--all", "--missing=print"),
      fsck: await this.#look("fsck", "--no-dangling", ...quick),
      present: new Set(present),
    };
  }

  async #look(...args: readonly string[]): Promise<string> {
    // Git must not fetch missing objects in order to read them.
    const { code, stdout, stderr } = await tryGit(this.dir, ["-c", "protocol.allow=never", ...args]);
    return `exit code ${code}\n${sortLines(stdout)}\n${sortLines(stderr)}`;
  }
}

function sortLines(text: string): string {
  return text.split("\n").filter(Boolean).toSorted().join("\n");
}

/** Runs one case on both sides, command by command, and compares after each. */
export class PairedClient {
  readonly #historyDir: string;
  readonly #filters: readonly string[];
  readonly #clients: Pair<Client>;
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
    this.#clients = { holdfast: new Client(urls.holdfast), native: new Client(urls.native) };
    this.#tally = tally;
  }

  /** Runs commands until one is refused.
   * @throws WrongAnswer as soon as something differs */
  async play(commands: readonly Command[]): Promise<void> {
    for (const command of commands) if (!this.#isRefused) await this.#step(command);
  }

  /** Removes the clients. */
  finish(): void {
    for (const { dir } of [this.#clients.holdfast, this.#clients.native]) rmSync(dir, { recursive: true });
    this.#tally.count(this.#isRefused ? "cases that both refuse" : "cases that both serve");
  }

  async #step(command: Command): Promise<void> {
    const { holdfast, native } = this.#clients;
    const verb = command.find((word) => /^[a-z-]+$/.test(word) && word !== "-c")!;
    const actual = await this.#tally.time(verb, () => holdfast.run(command));
    const expected = await this.#tally.time(`${verb}, git's server`, () => native.run(command));
    const after = `after git ${command.join(" ")}`;
    if ((actual.code === 0) !== (expected.code === 0))
      throw new WrongAnswer(`${after}: ${describeEnd(actual)}, and with git's server ${describeEnd(expected)}`);
    const differences = [differ("output", actual.stdout.split("\n"), expected.stdout.split("\n"))];
    this.#isRefused = expected.code !== 0;
    if (!this.#isRefused || !command.includes("clone"))
      differences.push(...(await this.#compare(await holdfast.readState(), await native.readState())));
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
