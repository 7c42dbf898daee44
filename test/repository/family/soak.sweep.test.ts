import { afterEach, test } from "vitest";
import { checkSoaks } from "./check-soaks.ts";
import { restoreRealTime } from "../simulation/virtual-time.ts";

afterEach(restoreRealTime);

test.each(Array.from({ length: 20 }, (_, i) => 1 + 50 * i))(
  "all repositories stay whole, and nothing is left over (50 runs from seed %i)",
  (seed) => checkSoaks(seed, 50),
);
