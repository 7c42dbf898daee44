import { testBombs } from "./tree-bombs.ts";

// The limits that a deployment has.
testBombs({}, 60_000);
