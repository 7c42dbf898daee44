import { expect, test } from "vitest";
import { WORKTREE_SCENARIOS } from "./worktree-scenarios.ts";
import { FORK_SCENARIOS, MERGE_SCENARIOS } from "../family/fork-scenarios.ts";
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
  /** Of its kind. */
  readonly isFirst: boolean;
  run(most: number, seed: number): Promise<Enumeration>;
}

/** @param scenarios of one kind */
function trialsOf<W extends FaultWorld>(scenarios: readonly Scenario<W>[]): Trial[] {
  return scenarios.map((scenario, i) => {
    const { name, isLarge = false } = scenario;
    return { name, isLarge, isFirst: i === 0, run: (most, seed) => enumerate(scenario, most, seed) };
  });
}

const TRIALS: readonly Trial[] = [
  ...trialsOf(FETCH_SCENARIOS),
  ...trialsOf(PUSH_SCENARIOS),
  ...trialsOf(CALL_SCENARIOS),
  ...trialsOf(JOB_SCENARIOS),
  ...trialsOf(WORKTREE_SCENARIOS),
  ...trialsOf(UPLOAD_SCENARIOS),
  ...trialsOf(LFS_SCENARIOS),
  ...trialsOf(MIRROR_SCENARIOS),
  ...trialsOf(EVENT_SCENARIOS),
  ...trialsOf(FORK_SCENARIOS),
  ...trialsOf(MERGE_SCENARIOS),
];

/** Makes a test of each scenario. Those that are not the first of their kind are sweeps.
 * @param most injections to try of one scenario, evenly spread
 * @param mostLarge the same for a scenario whose runs take long
 * @param seed selects them */
export function tryFaults(most: number, mostLarge: number, seed: number): void {
  for (const trial of TRIALS) {
    const { name, isLarge, isFirst } = trial;
    test(name, { tags: isFirst ? [] : ["sweep"], timeout: 1_800_000 }, async () => {
      const found = await trial.run(isLarge ? mostLarge : most, seed);
      console.log(summarize(name, found));
      expect(found.violations.join("\n")).toBe("");
      // The others did not occur: a warm cache saved their calls.
      expect(found.hits).toBeGreaterThan(found.runs / 2);
    });
  }
}
