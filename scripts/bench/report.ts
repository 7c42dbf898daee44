/** `npm run bench:report`: the page docs/performance.md and its pictures, made of the samples in docs/performance. */
import { join } from "node:path";
import { readCommandLine } from "../command-line.ts";
import { PROJECT } from "../../test/harness/build.ts";
import { listDifferences, makeReport, PAGE, writeReport } from "./report/make-report.ts";
import { listBenchmarks, measureParts } from "./report/measure.ts";

const BENCHMARKS = listBenchmarks();

const USAGE = `Usage: npm run bench:report -- [OPTIONS] [NAME …]

Makes the tables and charts of docs/performance.md anew, from the measured values in docs/performance/*.csv. What nobody has
measured is named, and the page says so.

  --measure        runs the benchmarks anew before, one after the other, all or those named. Leave the machine alone meanwhile.
${BENCHMARKS.map(({ name, minutes }) => `                     ${name.padEnd(8)} about ${minutes} minutes\n`).join("")}  --bundle FILE    a bundle or repository to measure with; may be repeated (default: made-up histories). The goals are
                   of express and esbuild: files express.bundle and esbuild.bundle
  --check          changes nothing; ends with 1 and names what is not as it would be made, or not measured
  --docs DIR       another folder than docs
  --help           this text
`;

try {
  process.exitCode = await main();
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}

/** @returns the exit status */
async function main(): Promise<number> {
  const { values, positionals } = readCommandLine({
    options: {
      measure: { type: "boolean", default: false },
      bundle: { type: "string", multiple: true, default: [] },
      check: { type: "boolean", default: false },
      docs: { type: "string", default: join(PROJECT, "docs") },
      help: { type: "boolean", default: false },
    },
    allowPositionals: true,
  });
  if (values.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const { measure, check, docs, bundle } = values;
  if (measure && check) throw new Error("--check changes nothing, --measure does: choose one");
  if (positionals.length > 0 && !measure) throw new Error(`${positionals.join(" ")}: names are for --measure`);
  const names = positionals.length === 0 ? BENCHMARKS.map(({ name }) => name) : positionals;
  const failed = measure ? await measureParts(docs, names, bundle) : [];
  const report = await makeReport(docs);
  for (const path of report.unmeasured) process.stderr.write(`${path}: not there; --measure makes it\n`);
  for (const fault of report.faults) process.stderr.write(`${fault}\n`);
  const differences = listDifferences(docs, report);
  if (check) {
    for (const path of differences)
      process.stderr.write(`${path}: not what the samples say; npm run bench:report makes it\n`);
    return differences.length + report.unmeasured.length + report.faults.length === 0 ? 0 : 1;
  }
  writeReport(docs, report);
  for (const path of differences) process.stdout.write(`${path}\n`);
  if (differences.length === 0) process.stdout.write(`${PAGE} and its pictures are what the samples say\n`);
  return failed.length === 0 ? 0 : 1;
}
