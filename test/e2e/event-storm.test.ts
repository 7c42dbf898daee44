import { expect, test } from "vitest";
import { runStorm } from "../harness/event-storm.ts";

/** `test/large/events.test.ts` tells of ten thousand. */
async function expectTold(events: number, kills: number): Promise<void> {
  const told = await runStorm(events, kills, 1);
  console.log(told);
  expect(told).toContain(`with ${kills} kills`);
}

test(
  "40 events reach endpoints of every bad kind, each at least once and in order, over a kill",
  { tags: "sweep" },
  () => expectTold(40, 1),
);

test("so do 400, over three kills", { tags: "sweep" }, () => expectTold(400, 3));
