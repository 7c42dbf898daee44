import { expect, test } from "vitest";
import { type NewPush, type Push, type PushedRef, PushLog } from "../../../../src/object/store/refs/push-log.ts";
import { testSome } from "../../../harness/sweep.ts";
import { withDatabase } from "../database.ts";

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
    // The first added no object, and so no bytes.
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

/** A push of refs whose names have so many bytes. */
const wide = (timeMs: number, count: number, nameBytes: number, char = "x"): NewPush => ({
  timeMs,
  who: null,
  refs: Array.from({ length: count }, (_, i): PushedRef => {
    const name = `refs/heads/${String(i).padStart(6, "0")}`;
    return [name + char.repeat(nameBytes - name.length), null, "1".repeat(40)];
  }),
  packBytes: 0,
  objects: 1,
});

testSome(1, ["x", "\xff", '"'], "no value has more than 2 MB, whatever a push moves: names of %j", (char) =>
  withDatabase((sql) => {
    const log = new PushLog(sql);
    const push = wide(1, 10_000, 1_000, char);
    log.append(wide(0, 1, 20));
    log.append(push);
    log.append(wide(2, 3, 20));
    const sizes = sql
      .exec<{ size: number }>(
        "SELECT octet_length(refs) AS size FROM pushes UNION ALL SELECT octet_length(refs) FROM pushed_refs",
      )
      .toArray()
      .map(({ size }) => size);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(2_000_000);
    expect(sizes.length).toBeGreaterThan(10);
    expect(log.sizeBytes()).toBe(sizes.reduce((sum, size) => sum + size, 0));
    const page = log.page(null, 9).pushes;
    expect(page.map(({ refCount }) => refCount)).toEqual([3, 10_000, 1]);
    expect(page[1]!.refs).toEqual(push.refs.slice(0, 100));
    expect(log.page(null, 9, [push.refs[9_999]![0]]).pushes).toEqual([
      { ...push, id: 2, refs: push.refs.slice(9_999), refCount: 10_000 },
    ]);
    const { objects, oids } = log.since(0);
    expect([objects, oids.length]).toEqual([2, 10_003 * 20]);
    expect(log.removeBefore(2, 9)).toBe(2);
    expect(sql.exec("SELECT 1 FROM pushed_refs").toArray()).toEqual([]);
    expect(log.sizeBytes()).toBe(sizes[2]);
  }),
);

test("the oldest pushes make room for the newest, and when they were is known", () =>
  withDatabase((sql) => {
    const log = new PushLog(sql);
    const maxBytes = 20_000;
    const ids = (): number[] => log.page(null, 999).pushes.map(({ id }) => id);
    for (let i = 1; i <= 300; i++) {
      log.append(wide(i, 1 + (i % 7), 40), maxBytes);
      expect(log.sizeBytes()).toBeLessThanOrEqual(maxBytes);
      const kept = ids();
      expect(kept).toEqual(Array.from({ length: kept.length }, (_, k) => i - k));
      expect(log.forgottenMs()).toBe(kept.length === i ? null : i - kept.length);
    }
    const left = ids().length;
    expect(left).toBeGreaterThan(10);
    // A push that is too large by itself stays, alone.
    log.append(wide(301, 1_000, 40), maxBytes);
    expect([ids(), log.forgottenMs()]).toEqual([[301], 300]);
    log.append(wide(302, 1, 40), maxBytes);
    expect([ids(), log.forgottenMs()]).toEqual([[302], 301]);
    // What expired was not forgotten early.
    log.append(wide(303, 1, 40), maxBytes);
    log.removeBefore(1_000, 9);
    expect([ids(), log.forgottenMs()]).toEqual([[303], null]);
  }));
