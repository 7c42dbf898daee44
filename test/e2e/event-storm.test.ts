import { expect, test } from "vitest";
import { runStorm } from "../harness/event-storm.ts";

test("400 events reach endpoints of every bad kind, each at least once and in order, over three kills", async () => {
  const told = await runStorm(400, 3, 1);
  console.log(told);
  expect(told).toContain("with 3 kills");
});
