/** Feeds random and damaged inputs to every parser of what clients send. */
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { codecTargets } from "../../test/fuzz/codec-targets.ts";
import { FORMAT_TARGETS } from "../../test/fuzz/format-targets.ts";
import { fuzz, type FuzzTarget, repeatRound } from "../../test/fuzz/fuzz-target.ts";
import { PROTOCOL_TARGETS } from "../../test/fuzz/protocol-targets.ts";
import { UsageError } from "../command-line.ts";
import { count, defineCheck, text } from "./check.ts";
import type { Tally } from "./report.ts";

export default defineCheck({
  text: `Makes inputs from a seed, most of them damaged, and feeds them to the parsers of packets,
packs, deltas, objects, requests and patterns. A parser may only fail with its declared errors. It
must not take long or use unlimited memory, and what can be written again must be the same. The
input of a finding is saved to a file.`,
  options: {
    seconds: count(120, "for all parsers together"),
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
  const { rounds, taken, slowestMs, findings } = await fuzz(target, seed, () => performance.now() >= endMs);
  const figures = `${rounds} rounds, ${taken} taken, slowest ${Math.ceil(slowestMs)} ms`;
  process.stdout.write(`${target.name.padEnd(16)} ${figures}, ${findings.length} findings\n`);
  tally.count("rounds", rounds);
  for (const { round, input, reason } of findings) {
    const file = join(tmpdir(), `holdfast-fuzz-${target.name}-${seed}-${round}`);
    writeFileSync(file, input);
    tally.wrong(`--only ${target.name} --seed ${seed} --round ${round}, ${file}: ${reason}`);
  }
}
