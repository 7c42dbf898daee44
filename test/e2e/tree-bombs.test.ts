import { testBombs } from "./tree-bombs.ts";

/** A tenth or less of the real limits, and so of the time. */
const MAX_WALK_STEPS = 1_000_000;
const LIMITS = {
  MAX_WALK_STEPS,
  MAX_OMITTED_PATHS: 10_000,
  CALL_STEPS: 12_500,
  MAX_CHANGES: 10_000,
  MAX_DIRECTORIES: 40_000,
  MAX_PATHS: 40_000,
};

testBombs(LIMITS, 15_000);
