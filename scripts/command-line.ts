/** The command line of all commands: `--help`, and one line for each mistake. */
import { parseArgs, type ParseArgsConfig, type ParseArgsOptionsConfig } from "node:util";

/** The command line, or what it names, is wrong. The message is one line that says what is wrong
 * and what would be right. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** The options' values. */
type Values<Options extends ParseArgsOptionsConfig> = ReturnType<typeof parseArgs<{ options: Options }>>["values"];

/** The command line, if not that of the process, and its operands. */
export interface Words {
  readonly args?: readonly string[];
  /** Such as "HISTORY [URL]" or "[CLIENT...]"; those in brackets are optional. Default: none. */
  readonly operands?: string;
}

/** The exit status of a command that was called wrongly and did nothing. */
export const MISUSED = 2;

/** The exit status after an interrupt, as shells report SIGINT. */
export const INTERRUPTED = 130;

/** Runs a command with the options of its command line. `--help` anywhere in it prints the usage
 * instead. A UsageError prints one line and ends the process with status 2.
 * @param usage what `--help` prints
 * @throws whatever `run` throws, except UsageError */
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
    const { values, positionals } = readWords(args, options, operands);
    await run(values, positionals);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(error.message);
    process.exitCode = MISUSED;
  }
}

/** Reads the command line of a command that does the rest itself. A mistake prints one line and
 * ends the process with status 2.
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

/** Reads options and operands.
 * @throws UsageError for an unknown option, a missing value, or too few or too many operands */
export function readWords<const Options extends ParseArgsOptionsConfig>(
  args: readonly string[],
  options: Options,
  operands: string,
): { values: Values<Options>; positionals: string[] } {
  const words = operands.split(" ").filter((word) => word !== "");
  const most = operands.includes("...") ? Infinity : words.length;
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: words.length > 0 });
    const missing = words.slice(positionals.length).find((word) => !word.startsWith("["));
    if (missing !== undefined) throw new UsageError(`${missing} is missing (see --help)`);
    if (positionals.length > most) throw new UsageError(`'${positionals[most]}' is one operand too many (see --help)`);
    return { values, positionals };
  } catch (error) {
    throw error instanceof UsageError ? error : misuse(error);
  }
}

/** The mistake that `parseArgs` found, in one line.
 * @throws the error itself, if it is another one */
function misuse(error: unknown): UsageError {
  const { code, message } = error as NodeJS.ErrnoException;
  if (!code?.startsWith("ERR_PARSE_ARGS_")) throw error;
  // npm takes options before `--` for itself, and passes their values on as operands.
  if (code === "ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL")
    return new UsageError(`${/'.*?'/.exec(message)?.[0]} is no option; with npm, options come after "--" (--help)`);
  return new UsageError(`${/^[^.\n]*/.exec(message)![0]} (see --help)`);
}
