/** `npm run bench`: measures Holdfast, and native git where it is installed. */
import setUp from "../test/harness/build.ts";
import { codec } from "./bench/cases/codec.ts";
import { core, fetchCase } from "./bench/cases/fetch.ts";
import { lfs } from "./bench/cases/lfs.ts";
import { pages } from "./bench/cases/pages.ts";
import { follow, quick } from "./bench/cases/quick.ts";
import { rest } from "./bench/cases/rest.ts";
import { storm } from "./bench/cases/storm.ts";
import { Bench, type Case, COMMON } from "./bench/figures/bench.ts";
import { readSamples, writeSamples } from "./bench/figures/sample.ts";
import { formatAgreement, formatTable, toPercentiles } from "./bench/figures/table.ts";
import { operations } from "./bench/operations/operations.ts";
import { profile } from "./bench/profile/profile.ts";
import { store } from "./bench/store/store.ts";
import { INTERRUPTED, MISUSED, UsageError } from "./command-line.ts";
import { formatOptions, type Options, readOptions, type Values } from "./options.ts";

const CASES: Readonly<Record<string, Case>> = {
  quick,
  follow,
  core,
  fetch: fetchCase,
  storm,
  store,
  codec,
  rest,
  lfs,
  pages,
  operations,
  profile,
};

const HOW_TO_READ = `A figure is the median of the rounds with, in brackets, its spread: the median of another run lies
there in 95 of 100 cases, if only chance makes rounds differ. The ratio divides Holdfast's figure by
native's of the same round: below 1, Holdfast needs less. CPU is that of the server's processes
only, until they are idle again, in steps of a hundredth of a second.
`;

const USAGE = `Usage: npm run bench -- [CASE] [OPTIONS]

${Object.entries(CASES)
  .map(([name, { summary }]) => `  ${name.padEnd(12)}${summary}\n`)
  .join("")}
The default CASE is quick. npm run bench -- CASE --help lists its options. All cases have these:

${formatOptions(COMMON)}
${HOW_TO_READ}`;

function usageOf(name: string, { summary, about, options }: Case): string {
  const told = formatOptions({ ...options, ...COMMON });
  return `Usage: npm run bench -- ${name} [OPTIONS]\n\nMeasures ${summary}.\n\n${about}\n\n${told}\n${HOW_TO_READ}`;
}

async function run(one: Case, values: Values<Options>): Promise<void> {
  await using stack = new AsyncDisposableStack();
  // `exit`, unlike death by the signal, also stops the child processes and removes temporary
  // folders.
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      process.exitCode = INTERRUPTED;
      void stack.disposeAsync().finally(() => process.exit(INTERRUPTED));
    });
  }
  const { csv, against } = values as Values<typeof COMMON>;
  const condense = (samples: Bench["samples"]): Bench["samples"] => toPercentiles(samples, one.percentiles ?? []);
  // Read before hours of measuring: the file may not exist.
  const earlier = against === undefined ? undefined : readSamples(against);
  process.stderr.write("building\n");
  stack.defer(await setUp());
  const bench = new Bench(stack);
  await one.measure(values, bench);
  const { samples, hasFailed } = bench;
  if (samples.length > 0) process.stdout.write((one.format ?? formatTable)(condense(samples)));
  if (earlier !== undefined) process.stdout.write(formatAgreement(condense(samples), condense(earlier)));
  if (csv !== undefined) writeSamples(csv, samples);
  if (hasFailed) process.exitCode = 1;
}

const args = process.argv.slice(2);
const isNamed = args[0] !== undefined && !args[0].startsWith("-");
const name = isNamed ? args.shift()! : "quick";
const one = Object.hasOwn(CASES, name) ? CASES[name] : undefined;
try {
  if (one === undefined) throw new UsageError(`${name} is no case: ${Object.keys(CASES).join(", ")} (--help)`);
  if (args.includes("--help") || args.includes("-h")) process.stdout.write(isNamed ? usageOf(name, one) : USAGE);
  else await run(one, readOptions(args, { ...one.options, ...COMMON }).values);
} catch (error) {
  console.error(process.exitCode === INTERRUPTED ? "interrupted: nothing is kept" : (error as Error).message);
  process.exitCode ||= error instanceof UsageError ? MISUSED : 1;
}
