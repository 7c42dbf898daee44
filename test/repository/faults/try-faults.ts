import { expect, test } from "vitest";
import { WORKTREE_SCENARIOS } from "./worktree-scenarios.ts";
import { enumerate, type Scenario, summarize } from "./enumerate.ts";
import { CALL_SCENARIOS } from "./call-scenarios.ts";
import { FETCH_SCENARIOS } from "./fetch-scenarios.ts";
import { JOB_SCENARIOS } from "./job-scenarios.ts";
import { PUSH_SCENARIOS } from "./push-scenarios.ts";

const SCENARIOS: readonly Scenario[] = [
  ...FETCH_SCENARIOS,
  ...PUSH_SCENARIOS,
  ...CALL_SCENARIOS,
  ...JOB_SCENARIOS,
  ...WORKTREE_SCENARIOS,
];

/** Makes a test of each scenario.
 * @param most injections to try of one scenario, evenly spread
 * @param mostLarge the same for a scenario whose runs take long
 * @param seed selects them */
export function tryFaults(most: number, mostLarge: number, seed: number): void {
  test.each(SCENARIOS.map((scenario) => [scenario.name, scenario] as const))(
    "%s",
    async (name, scenario) => {
      const found = await enumerate(scenario, scenario.isLarge === true ? mostLarge : most, seed);
      console.log(summarize(name, found));
      expect(found.violations.join("\n")).toBe("");
      // The others did not occur: a warm cache saved their calls.
      expect(found.hits).toBeGreaterThan(found.runs / 2);
    },
    1_800_000,
  );
}
