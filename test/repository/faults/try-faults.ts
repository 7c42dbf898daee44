import { expect, test } from "vitest";
import { WORKTREE_SCENARIOS } from "./worktree-scenarios.ts";
import { FORK_SCENARIOS } from "../family/fork-scenarios.ts";
import { enumerate, type Enumeration, type FaultWorld, type Scenario, summarize } from "./enumerate.ts";
import { CALL_SCENARIOS } from "./call-scenarios.ts";
import { EVENT_SCENARIOS } from "./event-scenarios.ts";
import { FETCH_SCENARIOS } from "./fetch-scenarios.ts";
import { JOB_SCENARIOS } from "./job-scenarios.ts";
import { PUSH_SCENARIOS } from "./push-scenarios.ts";
import { MIRROR_SCENARIOS } from "./mirror-scenarios.ts";
import { LFS_SCENARIOS } from "./lfs-scenarios.ts";
import { UPLOAD_SCENARIOS } from "./upload-scenarios.ts";

/** A scenario, whatever its world is. */
interface Trial {
  readonly name: string;
  readonly isLarge: boolean;
  run(most: number, seed: number): Promise<Enumeration>;
}

function trialOf<W extends FaultWorld>(scenario: Scenario<W>): Trial {
  const { name, isLarge = false } = scenario;
  return { name, isLarge, run: (most, seed) => enumerate(scenario, most, seed) };
}

const TRIALS: readonly Trial[] = [
  ...[
    ...FETCH_SCENARIOS,
    ...PUSH_SCENARIOS,
    ...CALL_SCENARIOS,
    ...JOB_SCENARIOS,
    ...WORKTREE_SCENARIOS,
    ...UPLOAD_SCENARIOS,
    ...LFS_SCENARIOS,
    ...MIRROR_SCENARIOS,
  ].map((scenario) => trialOf(scenario)),
  ...EVENT_SCENARIOS.map((scenario) => trialOf(scenario)),
  ...FORK_SCENARIOS.map((scenario) => trialOf(scenario)),
];

/** Makes a test of each scenario.
 * @param most injections to try of one scenario, evenly spread
 * @param mostLarge the same for a scenario whose runs take long
 * @param seed selects them */
export function tryFaults(most: number, mostLarge: number, seed: number): void {
  test.each(TRIALS.map((trial) => [trial.name, trial] as const))(
    "%s",
    async (name, trial) => {
      const found = await trial.run(trial.isLarge ? mostLarge : most, seed);
      console.log(summarize(name, found));
      expect(found.violations.join("\n")).toBe("");
      // The others did not occur: a warm cache saved their calls.
      expect(found.hits).toBeGreaterThan(found.runs / 2);
    },
    1_800_000,
  );
}
