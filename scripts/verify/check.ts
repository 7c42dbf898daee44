/** The frame of `npm run verify` and `npm run stress`: their command line, servers and exit
 * status. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { git } from "../../test/harness/git.ts";
import { startServer } from "../../test/harness/server.ts";
import { makeTempDir } from "../../test/harness/temp-dir.ts";
import { INTERRUPTED, MISUSED, readWords, UsageError } from "../command-line.ts";
import { flag, formatOptions, type Option, type Options, readOptions, text, type Values } from "../options.ts";
import { showProgress, Tally } from "./report.ts";
import { reachServer, readUrl, Target } from "./target.ts";

/** One check. */
export interface Check<Own extends Options = Options> {
  /** What it does, for `--help`. */
  readonly text: string;
  /** As in `Words`. */
  readonly operands?: string;
  readonly options: Own;
  run(run: Run, values: Values<Own>, operands: readonly string[]): Promise<void>;
}

/** Defines a check with its own options. */
export function defineCheck<const Own extends Options>(check: Check<Own>): Check {
  return check as unknown as Check;
}

/** The server; the environment variable SERVER sets it, too. */
export const SERVER: Option<string | undefined> = {
  ...text("URL", "a running Holdfast server, its token in HOLDFAST_TOKEN (default: starts one)"),
  fallback: process.env["SERVER"] === "" ? undefined : process.env["SERVER"],
};

/** The context of a running check. */
export class Run {
  readonly tally = new Tally();
  /** Aborted when the command is interrupted. */
  readonly signal: AbortSignal;
  /** Closed at the end, in reverse order. */
  readonly stack = new AsyncDisposableStack();
  readonly #program: string;

  constructor(program: string, signal: AbortSignal) {
    this.#program = program;
    this.signal = signal;
  }

  /** Starts a server, or uses a running one. On that one the repositories made here are removed at
   * the end.
   * @param how `keep`: they are not removed; `vars`: for a started server; `owner`: of the
   * repositories, by default the program's name
   * @throws Error with the way out if the server cannot be reached, or needs another token */
  async openServer(
    server: string | undefined,
    how: { readonly keep?: boolean; readonly vars?: Readonly<Record<string, string>>; readonly owner?: string } = {},
  ): Promise<Target> {
    const owner = how.owner ?? this.#program;
    if (server === undefined) {
      showProgress("building and starting a server");
      const started = await startServer({ vars: how.vars ?? {} });
      this.stack.defer(() => started.close());
      return new Target(started.url, owner, started.pid, this.signal);
    }
    const url = readUrl(server);
    await reachServer(url, owner);
    const target = new Target(url, owner, null, this.signal);
    if (how.keep !== true) this.stack.defer(() => target.removeAll());
    return target;
  }

  /** Clones a bundle, or a repository's folder or URL.
   * @returns the folder of the mirror */
  async openHistory(source: string): Promise<string> {
    showProgress(`reading ${source}`);
    // npm runs its scripts in the project's folder.
    const file = resolve(process.env["INIT_CWD"] ?? ".", source);
    const dir = join(makeTempDir("history"), "history.git");
    await git(".", "clone", "-q", "--mirror", existsSync(file) ? file : source, dir);
    return dir;
  }
}

/** A command with several checks. */
interface Program {
  readonly name: string;
  /** Its purpose, for `--help`. */
  readonly text: string;
  /** Each check by its name, with a line about it. */
  readonly checks: Readonly<Record<string, readonly [summary: string, load: () => Promise<Check>]>>;
  /** The default check. */
  readonly fallback?: string;
}

/** Runs the check that the command line names. The exit status is 0 if all is well, 1 if something
 * failed or is wrong, 2 if the check could not run. */
export async function runProgram(program: Program): Promise<void> {
  const { name, checks, fallback } = program;
  const args = process.argv.slice(2);
  const isAsked = args.includes("--help") || args.includes("-h");
  const what = args[0]?.startsWith("-") === false ? args.shift()! : isAsked ? undefined : fallback;
  const [summary, load] = (what === undefined ? undefined : checks[what]) ?? [];
  try {
    if (load === undefined && !isAsked) {
      readWords(args, {}, "[...]");
      const wrong = what === undefined ? "name a check" : `'${what}' is not a check`;
      throw new UsageError(`${wrong}: ${Object.keys(checks).join(", ")} (see --help)`);
    }
    const check = await load?.();
    if (isAsked)
      process.stdout.write(
        check === undefined ? listChecks(program) : describeCheck(`${name} -- ${what}`, summary!, check),
      );
    else {
      const { values, operands } = readOptions(args, check!.options, check!.operands);
      await runCheck(name, check!, values, operands);
    }
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(error.message);
    process.exitCode = MISUSED;
  }
}

function listChecks({ name, text: about, checks, fallback }: Program): string {
  const width = Math.max(...Object.keys(checks).map(({ length }) => length));
  const list = Object.entries(checks).map(([check, [summary]]) => `  ${check.padEnd(width)}  ${summary}\n`);
  const usage = `Usage: npm run ${name} -- ${fallback === undefined ? "WHAT" : "[WHAT]"} [OPTIONS]`;
  return `${usage}\n\n${about}\n\n${list.join("")}\nnpm run ${name} -- WHAT --help says more about each.\n`;
}

function describeCheck(command: string, summary: string, { text: about, operands = "", options }: Check): string {
  const notes = operands.includes("HISTORY") ? "\n\nHISTORY is a bundle, or a repository's folder or URL." : "";
  const usage = `Usage: npm run ${command} [OPTIONS] ${operands}`.trim();
  return `${usage}\n\n${summary}\n\n${about}${notes}\n\n${formatOptions({ ...options, help: flag("this text") })}`;
}

async function runCheck(
  program: string,
  check: Check,
  values: Values<Options>,
  operands: readonly string[],
): Promise<void> {
  // Contains all other temporary folders, and is removed at the exit.
  process.env["HOLDFAST_TEST_DIR"] ??= makeTempDir(program);
  const interruption = new AbortController();
  const interrupted = new Promise<never>((_, reject) => {
    interruption.signal.addEventListener("abort", () => reject(new Error("interrupted")));
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interruption.abort());
  const run = new Run(program, interruption.signal);
  try {
    await Promise.race([check.run(run, values, operands), interrupted]);
    showProgress("");
    process.stdout.write(run.tally.format());
    process.exitCode = run.tally.isWell ? 0 : 1;
  } catch (error) {
    showProgress("");
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = interruption.signal.aborted ? INTERRUPTED : 2;
  } finally {
    await run.stack.disposeAsync();
  }
  // Interrupted work may still be running.
  process.exit();
}
