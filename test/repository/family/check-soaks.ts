import { expect } from "vitest";
import { soak } from "./soak.ts";

/** Makes runs: whatever fails and whoever dies, all repositories stay whole, and nothing is left
 * over. */
export async function checkSoaks(firstSeed: number, count: number): Promise<void> {
  for (let seed = firstSeed; seed < firstSeed + count; seed++) {
    const { violations, trace } = await soak(seed);
    if (violations.length > 0) expect.fail(`seed ${seed}:\n${trace.join("\n")}`);
  }
}
