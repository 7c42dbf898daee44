/** What every benchmark's command does: reads options, starts both hosts, measures, prints. */
import { writeFileSync } from "node:fs";
import { parseArgs, type ParseArgsOptionsConfig } from "node:util";
import setUp from "../../test/harness/build.ts";
import { type Hosts, startHoldfast, startReference } from "./hosts.ts";
import { makeSubject, openSubject, type Subject } from "./subjects.ts";
import { type Figure, formatCsv, formatTable } from "./turns.ts";

/** One measurement, and what to call it should it fail. */
export type Measurement = readonly [name: string, measure: () => Promise<Figure[]>];

/** What a plan is made from. */
export interface Run<Case extends string, Size extends string> {
  readonly hosts: Hosts;
  readonly subjects: readonly Subject[];
  readonly rounds: number;
  readonly cases: readonly Case[];
  readonly sizes: Readonly<Record<Size, number>>;
}

/** A benchmark. Its command knows `--bundle`, `--rounds`, `--only`, `--csv` and `--help` besides its sizes. */
export interface Benchmark<Case extends string, Size extends string> {
  readonly usage: string;
  readonly cases: readonly Case[];
  /** Further options that are positive whole numbers, with their defaults. */
  readonly sizes: Readonly<Record<Size, number>>;
  plan(run: Run<Case, Size>): Iterable<Measurement>;
}

/** Runs a benchmark as the command line says; the exit code tells whether every case could be measured. */
export async function runBenchmark<Case extends string, Size extends string>(
  benchmark: Benchmark<Case, Size>,
): Promise<void> {
  // Exiting, unlike ending by the signal, ends Apache and removes the temporary folder.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
  try {
    const options = readOptions(benchmark);
    if (options === "help") {
      process.stdout.write(benchmark.usage);
      return;
    }
    process.stderr.write("building\n");
    const cleanUp = await setUp();
    if (!(await measureAll(benchmark, options))) process.exitCode = 1;
    await cleanUp();
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 1;
  }
}

interface Options<Case extends string, Size extends string> extends Pick<
  Run<Case, Size>,
  "rounds" | "cases" | "sizes"
> {
  readonly bundles: readonly string[];
  readonly csv: string | undefined;
}

/** @throws Error if an option is unknown or makes no sense */
function readOptions<Case extends string, Size extends string>({
  cases,
  sizes,
}: Benchmark<Case, Size>): Options<Case, Size> | "help" {
  const config: ParseArgsOptionsConfig = {
    bundle: { type: "string", multiple: true, default: [] },
    rounds: { type: "string", default: "5" },
    only: { type: "string", multiple: true, default: [...cases] },
    csv: { type: "string" },
    help: { type: "boolean", default: false },
  };
  for (const [name, size] of Object.entries<number>(sizes)) config[name] = { type: "string", default: String(size) };
  const { values } = parseArgs({ options: config });
  if (values["help"] === true) return "help";
  const readNumber = (name: string): number => {
    const number = Number(values[name]);
    if (!Number.isSafeInteger(number) || number < 1) throw new Error(`--${name} ${number}: not a positive number`);
    return number;
  };
  const only = values["only"] as string[];
  const unknown = only.find((name) => !cases.some((known) => known === name));
  if (unknown !== undefined) throw new Error(`--only ${unknown}: not one of ${cases.join(", ")}`);
  const names = Object.keys(sizes) as Size[];
  return {
    bundles: values["bundle"] as string[],
    rounds: readNumber("rounds"),
    cases: cases.filter((name) => only.includes(name)),
    sizes: Object.fromEntries(names.map((name) => [name, readNumber(name)])) as Record<Size, number>,
    csv: values["csv"] as string | undefined,
  };
}

/** @returns whether every case could be measured */
async function measureAll<Case extends string, Size extends string>(
  benchmark: Benchmark<Case, Size>,
  { bundles, csv, ...options }: Options<Case, Size>,
): Promise<boolean> {
  const subjects = bundles.length === 0 ? [await makeSubject()] : await Promise.all(bundles.map(openSubject));
  const hosts = { native: await startReference(), holdfast: await startHoldfast() };
  const figures: Figure[] = [];
  let failures = 0;
  try {
    for (const [name, measure] of benchmark.plan({ hosts, subjects, ...options })) {
      try {
        figures.push(...(await measure()));
      } catch (error) {
        failures++;
        console.error(`${name} failed:`, error);
      }
    }
  } finally {
    await Promise.all([hosts.native.close(), hosts.holdfast.close()]);
  }
  process.stdout.write(formatTable(figures));
  if (csv !== undefined) writeFileSync(csv, formatCsv(figures));
  return failures === 0;
}
