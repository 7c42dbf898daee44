// A few seconds of `npm run verify -- fuzz`, which runs for any time.
import { beforeAll, expect, test } from "vitest";
import { codecTargets } from "./codec-targets.ts";
import { fuzz, type FuzzTarget, repeatRound } from "./fuzz-target.ts";
import { FORMAT_TARGETS } from "./format-targets.ts";
import { PROTOCOL_TARGETS } from "./protocol-targets.ts";

const ROUNDS = 300;

let codec: readonly FuzzTarget[];
beforeAll(async () => {
  codec = await codecTargets();
});

async function expectNothing(target: FuzzTarget, rounds: number): Promise<void> {
  const run = await fuzz(target, 1, (done) => done >= rounds);
  expect(run.findings.map(({ seed, round, reason }) => ({ seed, round, reason }))).toEqual([]);
  expect(run.rounds).toBe(rounds);
  expect(run.taken).toBeGreaterThan(rounds / 50);
}

test.each([...FORMAT_TARGETS, ...PROTOCOL_TARGETS].map((target) => [target.name, target] as const))(
  "%s: no input makes it fail in an undeclared way, hang, or break a promise",
  async (_, target) => expectNothing(target, ROUNDS),
);

test.each(["delta", "inflate", "pack"])("%s: likewise, in the codec's module", async (name) => {
  await expectNothing(
    codec.find((target) => target.name === name)!,
    name === "pack" ? 150 : ROUNDS,
  );
});

test("what does not hold is found, and can be repeated", async () => {
  const target: FuzzTarget = {
    name: "wrong",
    codes: ["bad-request"],
    make: (random) => random.bytes(4),
    run: (input) => {
      if (input[0]! < 16) throw new RangeError("too small");
    },
  };
  const { findings, rounds } = await fuzz(target, 3, (done) => done >= 10_000);
  expect(findings).toHaveLength(10);
  expect(rounds).toBeLessThan(1_000);
  const { seed, round, input } = findings[4]!;
  expect(await repeatRound(target, seed, round)).toMatchObject({ input, reason: expect.stringContaining("too small") });
});
