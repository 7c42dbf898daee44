import { expect, test } from "vitest";
import { type NewPush, PushLog } from "../../src/store/push-log.ts";
import { withDatabase } from "./database.ts";

test("pushes are paged, newest first", () =>
  withDatabase((sql) => {
    const log = new PushLog(sql);
    expect(log.page(null, 10)).toEqual([]);
    const pushes = Array.from({ length: 5 }, (_, i): NewPush => ({
      timeMs: 1_000 + i,
      who: i === 0 ? null : "me",
      refs: [["refs/heads/\xff", i === 0 ? null : "0".repeat(40), "1".repeat(40)]],
      packBytes: 2 ** 33 + i,
      objects: i,
    }));
    expect(log.totalBytes()).toBe(0);
    expect(pushes.map((push) => log.append(push))).toEqual([1, 2, 3, 4, 5]);
    // The first brought no object: its bytes were there.
    expect(log.totalBytes()).toBe(4 * 2 ** 33 + 1 + 2 + 3 + 4);
    const recorded = pushes.map((push, i) => ({ id: i + 1, ...push })).toReversed();
    expect(log.page(null, 10)).toEqual(recorded);
    expect(log.page(null, 2)).toEqual(recorded.slice(0, 2));
    expect(log.page(4, 2)).toEqual(recorded.slice(2, 4));
  }));
