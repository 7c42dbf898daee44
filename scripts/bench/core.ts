/** `npm run bench:core`: Holdfast's Git core beside native git, on the same machine in the same run. */
import { measureFetch, measureNoise, measurePush } from "./cases/git.ts";
import { COMMON_OPTIONS, HOW_TO_READ } from "./figures/command.ts";
import { HOST_OPTIONS, type Measurement, type Run, runBenchmark } from "./run-benchmark.ts";

const USAGE = `Usage: npm run bench:core -- [OPTIONS]

Measures Holdfast on workerd beside git http-backend behind Apache, in turns.

${HOW_TO_READ}
  --bundle FILE   a bundle or repository to push and fetch; may be repeated (default: a made-up history)
  --rounds N      recorded rounds of each case, after one to warm up (default 5)
  --only CASE     push, fetch or noise; may be repeated (default: all)
${HOST_OPTIONS}${COMMON_OPTIONS}`;

const CASES = ["push", "fetch", "noise"] as const;

const NOISE_FILES = [1000, 5000];

function* plan({ cases, rounds, subjects, hosts }: Run<(typeof CASES)[number], never>): Generator<Measurement> {
  for (const name of cases) {
    if (name === "noise") {
      for (const files of NOISE_FILES) yield [`noise, ${files} files`, () => measureNoise(files, rounds, hosts)];
      continue;
    }
    for (const subject of subjects) {
      yield [
        `${name} ${subject.name}`,
        () => (name === "push" ? measurePush(subject, rounds, hosts) : measureFetch(subject, rounds, hosts)),
      ];
    }
  }
}

await runBenchmark({ usage: USAGE, cases: CASES, sizes: {}, plan });
