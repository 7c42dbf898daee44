import { expect } from "vitest";
import { soak } from "./soak.ts";

/** Makes runs: whatever fails and whoever dies, all repositories stay whole, and nothing is left
 * over.
 * @returns how many merges landed in all of them, and the most repositories that lived at a time */
export async function checkSoaks(firstSeed: number, count: number): Promise<{ landed: number; living: number }> {
  let landed = 0;
  let living = 0;
  for (let seed = firstSeed; seed < firstSeed + count; seed++) {
    const { violations, trace, counts } = await soak(seed);
    if (violations.length > 0) expect.fail(`seed ${seed}:\n${trace.join("\n")}`);
    landed += counts.get("landed") ?? 0;
    living = Math.max(living, counts.get("living") ?? 0);
  }
  return { landed, living };
}
