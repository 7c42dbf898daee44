/** What every benchmark's command does: reads options, measures, prints the table, writes the values down. */
import { parseArgs, type ParseArgsOptionsConfig } from "node:util";
import setUp from "../../../test/harness/build.ts";
import { readSamples, type Sample, writeSamples } from "./sample.ts";
import { formatAgreement, formatTable } from "./table.ts";

/** The options of every benchmark, for its usage text. */
export const COMMON_OPTIONS = `  --csv FILE      writes every measured value there
  --against FILE  tells which figures differ from an earlier run, whose --csv that was, by more than the spread of either
  --help          this text
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
  /** Besides `--csv`, `--against` and `--help`. */
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
    process.once(signal, () => void stack.disposeAsync().finally(() => process.exit(130)));
  }
  try {
    const { values } = parseArgs({ options: { ...command.options, ...OPTIONS } });
    const { csv, against, help } = values as Values<typeof OPTIONS>;
    if (help === true) {
      process.stdout.write(command.usage);
      return;
    }
    const condense = (samples: readonly Sample[]): readonly Sample[] => command.condense?.(samples) ?? samples;
    const earlier = against === undefined ? undefined : readSamples(against);
    process.stderr.write("building\n");
    stack.defer(await setUp());
    const { samples, hasFailed } = await command.measure(values as Values<Options>, stack);
    const figures = condense(samples);
    process.stdout.write(command.format?.(figures) ?? formatTable(figures));
    if (earlier !== undefined) process.stdout.write(formatAgreement(figures, condense(earlier)));
    if (csv !== undefined) writeSamples(csv, samples);
    if (hasFailed) process.exitCode = 1;
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 1;
  }
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
