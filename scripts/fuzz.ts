/** Puts inputs that nobody thought of to every parser of what clients send. */
import "./verify/wasm-modules.ts";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readCommandLine } from "./command-line.ts";
import type { FuzzTarget } from "../test/fuzz/fuzz-target.ts";

const USAGE = `Usage: node_modules/.bin/node scripts/fuzz.ts [OPTIONS]

Makes inputs from a seed, most of them damaged, and puts them to the parsers of packets, packs, deltas, objects, requests and patterns.
None may fail but by the errors that it declares, take long, or grow without end; and what can be written again must come out the
same. Says how often each was asked, and ends with 1 if something does not hold; the input is then in a file.

  --seconds N   for all parsers together (default 120)
  --seed N      of the inputs (default: another each time, which is shown)
  --only NAME   one parser
  --round N     only this round of --seed and --only: what a finding says
  --list        the names of the parsers
  --help        this text
`;

const { values } = readCommandLine({
  options: {
    seconds: { type: "string", default: "120" },
    seed: { type: "string", default: String(Math.floor(Math.random() * 1_000_000)) },
    only: { type: "string" },
    round: { type: "string" },
    list: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

if (values.help) process.stdout.write(USAGE);
else process.exitCode = await main();

async function main(): Promise<number> {
  // Behind the hook that lets the module of the codec be imported.
  const { codecTargets } = await import("../test/fuzz/codec-targets.ts");
  const { FORMAT_TARGETS } = await import("../test/fuzz/format-targets.ts");
  const { PROTOCOL_TARGETS } = await import("../test/fuzz/protocol-targets.ts");
  const { fuzz, repeatRound } = await import("../test/fuzz/fuzz-target.ts");
  const all: FuzzTarget[] = [...FORMAT_TARGETS, ...PROTOCOL_TARGETS, ...(await codecTargets())];
  const targets = all.filter(({ name }) => values.only === undefined || name === values.only);
  const seed = Number(values.seed);
  if (values.list || targets.length === 0 || !Number.isInteger(seed)) {
    process.stdout.write(`${all.map(({ name }) => name).join("\n")}\n`);
    return values.list ? 0 : 2;
  }
  if (values.round !== undefined) {
    const { input, reason } = await repeatRound(targets[0]!, seed, Number(values.round));
    process.stdout.write(`${Buffer.from(input).toString("latin1")}\n\n${reason ?? "nothing is wrong"}\n`);
    return reason === null ? 0 : 1;
  }
  process.stdout.write(`seed ${seed}\n`);
  let found = 0;
  for (const target of targets) {
    const endMs = performance.now() + (1_000 * Number(values.seconds)) / targets.length;
    const { rounds, taken, slowestMs, findings } = await fuzz(target, seed, () => performance.now() >= endMs);
    const figures = `${rounds} rounds, ${taken} taken, slowest ${Math.ceil(slowestMs)} ms`;
    process.stdout.write(`${target.name.padEnd(16)} ${figures}, ${findings.length} findings\n`);
    for (const { round, input, reason } of findings) {
      const file = join(mkdtempSync(join(tmpdir(), "holdfast-fuzz-")), `${target.name}-${seed}-${round}`);
      writeFileSync(file, input);
      process.stdout.write(`\n  --only ${target.name} --seed ${seed} --round ${round}, ${file}\n  ${reason}\n`);
    }
    found += findings.length;
  }
  return found === 0 ? 0 : 1;
}
