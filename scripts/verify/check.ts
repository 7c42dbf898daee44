/** The frame of `npm run verify` and `npm run stress`: their command line, servers and exit
 * status. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { git } from "../../test/harness/git.ts";
import { startServer } from "../../test/harness/server.ts";
import { makeTempDir } from "../../test/harness/temp-dir.ts";
import { reachServer, readUrl } from "../bench/hosts/holdfast.ts";
import { runCommandLine, UsageError } from "../command-line.ts";
import { showProgress, Tally } from "./report.ts";
import { Target } from "./target.ts";

/** An option of a check. */
export interface Option<Value> {
  readonly type: "string" | "boolean";
  readonly multiple?: boolean;
  /** The placeholder of its value in the help, and the description. */
  readonly sign: string;
  readonly help: string;
  /** @throws UsageError if the value is invalid */
  readonly read: (given: unknown, name: string) => Value;
}

type Options = Readonly<Record<string, Option<unknown>>>;

/** The values of options. */
export type Values<Of extends Options> = { readonly [Name in keyof Of]: ReturnType<Of[Name]["read"]> };

/** One check. */
export interface Check<Of extends Options = Options> {
  /** What it does, for `--help`. */
  readonly text: string;
  /** As in `Words`. */
  readonly operands?: string;
  readonly options: Of;
  run(run: Run, values: Values<Of>, operands: readonly string[]): Promise<void>;
}

/** Defines a check with its own options. */
export function defineCheck<const Of extends Options>(check: Check<Of>): Check {
  return check as unknown as Check;
}

/** A whole number.
 * @param least the minimum: 0, or 1 by default */
export function count(fallback: number, help: string, least = 1): Option<number> {
  const read = (given: unknown, name: string): number => readCount(given ?? fallback, name, least);
  return { type: "string", sign: "N", help: `${help} (default ${fallback})`, read };
}

/** Whole numbers. */
export function counts(fallback: readonly number[], help: string): Option<readonly number[]> {
  const read = (given: unknown, name: string): readonly number[] =>
    given === undefined ? fallback : (given as string).split(",").map((part) => readCount(part, name, 1));
  return { type: "string", sign: "N,N", help: `${help} (default ${fallback.join()})`, read };
}

/** Any text. */
export function text(sign: string, help: string): Option<string | undefined> {
  return { type: "string", sign, help, read: (given) => given as string | undefined };
}

/** Any text; the option may be repeated. */
export function texts(sign: string, help: string): Option<readonly string[]> {
  const read = (given: unknown): readonly string[] => (given as string[] | undefined) ?? [];
  return { type: "string", multiple: true, sign, help: `${help}; may be repeated`, read };
}

/** A flag. */
export function flag(help: string): Option<boolean> {
  return { type: "boolean", sign: "", help, read: (given) => given === true };
}

/** The server; the environment variable SERVER sets it, too. */
export const SERVER: Option<string | undefined> = {
  type: "string",
  sign: "URL",
  help: "a running Holdfast server, its token in HOLDFAST_TOKEN (default: starts one)",
  read: (given) => (given as string | undefined) ?? (process.env["SERVER"] === "" ? undefined : process.env["SERVER"]),
};

function readCount(given: unknown, name: string, least: number): number {
  const value = Number(given);
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new UsageError(`--${name} ${String(given)}: not a whole number from ${least}`);
}

/** The context of a running check. */
export class Run {
  readonly tally = new Tally();
  /** Aborted when the command is interrupted. */
  readonly signal: AbortSignal;
  /** Closed at the end, in reverse order. */
  readonly stack: AsyncDisposableStack;
  readonly #program: string;

  constructor(program: string, stack: AsyncDisposableStack, signal: AbortSignal) {
    this.#program = program;
    this.stack = stack;
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

/** The checks by name, each with a one-line summary and its module. */
export type Checks = Readonly<Record<string, readonly [summary: string, load: () => Promise<{ default: Check }>]>>;

/** A command with several checks. */
export interface Program {
  readonly name: string;
  /** Its purpose, for `--help`. */
  readonly text: string;
  readonly checks: Checks;
  /** The default check. */
  readonly fallback?: string;
}

/** Exit status after an interrupt, as shells report SIGINT. */
const INTERRUPTED = 130;

/** Runs the check that the command line names. The exit status is 0 if all is well, 1 if something
 * failed or is wrong, 2 if the check could not run. */
export async function runProgram({ name, text: about, checks, fallback }: Program): Promise<void> {
  const args = process.argv.slice(2);
  const isNamed = args[0]?.startsWith("-") === false;
  const isAsked = args.includes("--help") || args.includes("-h");
  const what = isNamed ? args.shift()! : isAsked ? undefined : fallback;
  const found = what === undefined ? undefined : checks[what];
  if (found === undefined) {
    const list = formatHelp(Object.entries(checks).map(([check, [summary]]) => [check, summary]));
    const usage = `Usage: npm run ${name} -- ${fallback === undefined ? "WHAT" : "[WHAT]"} [OPTIONS]\n\n${about}\n\n${list}`;
    await runCommandLine(
      `${usage}\nnpm run ${name} -- WHAT --help says more about each.\n`,
      {},
      () => {
        const names = Object.keys(checks).join(", ");
        throw new UsageError(
          `${what === undefined ? "name a check" : `'${what}' is not a check`}: ${names} (see --help)`,
        );
      },
      { args, operands: "[...]" },
    );
    return;
  }
  const [summary, load] = found;
  const { default: check } = await load();
  await runCommandLine(
    formatUsage(`npm run ${name} -- ${what}`, summary, check),
    Object.fromEntries(
      Object.entries(check.options).map(([key, { type, multiple = false }]) => [key, { type, multiple }]),
    ),
    (given: Record<string, unknown>, operands) => {
      const values = Object.entries(check.options).map(([key, { read }]) => [key, read(given[key], key)] as const);
      return runCheck(name, check, Object.fromEntries(values), operands);
    },
    { args, operands: check.operands ?? "" },
  );
}

function formatUsage(command: string, summary: string, { text: about, operands = "", options }: Check): string {
  const notes = operands.includes("HISTORY") ? "\n\nHISTORY is a bundle, or a repository's folder or URL." : "";
  const rows = Object.entries(options).map(([key, { sign, help }]) => [`--${key} ${sign}`.trim(), help] as const);
  const list = formatHelp([...rows, ["--help", "this text"]]);
  return `Usage: ${command} [OPTIONS] ${operands}`.trim() + `\n\n${summary}\n\n${about}${notes}\n\n${list}`;
}

function formatHelp(rows: readonly (readonly [name: string, help: string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, help]) => `  ${name.padEnd(width)}  ${help}\n`).join("");
}

async function runCheck(program: string, check: Check, values: Values<Options>, operands: string[]): Promise<void> {
  // Contains all other temporary folders, and is removed at the exit.
  process.env["HOLDFAST_TEST_DIR"] ??= makeTempDir(program);
  const interruption = new AbortController();
  const interrupted = new Promise<never>((_, reject) => {
    interruption.signal.addEventListener("abort", () => reject(new Error("interrupted")));
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interruption.abort());
  const stack = new AsyncDisposableStack();
  const run = new Run(program, stack, interruption.signal);
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
    await stack.disposeAsync();
  }
  // Interrupted work may still be running.
  process.exit();
}
