/** Every call of a repository to its database, R2, the registry or another one fails once in each
 * possible way, and once the process dies there. Nothing acknowledged is lost, nothing half done is
 * visible, a retry succeeds, and nothing is left behind.
 *
 * Tries some of the injections of each scenario, in `npm test` of the first of each kind, and
 * `faults.sweep.test.ts` four times as many; with `FAULTS=all`, as `npm run verify -- faults` sets
 * it, all of them. */
import { tryFaults } from "./try-faults.ts";

const seed = Number(process.env["FAULTS_SEED"] ?? 1);
if (process.env["FAULTS"] === "all") tryFaults(Infinity, Infinity, seed);
else tryFaults(3, 1, seed);
