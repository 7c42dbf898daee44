/** Checks by seeded runs: the command lines of tests that can run for longer. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { codecTargets } from "../../test/fuzz/codec-targets.ts";
import { FORMAT_TARGETS } from "../../test/fuzz/format-targets.ts";
import { fuzz as runRounds, type FuzzTarget, repeatRound } from "../../test/fuzz/fuzz-target.ts";
import { PROTOCOL_TARGETS } from "../../test/fuzz/protocol-targets.ts";
import { fuzzApi as callRoutes, listUntried } from "../../test/harness/fuzzed-api.ts";
import "../../test/harness/read-at-least.ts";
import { simulate } from "../../test/object/simulation/run.ts";
import { UsageError } from "../command-line.ts";
import { count, flag, text } from "../options.ts";
import { defineCheck, SERVER } from "./check.ts";
import { showProgress, type Tally } from "./report.ts";

export const faults = defineCheck({
  text: `Runs each scenario of test/repository/faults once, and then once for each call that it makes
and each way in which the call can fail. Takes some minutes. Prints one line for each scenario: the
number of calls, of injected faults, and of violations.`,
  options: {
    scenario: text("PATTERN", "only scenarios whose names match this regular expression"),
    sample: flag("only as many injected faults as npm test tries"),
    seed: count("chooses that sample", 1),
  },
  async run({ tally, signal }, { scenario, sample, seed }) {
    const file = "test/object/faults/faults.test.ts";
    const args = ["vitest", "run", "--project", "node", "--disable-console-intercept=true", file];
    if (scenario !== undefined) args.push("-t", scenario);
    const env = { ...process.env, FAULTS: sample ? "some" : "all", FAULTS_SEED: String(seed) };
    const [code] = (await once(spawn("npx", args, { stdio: "inherit", env, signal }), "close")) as [number | null];
    if (code !== 0) tally.wrong(`the scenarios ended with ${code}`);
  },
});

export const concurrent = defineCheck({
  text: `In each run, clients push, fetch and use the API of one repository at the same time, while
maintenance runs, R2 fails and is slow, clocks jump, and the process dies. All choices and delays
come from the run's seed. Whatever was acknowledged must exist, a clone must have everything that
is reachable from refs, a refused or unacknowledged push must not be half done, the next push must
work, and at the end no unreferenced data may remain. Prints how often each event occurred, and the
trace of each failing run.`,
  options: {
    runs: count("number of runs", 200),
    seed: count("seed of the first run; the next ones follow", 1, 0),
    length: count("how much the clients of each run do", 3),
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

export const fuzz = defineCheck({
  text: `Makes inputs from a seed, most of them damaged, and feeds them to the parsers of packets,
packs, deltas, objects, requests and patterns. A parser may only fail with its declared errors. It
must not take long or use unlimited memory, and what can be written again must be the same. The
input of a finding is saved to a file.`,
  options: {
    seconds: count("for all parsers together", 120),
    seed: text("N", "of the inputs (default: a random one, which is printed)"),
    only: text("NAME", "only this parser; an unknown name lists all names"),
    round: text("N", "only this round of --seed and --only, as a finding prints them"),
  },
  async run({ tally }, { seconds, seed: given, only, round }) {
    const all: FuzzTarget[] = [...FORMAT_TARGETS, ...PROTOCOL_TARGETS, ...(await codecTargets())];
    const targets = all.filter(({ name }) => only === undefined || name === only);
    const seed = Number(given ?? Math.floor(Math.random() * 1_000_000));
    if (targets.length === 0)
      throw new UsageError(`--only ${only}: not one of ${all.map(({ name }) => name).join(", ")}`);
    if (!Number.isInteger(seed)) throw new UsageError(`--seed ${given}: not a whole number`);
    process.stdout.write(`seed ${seed}\n`);
    if (round === undefined) {
      for (const target of targets) await fuzzFor((1_000 * seconds) / targets.length, target, seed, tally);
      return;
    }
    const { input, reason } = await repeatRound(targets[0]!, seed, Number(round));
    process.stdout.write(`${Buffer.from(input).toString("latin1")}\n`);
    if (reason !== null) tally.wrong(reason);
  },
});

async function fuzzFor(ms: number, target: FuzzTarget, seed: number, tally: Tally): Promise<void> {
  const endMs = performance.now() + ms;
  const { rounds, taken, slowestMs, findings } = await runRounds(target, seed, () => performance.now() >= endMs);
  const figures = `${rounds} rounds, ${taken} taken, slowest ${Math.ceil(slowestMs)} ms`;
  process.stdout.write(`${target.name.padEnd(16)} ${figures}, ${findings.length} findings\n`);
  tally.count("rounds", rounds);
  for (const { round, input, reason } of findings) {
    const file = join(tmpdir(), `holdfast-fuzz-${target.name}-${seed}-${round}`);
    writeFileSync(file, input);
    tally.wrong(`--only ${target.name} --seed ${seed} --round ${round}, ${file}: ${reason}`);
  }
}

export const fuzzApi = defineCheck({
  text: `Makes requests from the schemas in the server's /api/openapi.json, with valid, invalid and
hostile values. No answer may be a 5xx, have a status that is not described, or a body outside its
schema. Makes the repository me/fuzzed on the server.`,
  options: { rounds: count("requests of each route", 300), seed: count("of the values", 1), server: SERVER },
  async run(run, { rounds, seed, server }) {
    const result = await callRoutes(await run.openServer(server, { owner: "me" }), seed, rounds);
    for (const [route, statuses] of result.statuses) {
      const shown = [...statuses].toSorted(([a], [b]) => a - b).map(([status, times]) => `${status}: ${times}`);
      process.stdout.write(`${route.padEnd(60)} ${shown.join(", ")}\n`);
      for (const times of statuses.values()) run.tally.count("requests", times);
    }
    for (const { request, status, reason } of result.violations) run.tally.wrong(`${request}: ${status}: ${reason}`);
    for (const route of listUntried(result)) run.tally.wrong(`${route} never succeeded`);
  },
});
