/** Makes seeded runs of pushes, fetches, housekeeping and crashes, and checks each against what was acknowledged. */
import "../../test/harness/read-at-least.ts";
import "./wasm-modules.ts";
import { readCommandLine } from "../command-line.ts";
import { formatRows, showProgress } from "./report.ts";

const USAGE = `Usage: node_modules/.bin/node scripts/verify/concurrent.ts [OPTIONS]

Makes runs of clients that push, fetch and use the API of one repository at the same time, while housekeeping runs, R2 fails and is
slow, clocks jump, and the process dies. Each run's every choice and delay comes of its seed. Whatever was acknowledged must be there, everything that
refs lead to must come with a clone, what was refused or never acknowledged must not be half there, the next push must work, and in the
end nothing may be left that nothing names. Prints how often what happened, and for each failing run its trace. Ends with 1 if one fails.

  --runs N   how many (default 200)
  --seed N   of the first run; the next ones follow (default 1)
  --length N how much the clients of a run do (default 3)
  --trace    prints the trace of every run
  --help     this text
`;

const { values } = readCommandLine({
  options: {
    runs: { type: "string" },
    seed: { type: "string" },
    length: { type: "string", default: "3" },
    trace: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

if (values.help) process.stdout.write(USAGE);
else await main(Number(values.seed ?? 1), Number(values.runs ?? (values.seed === undefined ? 200 : 1)));

async function main(first: number, runs: number): Promise<void> {
  const { simulate } = await import("../../test/repository/simulation/run.ts");
  const startMs = performance.now();
  const totals = new Map<string, number>();
  const failed: number[] = [];
  for (let seed = first; seed < first + runs; seed++) {
    showProgress(`run ${seed - first + 1} of ${runs}, ${failed.length} failed`);
    const { digest, violations, trace, counts } = await simulate(seed, Number(values.length));
    for (const [what, count] of counts) totals.set(what, (totals.get(what) ?? 0) + count);
    if (violations.length > 0) failed.push(seed);
    if (violations.length > 0 || values.trace) process.stdout.write(`${trace.join("\n")}\n`);
    if (violations.length > 0 || runs === 1) process.stdout.write(`seed ${seed}: digest ${digest}\n`);
    for (const violation of violations) process.stdout.write(`seed ${seed}: ${violation}\n`);
  }
  const rows = [...totals].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([what, count]) => [what, `${count}`]);
  process.stdout.write(`${formatRows([["what", "times"], ...rows], [1])}\n`);
  const seconds = (performance.now() - startMs) / 1_000;
  process.stdout.write(
    `${runs} runs in ${seconds.toFixed(1)} s, ${failed.length} with violations ${failed.join(" ")}\n`,
  );
  process.exitCode = failed.length === 0 ? 0 : 1;
}
