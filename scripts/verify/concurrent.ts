/** Seeded runs of pushes, fetches, maintenance and crashes, each compared with what was
 * acknowledged. */
import "../../test/harness/read-at-least.ts";
import { simulate } from "../../test/repository/simulation/run.ts";
import { count, defineCheck, flag } from "./check.ts";
import { showProgress } from "./report.ts";

export default defineCheck({
  text: `In each run, clients push, fetch and use the API of one repository at the same time, while
maintenance runs, R2 fails and is slow, clocks jump, and the process dies. All choices and delays
come from the run's seed. Whatever was acknowledged must exist, a clone must have everything that
is reachable from refs, a refused or unacknowledged push must not be half done, the next push must
work, and at the end no unreferenced data may remain. Prints how often each event occurred, and the
trace of each failing run.`,
  options: {
    runs: count(200, "number of runs"),
    seed: count(1, "seed of the first run; the next ones follow", 0),
    length: count(3, "how much the clients of each run do"),
    trace: flag("prints the trace of every run"),
  },
  async run({ tally }, { runs, seed: first, length, trace: isTraced }) {
    for (let seed = first; seed < first + runs; seed++) {
      showProgress(`run ${seed - first + 1} of ${runs}`);
      const { digest, violations, trace, counts } = await tally.time("run", () => simulate(seed, length));
      for (const [what, times] of counts) tally.count(what, times);
      if (violations.length > 0 || isTraced) process.stdout.write(`${trace.join("\n")}\n`);
      if (violations.length > 0 || runs === 1) process.stdout.write(`seed ${seed}: digest ${digest}\n`);
      for (const violation of violations) tally.wrong(`seed ${seed}: ${violation}`);
    }
  },
});
