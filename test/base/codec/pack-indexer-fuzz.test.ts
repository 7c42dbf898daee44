// Damaged packs are refused with an error, never with a trap, and never accepted when git refuses
// them.
import { beforeAll, expect } from "vitest";
import { Random } from "../../harness/random.ts";
import { tryGit } from "../../harness/git.ts";
import { damagePack, refusalOf } from "./damaged-pack.ts";
import { makeSamplePacks, type SamplePack, storeObjects } from "./packs.ts";
import { testSome } from "../../harness/sweep.ts";

let samples: SamplePack[];
beforeAll(async () => {
  samples = (await makeSamplePacks()).filter(({ pack }) => pack.length > 32 && pack.length < 25_000);
});

async function gitTakes({ stored }: SamplePack, pack: Uint8Array): Promise<boolean> {
  const dir = await storeObjects(stored);
  const { code, stderr } = await tryGit(dir, ["index-pack", "--stdin", "--fix-thin"], { stdin: pack });
  // Git is confused by an object that occurs twice, and by a pack whose deltas are all thin.
  return code === 0 || /duplicate base|already resolved/.test(stderr);
}

testSome(1, [1, 2, 3, 4], "damaged packs, seed %i", async (seed) => {
  const random = new Random(seed);
  let [refused, taken] = [0, 0];
  for (let i = 0; i < 200; i++) {
    const sample = random.pick(samples);
    const { pack, damage } = damagePack(sample, random);
    const stored = sample.stored;
    const about = `${sample.name}, ${damage}, ${i}`;
    const refusal = refusalOf(pack, { stored });
    const slow = refusalOf(pack, {
      stored,
      pieceBytes: 1 + random.below(500),
      ringBytes: 65_536,
      isResident: () => random.below(2) > 0,
    });
    expect(slow === null, about).toBe(refusal === null);
    if (refusal !== null) refused += 1;
    else if (!pack.equals(sample.pack) && ++taken <= 25) expect(await gitTakes(sample, pack), about).toBe(true);
  }
  expect(refused).toBeGreaterThan(80);
  expect(taken).toBeGreaterThan(0);
});
