/** Every call of a repository to its database, to R2 and to the registry fails once, in each way that it can, and once the process dies there:
 * nothing that was acknowledged is lost, nothing half done is to be seen, a retry succeeds, and nothing is left behind.
 *
 * Tries some of the injections of each scenario, evenly spread; with `FAULTS=all`, as `scripts/verify/faults.ts` sets it, all of them. */
import { expect, test } from "vitest";
import { WORKTREE_SCENARIOS } from "./worktree-scenarios.ts";
import { enumerate, type Scenario, summarize } from "./enumerate.ts";
import { CALL_SCENARIOS } from "./call-scenarios.ts";
import { FETCH_SCENARIOS } from "./fetch-scenarios.ts";
import { JOB_SCENARIOS } from "./job-scenarios.ts";
import { PUSH_SCENARIOS } from "./push-scenarios.ts";

/** Injections that are tried of a scenario, and of one whose runs take long. */
const MOST = 12;
const MOST_LARGE = 6;

const SCENARIOS: readonly Scenario[] = [
  ...FETCH_SCENARIOS,
  ...PUSH_SCENARIOS,
  ...CALL_SCENARIOS,
  ...JOB_SCENARIOS,
  ...WORKTREE_SCENARIOS,
];

const isAll = process.env["FAULTS"] === "all";
const seed = Number(process.env["FAULTS_SEED"] ?? 1);

test.each(SCENARIOS.map((scenario) => [scenario.name, scenario] as const))(
  "%s",
  async (name, scenario) => {
    const most = scenario.isLarge === true ? MOST_LARGE : MOST;
    const found = await enumerate(scenario, isAll ? Infinity : most, seed);
    console.log(summarize(name, found));
    expect(found.violations.join("\n")).toBe("");
    // Those that did not come about are of calls which a warm cache saves.
    expect(found.hits).toBeGreaterThan(found.runs / 2);
  },
  1_800_000,
);
