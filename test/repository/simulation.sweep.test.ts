import { test } from "vitest";
import { checkRuns } from "./simulation/check-runs.ts";

test.each([40, 60, 80, 100])(
  "what was acknowledged is there, whatever fails and whenever the process dies (20 runs from seed %i)",
  checkRuns,
);
