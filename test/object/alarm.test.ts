import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Alarm } from "../../src/object/alarm.ts";

const NOW_MS = 1_800_000_000_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: NOW_MS });
});

afterEach(() => {
  vi.useRealTimers();
});

/** An alarm with its stored time, and the times written to it from now on. */
async function open(atMs: number | null): Promise<{ alarm: Alarm; written: number[] }> {
  const written: number[] = [];
  const storage = { getAlarm: async () => atMs, setAlarm: async (timeMs: number) => void written.push(timeMs) };
  const alarm = new Alarm(storage as unknown as DurableObjectStorage);
  // As a starting repository does, before any await.
  alarm.set(NOW_MS + 5_000);
  await alarm.read();
  return { alarm, written };
}

test("an alarm is written once for all that comes after it, and again for what comes before", async () => {
  const { alarm, written } = await open(null);
  for (const afterMs of [5_000, 6_000, 60_000]) alarm.set(NOW_MS + afterMs);
  expect(written).toEqual([NOW_MS + 5_000]);
  alarm.set(NOW_MS + 4_000);
  alarm.clear();
  alarm.set(NOW_MS + 6_000);
  expect(written).toEqual([NOW_MS + 5_000, NOW_MS + 4_000, NOW_MS + 6_000]);
});

test("an object that starts leaves the alarm that it finds, unless that rings too late or should have rung long ago", async () => {
  expect((await open(NOW_MS + 3_000)).written).toEqual([]);
  expect((await open(NOW_MS - 1_000)).written).toEqual([]);
  expect((await open(NOW_MS + 9_000)).written).toEqual([NOW_MS + 5_000]);
  expect((await open(NOW_MS - 120_000)).written).toEqual([NOW_MS + 5_000]);
});
