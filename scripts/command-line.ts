/** What the commands of whoever runs a server do with their command line: help first, and one
 * line for what is wrong. */
import { parseArgs, type ParseArgsConfig, type ParseArgsOptionsConfig } from "node:util";

/** The command line, or what is there, is not as the command needs it. The message is one line
 * that says what is wrong and what would do. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** What the command line says. */
type Values<Options extends ParseArgsOptionsConfig> = ReturnType<typeof parseArgs<{ options: Options }>>["values"];

/** Where the command line is, if not in `process.argv`, and what it has besides options. */
export interface Words {
  readonly args?: readonly string[];
  /** Such as "HISTORY [URL]" or "[CLIENT...]": those in brackets may be left out. None unless
   * set. */
  readonly operands?: string;
}

/** The exit status of a command that was not told rightly what to do, and did nothing. */
const MISUSED = 2;

/** Runs a command as its command line says. With `--help` anywhere in it the command is only told
 * of, whatever else is there. What cannot be done as it was asked for is told in one line, and
 * ends the process with status 2.
 * @param usage what `--help` prints
 * @throws whatever `run` throws, but for UsageError */
export async function runCommandLine<const Options extends ParseArgsOptionsConfig>(
  usage: string,
  options: Options,
  run: (values: Values<Options>, operands: string[]) => Promise<void> | void,
  { args = process.argv.slice(2), operands = "" }: Words = {},
): Promise<void> {
  if (args.includes("--help") || args.includes("-h")) {
    process.stdout.write(usage);
    return;
  }
  try {
    const { values, positionals } = readValues(args, options, operands);
    await run(values, positionals);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(error.message);
    process.exitCode = MISUSED;
  }
}

/** Reads the command line of a command that does the rest itself. What is wrong with it is told
 * in one line, and ends the process with status 2.
 * @throws Error if `config` is wrong */
export function readCommandLine<const Config extends ParseArgsConfig>(
  config: Config,
): ReturnType<typeof parseArgs<Config>> {
  try {
    return parseArgs(config);
  } catch (error) {
    console.error(misuse(error).message);
    process.exit(MISUSED);
  }
}

/** @throws UsageError for an option that is not known or lacks its value, or for operands that
 * are too few or too many */
function readValues<const Options extends ParseArgsOptionsConfig>(
  args: readonly string[],
  options: Options,
  operands: string,
): { values: Values<Options>; positionals: string[] } {
  const words = operands.split(" ").filter((word) => word !== "");
  const most = operands.includes("...") ? Infinity : words.length;
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: words.length > 0 });
    const missing = words.slice(positionals.length).find((word) => !word.startsWith("["));
    if (missing !== undefined) throw new UsageError(`${missing} is missing (--help tells what there is)`);
    if (positionals.length > most) throw new UsageError(`'${positionals[most]}' is one too many; --help tells why`);
    return { values, positionals };
  } catch (error) {
    throw error instanceof UsageError ? error : misuse(error);
  }
}

/** What `parseArgs` finds wrong, in one line.
 * @throws what it is given, if that is something else */
function misuse(error: unknown): UsageError {
  const { code, message } = error as NodeJS.ErrnoException;
  if (!code?.startsWith("ERR_PARSE_ARGS_")) throw error;
  // npm keeps options that come before `--` for itself, and passes on what was meant as their
  // values.
  if (code === "ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL")
    return new UsageError(`${/'.*?'/.exec(message)?.[0]} is no option; with npm, options come after "--" (--help)`);
  return new UsageError(`${/^[^.\n]*/.exec(message)![0]} (--help tells what there is)`);
}
