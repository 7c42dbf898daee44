import { expect, test } from "vitest";
import { Announcement } from "../../../src/object/state/announcement.ts";

test("changes are told together, and wait for requests to end no longer than 3 s", () => {
  const announcement = new Announcement();
  announcement.change(0);
  announcement.change(1_500);
  expect(announcement.wakeMs(0)).toBe(2_000);
  expect(announcement.wakeMs(3_500)).toBe(3_500);
  expect(announcement.wakeMs(9_000)).toBe(5_000);
  expect(announcement.isDue(4_999, false)).toBe(false);
  expect(announcement.isDue(5_000, false)).toBe(true);
  announcement.begin();
  expect(announcement.isDue(5_000, true)).toBe(false);
  expect(announcement.wakeMs(0)).toBeNull();
});

test("a change is told before it is due when jobs run", () => {
  const announcement = new Announcement();
  announcement.change(0);
  expect(announcement.isDue(1, true)).toBe(true);
});

test("what changes while the registry is told is told later", () => {
  const announcement = new Announcement();
  announcement.change(0);
  announcement.begin();
  announcement.change(2_100);
  expect(announcement.isTold).toBe(false);
  expect(announcement.wakeMs(0)).toBe(4_100);
});

test("a process that has just begun tells the registry with the next alarm, and sets none", () => {
  const announcement = new Announcement();
  expect(announcement.isTold).toBe(false);
  expect(announcement.wakeMs(0)).toBeNull();
  expect(announcement.isDue(1_000, true)).toBe(true);
  // With requests all the time, from its alarm on it waits like any other.
  const busy = new Announcement();
  expect(busy.isDue(1_000, false)).toBe(false);
  expect(busy.wakeMs(9_000)).toBe(4_000);
  expect(busy.isDue(4_000, false)).toBe(true);
});

test("after a failure it waits twice as long each time, up to an hour, and no job brings it forward", () => {
  const announcement = new Announcement();
  announcement.change(0);
  let nowMs = 2_000;
  for (const waitMs of [2_000, 4_000, 8_000]) {
    announcement.begin();
    announcement.fail(nowMs);
    expect(announcement.wakeMs(0)).toBe(nowMs + waitMs);
    expect(announcement.isDue(nowMs + waitMs - 1, true)).toBe(false);
    expect(announcement.isDue(nowMs + waitMs, true)).toBe(true);
    nowMs += waitMs;
  }
  for (let i = 0; i < 20; i++) announcement.fail(0);
  expect(announcement.wakeMs(0)).toBe(3_600_000);
  announcement.begin();
  announcement.change(nowMs);
  expect(announcement.isDue(nowMs, true)).toBe(true);
});
