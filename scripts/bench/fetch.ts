/** `npm run bench:fetch`: fetches of every kind, Holdfast beside native git, on the same machine in the same run. */
import { measureBranches } from "./cases/branches.ts";
import { measurePushes } from "./cases/pushes.ts";
import { COMMON_OPTIONS, HOW_TO_READ } from "./figures/command.ts";
import { HOST_OPTIONS, type Measurement, type Run, runBenchmark } from "./run-benchmark.ts";
import { measureSizes } from "./cases/sizes.ts";

const USAGE = `Usage: npm run bench:fetch -- [OPTIONS]

Measures Holdfast on workerd beside git http-backend behind Apache, in turns.

  sizes     whole clones of made-up histories of 1,000, 10,000 and 100,000 commits
  branches  lists and fetches of one branch and of all, of a repository with very many
  pushes    small pushes on top of a history, how long they take, and clones before and after

${HOW_TO_READ}
  --bundle FILE     a bundle or repository for pushes; may be repeated (default: a made-up history)
  --rounds N        recorded rounds of each case, after one to warm up (default 5)
  --only CASE       sizes, branches or pushes; may be repeated (default: all)
  --most-commits N  leaves out larger histories (default 100000)
  --branches N      how many (default 5000)
  --pushes N        how many (default 10000)
${HOST_OPTIONS}${COMMON_OPTIONS}`;

const CASES = ["sizes", "branches", "pushes"] as const;

const SIZES = { "most-commits": 100_000, branches: 5000, pushes: 10_000 };

function* plan(run: Run<(typeof CASES)[number], keyof typeof SIZES>): Generator<Measurement> {
  const { cases, rounds, subjects, hosts, sizes } = run;
  for (const name of cases) {
    if (name === "sizes") {
      const lengths = [1000, 10_000, 100_000].filter((size) => size <= sizes["most-commits"]);
      yield ["sizes", () => measureSizes(lengths, rounds, hosts)];
    } else if (name === "branches") {
      yield ["branches", () => measureBranches(sizes.branches, rounds, hosts)];
    } else {
      for (const subject of subjects) {
        yield [`pushes ${subject.name}`, () => measurePushes(subject, { pushes: sizes.pushes, rounds, hosts })];
      }
    }
  }
}

await runBenchmark({ usage: USAGE, cases: CASES, sizes: SIZES, plan });
