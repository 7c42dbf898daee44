/** What the benchmarks' commands do that measure Holdfast beside native git. */
import { readUrl } from "./hosts/holdfast.ts";
import { type Hosts, openHosts } from "./hosts/hosts.ts";
import { isInterrupted, readCount, readCounts, runCommand, type Values } from "./figures/command.ts";
import type { Sample } from "./figures/sample.ts";
import { makeSubject, openSubject, type Subject } from "./work/subjects.ts";

/** The options of these benchmarks, for their usage texts. */
export const HOST_OPTIONS = `  --url URL       a Holdfast server that runs already (default: one is started). It gets repositories below /bench/, which are deleted
                  in the end. HOLDFAST_TOKEN is the token, where one is asked for: of a right to administer all that "bench" has
  --pid N         of that server, if it runs here: its CPU is that of the process and of all that it started
  --no-native     without native git beside
`;

/** The same, as they are read. */
export const HOST_SETTINGS = {
  url: { type: "string" },
  pid: { type: "string" },
  "no-native": { type: "boolean", default: false },
} as const;

/** Starts or takes the hosts that these options name.
 * @param stack closes them
 * @throws Error if an option makes no sense, or the server at the URL does not answer */
export function openNamedHosts(values: Values<typeof HOST_SETTINGS>, stack: AsyncDisposableStack): Promise<Hosts> {
  const { url, pid, "no-native": withoutNative } = values;
  const running =
    url === undefined ? undefined : { url: readUrl(url), pid: pid === undefined ? null : readCount("pid", pid) };
  return openHosts({ running, withNative: withoutNative !== true }, stack);
}

/** One measurement, and what to call it should it fail. */
export type Measurement = readonly [name: string, measure: () => Promise<Sample[]>];

/** What a plan is made from. */
export interface Run<Case extends string, Size extends string, List extends string = never> {
  readonly hosts: Hosts;
  readonly subjects: readonly Subject[];
  readonly rounds: number;
  readonly cases: readonly Case[];
  readonly sizes: Readonly<Record<Size, number>>;
  readonly lists: Readonly<Record<List, readonly number[]>>;
}

/** A benchmark. Its command knows `--bundle`, `--rounds` and `--only` besides its sizes and the common options. */
export interface Benchmark<Case extends string, Size extends string, List extends string = never> {
  readonly usage: string;
  readonly cases: readonly Case[];
  /** Further options that are positive whole numbers, with their defaults. */
  readonly sizes: Readonly<Record<Size, number>>;
  /** Further options that are lists of such numbers. */
  readonly lists?: Readonly<Record<List, readonly number[]>>;
  plan(run: Run<Case, Size, List>): Iterable<Measurement>;
  /** What the table is made of, where that is not the samples themselves. */
  readonly condense?: (samples: readonly Sample[]) => readonly Sample[];
}

/** Runs a benchmark as the command line says; the exit status tells whether every case could be measured. */
export function runBenchmark<Case extends string, Size extends string, List extends string = never>(
  benchmark: Benchmark<Case, Size, List>,
): Promise<void> {
  const { cases, sizes, lists = {}, condense } = benchmark;
  const numbers = Object.entries<number | readonly number[]>({ ...sizes, ...lists }).map(
    ([name, value]) => [name, { type: "string", default: String(value) }] as const,
  );
  return runCommand({
    usage: benchmark.usage,
    ...(condense === undefined ? {} : { condense }),
    options: {
      bundle: { type: "string", multiple: true, default: [] as string[] },
      rounds: { type: "string", default: "5" },
      only: { type: "string", multiple: true, default: [...cases] as string[] },
      ...HOST_SETTINGS,
      ...(Object.fromEntries(numbers) as Record<string, { type: "string"; default: string }>),
    },
    async measure(values, stack) {
      const { bundle, rounds, only } = values;
      const unknown = only.find((name) => !cases.some((known) => known === name));
      if (unknown !== undefined) throw new Error(`--only ${unknown}: not one of ${cases.join(", ")}`);
      const readEach = <Value>(names: object, read: (name: string, text: string) => Value): Record<string, Value> =>
        Object.fromEntries(
          Object.keys(names).map((name) => [name, read(name, String((values as Record<string, unknown>)[name]))]),
        );
      const run = {
        rounds: readCount("rounds", rounds),
        cases: cases.filter((name) => only.includes(name)),
        sizes: readEach(sizes, readCount) as Record<Size, number>,
        lists: readEach(lists, readCounts) as Record<List, readonly number[]>,
      };
      const hosts = await openNamedHosts(values, stack);
      const subjects = bundle.length === 0 ? [await makeSubject()] : await Promise.all(bundle.map(openSubject));
      return measureAll(benchmark.plan({ hosts, subjects, ...run }));
    },
  });
}

/** Measures one after the other; what fails is told, and the others go on. */
export async function measureAll(
  plan: Iterable<Measurement> | AsyncIterable<Measurement>,
): Promise<{ samples: Sample[]; hasFailed: boolean }> {
  const samples: Sample[] = [];
  let hasFailed = false;
  for await (const [name, measure] of plan) {
    try {
      samples.push(...(await measure()));
    } catch (error) {
      if (isInterrupted()) throw error;
      hasFailed = true;
      console.error(`${name} failed:`, error);
    }
  }
  return { samples, hasFailed };
}
