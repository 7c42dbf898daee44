import { afterEach, expect, test } from "vitest";
import { checkSoaks } from "./check-soaks.ts";
import { restoreRealTime } from "../simulation/virtual-time.ts";

afterEach(restoreRealTime);

test.each(Array.from({ length: 20 }, (_, i) => 1 + 50 * i))(
  "all repositories stay whole, and nothing is left over (50 runs from seed %i)",
  async (seed) => {
    const { landed, living } = await checkSoaks(seed, 50);
    expect(landed).toBeGreaterThanOrEqual(1);
    expect(living).toBeGreaterThanOrEqual(15);
  },
  1_800_000,
);
