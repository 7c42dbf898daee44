import { expect, test } from "vitest";
import { type NewPush, type Push, type PushedRef, PushLog } from "../../src/store/push-log.ts";
import { withDatabase } from "./database.ts";

test("pushes are paged, newest first", () =>
  withDatabase((sql) => {
    const log = new PushLog(sql);
    expect(log.page(null, 10)).toEqual({ pushes: [], next: null });
    const other: PushedRef = ["refs/heads/other", null, "2".repeat(40)];
    const pushes = Array.from({ length: 5 }, (_, i): NewPush => ({
      timeMs: 1_000 + i,
      who: i === 0 ? null : "me",
      refs: [["refs/heads/\xff", i === 0 ? null : "0".repeat(40), "1".repeat(40)], ...(i % 2 === 0 ? [] : [other])],
      packBytes: 2 ** 33 + i,
      objects: i,
    }));
    expect(log.totalBytes()).toBe(0);
    expect(pushes.map((push) => log.append(push))).toEqual([1, 2, 3, 4, 5]);
    // The first brought no object: its bytes were there.
    expect(log.totalBytes()).toBe(4 * 2 ** 33 + 1 + 2 + 3 + 4);
    const recorded = pushes.map((push, i) => ({ id: i + 1, ...push, refCount: push.refs.length })).toReversed();
    expect(log.page(null, 10)).toEqual({ pushes: recorded, next: null });
    expect(log.page(null, 5)).toEqual({ pushes: recorded, next: null });
    expect(log.page(null, 2)).toEqual({ pushes: recorded.slice(0, 2), next: 4 });
    expect(log.page(4, 2)).toEqual({ pushes: recorded.slice(2, 4), next: 2 });
    const ofOther = [1, 3].map((i) => ({ ...recorded[i]!, refs: [other] }));
    expect(log.page(null, 1, ["other", "refs/heads/other"])).toEqual({ pushes: ofOther.slice(0, 1), next: 4 });
    expect(log.page(null, 2, ["refs/heads/other"])).toEqual({ pushes: ofOther, next: null });
    expect(log.page(null, 9, ["refs/heads/none"])).toEqual({ pushes: [], next: null });
  }));

test("a page shows 100 refs of a push, and looks at 10,000 pushes", () =>
  withDatabase((sql) => {
    const log = new PushLog(sql);
    const push = (names: readonly string[]) =>
      log.append({
        timeMs: 0,
        who: null,
        refs: names.map((name) => [name, null, "1".repeat(40)]),
        packBytes: 0,
        objects: 0,
      });
    push(["refs/heads/rare"]);
    push(Array.from({ length: 150 }, (_, i) => `refs/heads/${i}`));
    const [{ refs, refCount }] = log.page(null, 1).pushes as [Push];
    expect([refs.length, refCount]).toEqual([100, 150]);
    sql.exec(`INSERT INTO pushes (time_ms, refs, pack_bytes, objects, total_bytes)
      WITH RECURSIVE row(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM row WHERE i < 10000) SELECT 0, '[]', 0, 0, 0 FROM row`);
    expect(log.page(null, 1, ["refs/heads/rare"])).toEqual({ pushes: [], next: 3 });
    expect(log.page(3, 1, ["refs/heads/rare"])).toMatchObject({ pushes: [{ id: 1 }], next: null });
  }));
