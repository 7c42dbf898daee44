/** Two clients that do the same, one with Holdfast and one with git's own server. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type GitResult, tryGit } from "../../test/harness/git.ts";
import { makeTempDir } from "../../test/harness/temp-dir.ts";
import { type ClientState, compareLines, compareStates, type Difference, readState } from "./client-state.ts";
import type { Command, FetchCase } from "./fetch-cases.ts";

/** One value for each server. */
export interface Pair<Value> {
  readonly holdfast: Value;
  readonly native: Value;
}

/** What became of one case. */
export interface CaseResult {
  readonly name: string;
  /** Differences that matter, by the command after which they showed; none: all is well. */
  readonly problems: readonly { readonly command: string; readonly difference: Difference }[];
  /** Objects in the packs that came. */
  readonly sent: Pair<number>;
  /** Objects present in the end. */
  readonly present: Pair<number>;
  /** Objects that git sent without need, and Holdfast did not. */
  readonly surplus: number;
  /** Objects that git should have sent, by each of several filters, and did not. */
  readonly omitted: number;
  /** What git refused, as Holdfast did. */
  readonly refused: string | null;
}

/** How every pack begins: its signature and version 2. @see gitformat-pack(5) */
const PACK_START = Buffer.from("PACK\0\0\0\x02", "latin1");

/** One side's client. */
class Client {
  readonly dir = makeTempDir("client");
  readonly #url: string;
  /** Objects in the packs that came. */
  sent = 0;

  constructor(url: string) {
    this.#url = url;
  }

  async run(command: Command): Promise<GitResult> {
    const trace = join(makeTempDir("trace"), "received.pack");
    writeFileSync(trace, "");
    const args = command.map((argument) => (argument === "URL" ? this.#url : argument));
    const result = await tryGit(this.dir, args, { env: { GIT_TRACE_PACKFILE: trace } });
    const received = readFileSync(trace);
    for (let at = received.indexOf(PACK_START); at >= 0; at = received.indexOf(PACK_START, at + 12)) {
      this.sent += received.readUInt32BE(at + PACK_START.length);
    }
    rmSync(trace);
    return result;
  }
}

/** Plays one case on both sides, command after command, and compares after each. */
export class PairedClient {
  readonly #case: FetchCase;
  readonly #historyDir: string;
  readonly #clients: Pair<Client>;
  readonly #problems: { command: string; difference: Difference }[] = [];
  /** Ids of all refs that the clients ever had. */
  readonly #had = new Set<string>();
  #states: Pair<ClientState> | undefined;
  #surplus = 0;
  #omitted = 0;
  #refused: string | null = null;

  /** @param historyDir a repository that has all that the servers have */
  constructor(played: FetchCase, urls: Pair<string>, historyDir: string) {
    this.#case = played;
    this.#historyDir = historyDir;
    this.#clients = { holdfast: new Client(urls.holdfast), native: new Client(urls.native) };
  }

  /** Plays commands until something differs, or is refused. */
  async play(commands: readonly Command[]): Promise<void> {
    for (const command of commands) {
      if (this.#refused !== null || this.#problems.length > 0) return;
      await this.#step(command);
    }
  }

  /** Says what became of it, and removes the clients. */
  finish(): CaseResult {
    const { holdfast, native } = this.#clients;
    for (const { dir } of [holdfast, native]) rmSync(dir, { recursive: true });
    return {
      name: this.#case.name,
      problems: this.#problems,
      sent: { holdfast: holdfast.sent, native: native.sent },
      present: { holdfast: this.#states?.holdfast.present.size ?? 0, native: this.#states?.native.present.size ?? 0 },
      surplus: this.#surplus,
      omitted: this.#omitted,
      refused: this.#refused,
    };
  }

  async #step(command: Command): Promise<void> {
    const text = command.join(" ");
    const before = { oids: [...this.#had], shallow: this.#states?.native.shallow ?? "" };
    const note = (difference: Difference): void => void this.#problems.push({ command: text, difference });
    const { holdfast, native } = this.#clients;
    const actual = await holdfast.run(command);
    const expected = await native.run(command);
    if ((actual.code === 0) !== (expected.code === 0)) {
      note({ what: "exit code", count: 1, examples: [`+ ${describeEnd(actual)}`, `- ${describeEnd(expected)}`] });
      return;
    }
    if (expected.code !== 0) this.#refused = `${describeEnd(actual)} | ${describeEnd(expected)}`;
    const output = compareLines("output", actual.stdout, expected.stdout);
    if (output.count > 0) note(output);
    if (expected.code !== 0 && command.includes("clone")) return;
    const states = { holdfast: await readState(holdfast.dir), native: await readState(native.dir) };
    const filters = this.#case.commands.flat().flatMap(listFilters);
    const expectation = { before, filters, historyDir: this.#historyDir };
    const compared = await compareStates(states.holdfast, states.native, expectation);
    compared.differences.forEach(note);
    this.#surplus = compared.surplus;
    this.#omitted = compared.omitted;
    this.#states = states;
    for (const line of states.native.refs.split("\n")) if (line !== "") this.#had.add(line.slice(0, 40));
  }
}

/** The filters that an argument asks for; a combined one taken apart. @see git-rev-list(1) "--filter" */
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
