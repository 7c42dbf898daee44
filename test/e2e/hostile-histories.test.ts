// Random small histories that nobody would write and git would take: whatever is asked of each, by every route and every kind of fetch, is
// answered in bounded time and memory, while others are served. `hostile-histories.sweep.test.ts` has more shapes, and
// `test/large/hostile-histories.test.ts` does it a thousand times.
import { expect, test } from "vitest";
import { HostileRun } from "../harness/hostile-run.ts";
import { startServer } from "../harness/server.ts";

/** Small ones of four shapes. */
const SEEDS = [94, 90, 129, 100];

test("whatever is asked of small hostile histories is answered in its bounds", async () => {
  const server = await startServer();
  try {
    const run = await HostileRun.open(server);
    for (const seed of SEEDS) await run.run(seed);
    expect(run.misanswers).toEqual([]);
  } finally {
    await server.close();
  }
}, 180_000);
