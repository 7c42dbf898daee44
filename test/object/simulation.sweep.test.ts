import { afterEach, test } from "vitest";
import { checkRuns } from "./simulation/check-runs.ts";
import { restoreRealTime } from "./simulation/virtual-time.ts";

afterEach(restoreRealTime);

test.each([0, 20, 40, 60, 80, 100])(
  "what was acknowledged is there, whatever fails and whenever the process dies (20 runs from seed %i)",
  (seed) => checkRuns(seed, 20),
);
