/** What every benchmark's command does: reads options, measures, prints the table, writes the values down. */
import { type parseArgs, type ParseArgsOptionsConfig } from "node:util";
import { readCommandLine } from "../../command-line.ts";
import setUp from "../../../test/harness/build.ts";
import { appendRounds, readSamples, type Sample, writeSamples } from "./sample.ts";
import { formatAgreement, formatTable } from "./table.ts";

/** The options of every benchmark, for its usage text. */
export const COMMON_OPTIONS = `  --csv FILE      writes every measured value there
  --add FILE      counts the rounds of an earlier run too, whose --csv that was: with rounds of other hours, the spread is that of hours
  --against FILE  tells which figures differ from an earlier run, whose --csv that was, by more than the spread that either prints
  --help          this text
`;

/** What figures and their brackets are, for usage texts. */
export const SPREAD = `A figure is the median of the rounds with, in brackets, its spread: the median of another run lies there in 95 of 100 cases, as far as
chance alone makes rounds differ; with few rounds it is wide.`;

/** How the figures of servers are to be read, for usage texts. */
export const HOW_TO_READ = `${SPREAD} Ratio is Holdfast's over native's of the same round: below 1, Holdfast
needs less. Server CPU is that of the server's processes alone, until they are idle again, on a clock of hundredths of a second.
`;

/** What came of measuring. */
export interface Outcome {
  readonly samples: readonly Sample[];
  /** Whether anything could not be measured, which was told then. */
  readonly hasFailed: boolean;
}

/** A benchmark's command. */
export interface Command<Options extends ParseArgsOptionsConfig> {
  readonly usage: string;
  /** Besides those of `COMMON_OPTIONS`. */
  readonly options: Options;
  /** @param stack what is put there is closed at the end, and when the command is interrupted
   * @throws Error if an option makes no sense */
  measure(values: Values<Options>, stack: AsyncDisposableStack): Promise<Outcome>;
  /** What the table is made of, where that is not the samples themselves. */
  condense?(samples: readonly Sample[]): readonly Sample[];
  /** How the table is written, where `formatTable` does not do. */
  format?(samples: readonly Sample[]): string;
}

/** What the command line says. */
export type Values<Options extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ options: Options }>
>["values"];

const OPTIONS = {
  csv: { type: "string" },
  add: { type: "string" },
  against: { type: "string" },
  help: { type: "boolean", default: false },
} as const;

/** Runs a benchmark as the command line says. The exit status is 0 if everything could be measured, else 1. */
export async function runCommand<const Options extends ParseArgsOptionsConfig>(
  command: Command<Options>,
): Promise<void> {
  await using stack = new AsyncDisposableStack();
  // Exiting, unlike ending by the signal, also ends what runs beside and removes temporary folders.
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      process.exitCode = INTERRUPTED;
      void stack.disposeAsync().finally(() => process.exit(INTERRUPTED));
    });
  }
  try {
    const { values } = readCommandLine({ options: { ...command.options, ...OPTIONS } });
    const { csv, add, against, help } = values as Values<typeof OPTIONS>;
    if (help === true) {
      process.stdout.write(command.usage);
      return;
    }
    const condense = (samples: readonly Sample[]): readonly Sample[] => command.condense?.(samples) ?? samples;
    // Before hours of measuring, as they might not be there.
    const added = add === undefined ? [] : readSamples(add);
    const earlier = against === undefined ? undefined : readSamples(against);
    process.stderr.write("building\n");
    stack.defer(await setUp());
    const { samples, hasFailed } = await command.measure(values as Values<Options>, stack);
    const all = appendRounds(added, samples);
    const figures = condense(all);
    process.stdout.write(command.format?.(figures) ?? formatTable(figures));
    if (earlier !== undefined) process.stdout.write(formatAgreement(condense(samples), condense(earlier)));
    if (csv !== undefined) writeSamples(csv, all);
    if (hasFailed) process.exitCode = 1;
  } catch (error) {
    console.error(isInterrupted() ? "interrupted: nothing is kept" : (error as Error).message);
    process.exitCode ||= 1;
  }
}

/** As shells tell of SIGINT. */
const INTERRUPTED = 130;

/** Whether the command was interrupted: what fails now fails for that. */
export function isInterrupted(): boolean {
  return process.exitCode === INTERRUPTED;
}

/** Reads an option that is a positive whole number.
 * @throws Error if it is none */
export function readCount(name: string, text: string): number {
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 1) throw new Error(`--${name} ${text}: not a positive whole number`);
  return count;
}

/** Reads an option that is a list of positive whole numbers: `1,5,20`.
 * @throws Error if it is none */
export function readCounts(name: string, text: string): number[] {
  return text.split(",").map((part) => readCount(name, part));
}
