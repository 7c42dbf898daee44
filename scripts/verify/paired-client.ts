/** Two clients that do the same, one with Holdfast and one with git's own server: what each has
 * come to, and how they differ. */
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

/** Everything by which a client shows what it received. */
interface State {
  /** Lines of `for-each-ref`. */
  readonly refs: string;
  readonly shallow: string;
  /** `rev-list --objects --all --missing=print`, sorted, and how it ended. */
  readonly reachable: string;
  /** How fsck ended, and what it found. */
  readonly fsck: string;
  /** Ids of the objects that are really there. */
  readonly present: ReadonlySet<string>;
}

/** Up to so many objects are read and hashed once more; of others git's index-pack has proved as
 * much, so their connections must do. */
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

  /** Looks into the repository, without any fetching. */
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
    // Forbids what would fetch a missing object to look at it.
    const { code, stdout, stderr } = await tryGit(this.dir, ["-c", "protocol.allow=never", ...args]);
    return `exit code ${code}\n${sortLines(stdout)}\n${sortLines(stderr)}`;
  }
}

function sortLines(text: string): string {
  return text.split("\n").filter(Boolean).toSorted().join("\n");
}

/** Plays one case on both sides, command after command, and compares after each. */
export class PairedClient {
  readonly #historyDir: string;
  readonly #filters: readonly string[];
  readonly #clients: Pair<Client>;
  readonly #tally: Tally;
  /** Ids of all refs that the clients ever had. */
  readonly #had = new Set<string>();
  /** Of the client of git. */
  #shallow = "";
  #isRefused = false;

  /** @param commands all that will be played
   * @param historyDir a repository that has all that the servers have */
  constructor(commands: readonly Command[], urls: Pair<string>, historyDir: string, tally: Tally) {
    this.#filters = commands.flat().flatMap(listFilters);
    this.#historyDir = historyDir;
    this.#clients = { holdfast: new Client(urls.holdfast), native: new Client(urls.native) };
    this.#tally = tally;
  }

  /** Plays commands until something is refused.
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

  /** Compares what the clients have.
   *
   * That of Holdfast must have no object that the other lacks, but with several filters at once:
   * git forgets there that it has not yet sent what one filter has seen and another held back,
   * and leaves it out where it comes by again; each filter on its own must let it through. It
   * may lack objects, of a partial clone in particular, that git sent without need: those which
   * commits lead to that the client had said it had; git looks only at the trees of the nearest
   * of them. */
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

  /** What every one of the filters lets through. */
  async #listPassed(): Promise<ReadonlySet<string>> {
    const shown: ReadonlySet<string>[] = [];
    for (const filter of this.#filters)
      shown.push(await listReachable(this.#historyDir, "--all", `--filter=${filter}`));
    return shown.reduce((all, one) => all.intersection(one));
  }

  /** What commits lead to that a client had said it had. */
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

/** What only one side has, null: nothing. */
function differ(what: string, holdfast: readonly string[], native: readonly string[]): string | null {
  const [here, there] = [new Set(holdfast), new Set(native)];
  const lines = [
    ...[...here.difference(there)].map((line) => `only here ${line}`),
    ...[...there.difference(here)].map((line) => `only with git's server ${line}`),
  ];
  return lines.length === 0 ? null : `${what} differ in ${lines.length}: ${lines.slice(0, 6).join(", ")}`;
}

/** The filters that an argument asks for; a combined one taken apart. @see git-rev-list(1)
 * "--filter" */
function listFilters(argument: string): string[] {
  if (!argument.startsWith("--filter=")) return [];
  const filter = argument.slice("--filter=".length);
  if (!filter.startsWith("combine:")) return [filter];
  const parts = filter.slice("combine:".length).split("+");
  return parts.flatMap((part) => listFilters(`--filter=${decodeURIComponent(part)}`));
}

/** A command's end in one line. */
function describeEnd({ code, stderr }: GitResult): string {
  const lines = stderr.split("\n").filter((line) => /^(fatal|error|remote|hint)?:? ?\S/.test(line));
  return `exit code ${code}: ${lines.slice(0, 2).join("; ")}`.slice(0, 240);
}
