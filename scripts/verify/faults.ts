/** Fails every call of a repository to its database, to R2 and to the registry, in every scenario of `test/repository/faults`: some minutes. */
import { spawn } from "node:child_process";
import { readCommandLine } from "../command-line.ts";

const USAGE = `Usage: node_modules/.bin/node scripts/verify/faults.ts [OPTIONS]

Runs each scenario of test/repository/faults once, and then once for each call that it makes and each way in which that can fail. A line for each
scenario says how many calls there are, how many injections were tried, and how many violations they led to. Ends with 1 if one did.

  --scenario PATTERN  only those whose names match, a regular expression
  --sample            only as many injections as npm test tries
  --seed N            which of them (default 1)
  --help              this text
`;

const { values } = readCommandLine({
  options: {
    scenario: { type: "string" },
    sample: { type: "boolean", default: false },
    seed: { type: "string", default: "1" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  process.stdout.write(USAGE);
} else {
  const args = [
    "vitest",
    "run",
    "--project",
    "node",
    "--disable-console-intercept=true",
    "test/repository/faults/faults.test.ts",
  ];
  if (values.scenario !== undefined) args.push("-t", values.scenario);
  const env = { ...process.env, FAULTS: values.sample ? "some" : "all", FAULTS_SEED: values.seed };
  spawn("npx", args, { stdio: "inherit", env }).on("close", (code) => (process.exitCode = code ?? 1));
}
