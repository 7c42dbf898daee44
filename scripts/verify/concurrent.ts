/** Seeded runs of pushes, fetches, housekeeping and crashes, each held against what was
 * acknowledged. */
import "../../test/harness/read-at-least.ts";
import { simulate } from "../../test/repository/simulation/run.ts";
import { count, defineCheck, flag } from "./check.ts";
import { showProgress } from "./report.ts";

export default defineCheck({
  text: `Makes runs of clients that push, fetch and use the API of one repository at the same
time, while housekeeping runs, R2 fails and is slow, clocks jump, and the process dies. Each run's
every choice and delay comes of its seed. Whatever was acknowledged must be there, everything that
refs lead to must come with a clone, what was refused or never acknowledged must not be half
there, the next push must work, and in the end nothing may be left that nothing names. Prints how
often what happened, and for each failing run its trace.`,
  options: {
    runs: count(200, "how many"),
    seed: count(1, "of the first run; the next ones follow", 0),
    length: count(3, "how much the clients of a run do"),
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
