/** Makes every call of a repository to its database, to R2 and to the registry fail, in every
 * scenario of `test/repository/faults`. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { count, defineCheck, flag, text } from "./check.ts";

export default defineCheck({
  text: `Runs each scenario of test/repository/faults once, and then once for each call that it makes
and each way in which the call can fail. Takes some minutes. Prints one line for each scenario: the
number of calls, of injected faults, and of violations.`,
  options: {
    scenario: text("PATTERN", "only scenarios whose names match this regular expression"),
    sample: flag("only as many injected faults as npm test tries"),
    seed: count(1, "chooses that sample"),
  },
  async run({ tally, signal }, { scenario, sample, seed }) {
    const file = "test/repository/faults/faults.test.ts";
    const args = ["vitest", "run", "--project", "node", "--disable-console-intercept=true", file];
    if (scenario !== undefined) args.push("-t", scenario);
    const env = { ...process.env, FAULTS: sample ? "some" : "all", FAULTS_SEED: String(seed) };
    const [code] = (await once(spawn("npx", args, { stdio: "inherit", env, signal }), "close")) as [number | null];
    if (code !== 0) tally.wrong(`the scenarios ended with ${code}`);
  },
});
