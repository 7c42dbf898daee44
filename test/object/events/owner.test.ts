/** The log of an owner: who is visited, what is kept, and that it survives each failure. */
import { expect, test } from "vitest";
import { answerOwnerCall } from "../../../src/object/events/owner-calls.ts";
import { createWebhook } from "../../../src/object/events/webhooks.ts";
import { OwnerWorld } from "./owner-world.ts";

const DAY_MS = 24 * 60 * 60_000;
const HOOK = { url: "https://ci.example.com/", format: "standard", events: null, origin: "", secret: null } as const;

test("an owner to whom nobody listens keeps nothing", async () => {
  const world = new OwnerWorld(2);
  expect(await world.tell("r000", 1)).toBe(false);
  await world.ring(Infinity);
  expect([world.wakeMs, world.visited, world.sinceMs]).toEqual([null, [], null]);
});

test("each repository is visited once, some at a time, and the registry knows before", async () => {
  const world = new OwnerWorld(45);
  await world.log();
  expect(world.visited).toEqual([]);
  await world.ring(Date.now() + 1_000);
  expect(world.visited).toEqual(world.repositories);
  expect(world.sinceMs).not.toBeNull();
});

test("an event is kept once, in the order of its repository, and none from before the log", async () => {
  const world = new OwnerWorld(2);
  await world.log();
  expect(await world.tell("r000", 1, new Date(Date.now() - DAY_MS).toISOString())).toBe(true);
  for (const push of [2, 2, 3]) await world.tell("r000", push);
  await world.tell("r001", 2);
  await world.tell("r000", 3);
  expect(await world.log()).toEqual(["r000 2", "r000 3", "r001 2"]);
});

test("the log ends a week after it was last read, and goes on with other numbers", async () => {
  const world = new OwnerWorld(1);
  await world.log();
  await world.tell("r000", 1);
  await world.ring(Date.now() + 6 * DAY_MS);
  expect(world.sinceMs).not.toBeNull();
  await world.ring(Date.now() + 8 * DAY_MS);
  expect([world.sinceMs, world.wakeMs, await world.tell("r000", 2)]).toEqual([null, null, false]);
  expect(await world.owner.events({ after: "1", limit: 9 }, "read")).toMatchObject({
    events: [],
    next: "2",
    missed: true,
  });
  await world.tell("r000", 3);
  expect(await world.owner.events({ after: "2", limit: 9 }, "read")).toMatchObject({
    events: [{ id: "3", who: null, repository: { event: "3" } }],
    next: "3",
    missed: false,
  });
});

test("a webhook that was disabled goes on where it was, for a week; then with what follows", async () => {
  const world = new OwnerWorld(1);
  const call = (name: "createWebhook" | "changeWebhook", argument: unknown) =>
    answerOwnerCall(world.owner, "admin", name, argument);
  const made = (await call("createWebhook", HOOK)) as { value: { id: string } };
  const enable = (enabled: boolean) => call("changeWebhook", { id: made.value.id, enabled });
  await world.ring(Date.now() + 1_000);
  await enable(false);
  await world.tell("r000", 1);
  await world.ring(Date.now() + 6 * DAY_MS);
  await enable(true);
  await world.ring(Date.now() + 1_000);
  expect(world.heard).toEqual(["r000 1"]);
  await enable(false);
  await world.tell("r000", 2);
  await world.ring(Date.now() + 8 * DAY_MS);
  expect(world.sinceMs).toBeNull();
  await enable(true);
  await world.ring(Date.now() + 1_000);
  await world.tell("r000", 3);
  await world.ring(Date.now() + 60_000);
  expect(world.heard).toEqual(["r000 1", "r000 3"]);
});

test("the log has at most ten thousand events", { tags: "sweep" }, async () => {
  const world = new OwnerWorld(1);
  await world.log();
  for (let push = 1; push <= 10_010; push++) await world.tell("r000", push);
  const page = await world.owner.events({ after: null, limit: 1 }, "read");
  expect(page.events[0]).toMatchObject({ id: "11" });
  expect((await world.owner.events({ after: "9", limit: 1 }, "read")).missed).toBe(true);
  expect((await world.owner.events({ after: "10", limit: 1 }, "read")).missed).toBe(false);
});

/** A log that is begun by a webhook, told of three repositories, and read. */
async function run(world: OwnerWorld): Promise<void> {
  await world.insist(async () => {
    await createWebhook(world.owner, HOOK);
    world.owner.scheduleRemaining();
  });
  for (let push = 1; push <= 4; push++) {
    for (const repository of world.repositories) await world.tell(repository, push);
    await world.ring(Date.now() + 60_000);
  }
}

test("whatever fails once, or dies, each event is kept once and delivered, in order", { tags: "sweep" }, async () => {
  const whole = new OwnerWorld(3);
  await run(whole);
  expect(await whole.log()).toHaveLength(12);
  const { points } = whole;
  expect(points).toBeGreaterThan(200);
  // Other points with another seed, all of them on request.
  const step = process.env["FAULTS"] === "all" ? 1 : 7;
  for (let point = Number(process.env["FAULTS_SEED"] ?? 1) % step; point < points; point += step) {
    for (const isCrash of [false, true]) {
      const world = new OwnerWorld(3, { point, isCrash });
      const about = `${isCrash ? "a crash" : "a failure"} at ${point} of ${points}`;
      await run(world);
      await world.ring(Date.now() + DAY_MS);
      const log = await world.log();
      expect(log.toSorted(), about).toEqual(world.repositories.flatMap((id) => [1, 2, 3, 4].map((n) => `${id} ${n}`)));
      expect(new Set(world.visited), about).toEqual(new Set(world.repositories));
      expect(world.sinceMs, about).not.toBeNull();
      // A message comes again only before the next one.
      expect(
        world.heard.filter((id, i) => id !== world.heard[i - 1] && !world.heard.slice(0, i).includes(id)),
        about,
      ).toEqual(log);
    }
  }
});
