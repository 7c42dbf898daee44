// The memory of an isolate, handed out in bytes: a request without memory waits, for a limited
// time.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { COMMON_MEMORY_BYTES, LARGE_MEMORY_BYTES } from "../../../src/base/format/limits.ts";
import { ByteCache } from "../../../src/base/bytes/byte-cache.ts";
import { MemoryBudget } from "../../../src/base/pacing/memory-budget.ts";
import { PushMemory } from "../../../src/object/push/push-memory.ts";

const MIB = 1024 * 1024;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
});

afterEach(() => {
  vi.useRealTimers();
});

/** Runs all pending promise callbacks. */
const settle = () => vi.advanceTimersByTimeAsync(0);

test("what requests share, and what runtime and code take without them, is what the platform gives", () => {
  expect(COMMON_MEMORY_BYTES + LARGE_MEMORY_BYTES).toBeLessThanOrEqual((128 - 32) * MIB);
});

test("what does not fit waits until enough was given back, and who needs less is not held up by it", async () => {
  const budget = new MemoryBudget(100, 10);
  const first = await budget.take(70);
  const got: string[] = [];
  const large = budget.take(60).then((lease) => (got.push("60"), lease));
  const small = budget.take(30).then((lease) => (got.push("30"), lease));
  await settle();
  expect(got).toEqual(["30"]);
  expect(budget.takenBytes).toBe(100);
  first.free();
  first.free();
  await settle();
  expect(got).toEqual(["30", "60"]);
  expect([budget.takenBytes, budget.peakBytes]).toEqual([90, 100]);
  for (const lease of await Promise.all([large, small])) lease.free();
  expect(budget.takenBytes).toBe(0);
});

test("who waits for too long is told to come again", async () => {
  const budget = new MemoryBudget(100, 10);
  const alive = setInterval(() => leases.forEach((lease) => lease.renew()), 1_000);
  const leases = [await budget.take(100), await budget.takeLarge()];
  const refusals = Promise.allSettled([budget.take(1, 200_000), budget.takeLarge(200_000)]);
  await vi.advanceTimersByTimeAsync(200_000);
  clearInterval(alive);
  for (const refusal of await refusals) {
    expect(refusal).toMatchObject({
      reason: {
        code: "unavailable",
        message:
          "the memory for this request is unavailable for now: other large requests have held the 1 MiB that it needs " +
          "for 200 seconds; try again in a minute",
        data: { retryAfterMs: expect.any(Number) as number },
      },
    });
  }
  expect(budget.isLargeWanted).toBe(false);
});

test("who is silent for two minutes counts as dead; what it had goes to who waits, and never comes back", async () => {
  const budget = new MemoryBudget(100, 10);
  const dead = await budget.take(100);
  let isTaken = false;
  const next = budget.take(100).then((lease) => ((isTaken = true), lease));
  await vi.advanceTimersByTimeAsync(119_000);
  expect(isTaken).toBe(false);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(isTaken).toBe(true);
  dead.renew();
  dead.free();
  expect(budget.takenBytes).toBe(100);
  (await next).free();
  expect(budget.takenBytes).toBe(0);
});

test("two pushes that both outgrow their part come one after the other, and neither's own part lapses meanwhile", async () => {
  const budget = new MemoryBudget(60 * MIB, 36 * MIB);
  const [a, b] = [await PushMemory.take(false, budget), await PushMemory.take(false, budget)];
  await a.takeLarge(() => undefined);
  let hasB = false;
  const waiting = b.takeLarge(() => undefined).then(() => (hasB = true));
  for (let minute = 0; minute < 3; minute++) {
    await vi.advanceTimersByTimeAsync(60_000);
    a.renew();
  }
  expect([hasB, a.isWanted, b.isWanted]).toEqual([false, true, false]);
  expect(budget.takenBytes).toBe(88 * MIB);
  a.free();
  await waiting;
  expect(budget.takenBytes).toBe(62 * MIB);
  b.free();
  expect(budget.takenBytes).toBe(0);
});

test("caches take what room there is, and make way", async () => {
  const budget = new MemoryBudget(100, 50);
  const caches = [new ByteCache<string>(80, budget), new ByteCache<string>(80, budget)];
  for (let i = 0; i < 8; i++) for (const cache of caches) cache.set(`${i}`, "x", 10);
  expect(caches.map(({ sizeBytes }) => sizeBytes)).toEqual([80, 70]);
  const lease = await budget.take(100);
  expect(caches[0]!.sizeBytes + caches[1]!.sizeBytes).toBe(50);
  const large = await budget.takeLarge();
  expect(caches.map(({ sizeBytes }) => sizeBytes)).toEqual([0, 0]);
  caches[0]!.set("more", "x", 10);
  expect(caches[0]!.sizeBytes).toBe(0);
  large.free();
  lease.free();
  caches[0]!.set("more", "x", 10);
  expect(caches[0]!.sizeBytes).toBe(10);
});
