/** Runs benchmarks, so that the page can be made of what they measure. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describeMachine } from "./machine.ts";
import { FOLDER, noteMachine } from "./make-report.ts";

/** How a part is measured for the page. */
interface Benchmark {
  /** In scripts/bench. */
  readonly script: string;
  /** Whether it takes histories by `--bundle`. */
  readonly takesBundles: boolean;
  /** About how long it takes on two cores, in minutes. */
  readonly minutes: number;
}

/** By the names of the files of samples. */
const BENCHMARKS: Readonly<Record<string, Benchmark>> = {
  quick: { script: "quick.ts", takesBundles: false, minutes: 2 },
  core: { script: "core.ts", takesBundles: true, minutes: 10 },
  fetch: { script: "fetch.ts", takesBundles: true, minutes: 30 },
  storm: { script: "storm.ts", takesBundles: true, minutes: 30 },
  store: { script: "store.ts", takesBundles: false, minutes: 20 },
  codec: { script: "codec.ts", takesBundles: true, minutes: 5 },
  rest: { script: "rest.ts", takesBundles: false, minutes: 10 },
};

/** Names of all that can be measured, and how long each takes. */
export function listBenchmarks(): { name: string; minutes: number }[] {
  return Object.entries(BENCHMARKS).map(([name, { minutes }]) => ({ name, minutes }));
}

/** Runs benchmarks one after the other. A file of samples is replaced once its benchmark has measured everything.
 * @param names of `listBenchmarks`
 * @param bundles histories to measure with, where a benchmark takes them
 * @returns the names of those that failed
 * @throws Error if there is none of a name; nothing was run then */
export async function measureParts(
  docs: string,
  names: readonly string[],
  bundles: readonly string[],
): Promise<string[]> {
  const chosen = names.map((name) => [name, findBenchmark(name)] as const);
  mkdirSync(join(docs, FOLDER), { recursive: true });
  const failed: string[] = [];
  let minutesLeft = chosen.reduce((sum, [, { minutes }]) => sum + minutes, 0);
  for (const [index, [name, benchmark]] of chosen.entries()) {
    process.stderr.write(`\n${name}, ${index + 1} of ${chosen.length}; about ${minutesLeft} minutes to go\n`);
    if (!(await measurePart(docs, name, benchmark, bundles))) failed.push(name);
    minutesLeft -= benchmark.minutes;
  }
  return failed;
}

function findBenchmark(name: string): Benchmark {
  const benchmark = BENCHMARKS[name];
  if (benchmark === undefined) throw new Error(`${name}: not one of ${Object.keys(BENCHMARKS).join(", ")}`);
  return benchmark;
}

async function measurePart(
  docs: string,
  name: string,
  { script, takesBundles }: Benchmark,
  bundles: readonly string[],
): Promise<boolean> {
  const path = join(docs, FOLDER, `${name}.csv`);
  const fresh = `${path}.new`;
  const histories = takesBundles ? bundles.flatMap((bundle) => ["--bundle", bundle]) : [];
  const machine = describeMachine();
  try {
    const args = [join(import.meta.dirname, "..", script), ...histories, "--csv", fresh];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "inherit", "inherit"] });
    // Ctrl-C reaches the benchmark too, which cleans up after itself: it is waited for.
    const waitForChild = (): void => {};
    process.on("SIGINT", waitForChild);
    const [code, signal] = (await once(child, "close")) as [number | null, string | null];
    process.off("SIGINT", waitForChild);
    if (code === 130 || signal === "SIGINT") throw new Error("interrupted: nothing of this benchmark is kept");
    if (code !== 0 || !existsSync(fresh)) {
      process.stderr.write(`${name}: failed; what was measured before stays\n`);
      return false;
    }
    renameSync(fresh, path);
    noteMachine(docs, name, machine);
    return true;
  } finally {
    rmSync(fresh, { force: true });
  }
}
