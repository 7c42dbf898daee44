/** Many events, while endpoints fail, hang, flood and redirect, and the server is killed. */
import { expect, test } from "vitest";
import { runStorm } from "../harness/event-storm.ts";

test("10,000 events reach every endpoint that ever answers, at least once and in order, over ten kills", async () => {
  const told = await runStorm(10_000, 10, 1);
  console.log(told);
  expect(told).toContain("with 10 kills");
}, 3_600_000);
