// A thousand random histories of 1 KB to 256 KB that nobody would write and git would take. HOSTILE_SEED=N runs one of them alone, and
// HOSTILE_RUNS=N another number of them.
import { expect, test } from "vitest";
import { HostileRun } from "../harness/hostile-run.ts";
import { startServer } from "../harness/server.ts";

const RUNS = Number(process.env["HOSTILE_RUNS"] ?? 1_000);
const alone = process.env["HOSTILE_SEED"];
const seeds = alone === undefined ? Array.from({ length: RUNS }, (_, i) => i + 1) : [Number(alone)];

/** Histories that one server sees: what it keeps of each in memory is to be that of few. */
const PER_SERVER = 100;

test("whatever is asked of hostile histories is answered in its bounds", async () => {
  for (let from = 0; from < seeds.length; from += PER_SERVER) {
    const server = await startServer();
    try {
      const run = await HostileRun.open(server);
      for (const seed of seeds.slice(from, from + PER_SERVER)) {
        await run.run(seed);
        // Each says its seed, by which it can be run again.
        expect(run.misanswers).toEqual([]);
      }
    } finally {
      await server.close();
    }
  }
}, 3_600_000);
