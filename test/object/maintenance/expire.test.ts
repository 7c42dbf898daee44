import { expect, test } from "vitest";
import { PRUNE_GRACE_MS } from "../../../src/base/format/limits.ts";
import { REFLOG_MS } from "../../../src/object/maintenance/maintenance-jobs.ts";
import { PushedRepository } from "../pushing.ts";
import { TinyPushes } from "./tiny-pushes.ts";

const DAY_MS = 24 * 60 * 60_000;

test("pushes are forgotten after 90 days, day by day, but for the newest; then no alarm rings any more", async () => {
  const repository = new PushedRepository();
  const pushes = new TinyPushes(repository);
  await pushes.push(6);
  const { sql, tables } = repository;
  const now = Date.now();
  expect(REFLOG_MS).toBeGreaterThan(PRUNE_GRACE_MS);
  // Two long ago, two ten days later, two just now.
  for (const [id, ageMs] of [
    REFLOG_MS + 2,
    REFLOG_MS + 1,
    REFLOG_MS - 10 * DAY_MS,
    REFLOG_MS - 10 * DAY_MS,
    0,
    0,
  ].entries()) {
    sql.exec("UPDATE pushes SET time_ms = ? WHERE id = ?", now - ageMs, id + 1);
  }
  expect(tables.jobs.nextDueMs()).toBe(null);
  await pushes.push(1);
  const total = tables.pushes.totalBytes();
  const ids = (): number[] => tables.pushes.page(null, 99).pushes.map(({ id }) => id);
  for (const [left, nextMs] of [
    [[7, 6, 5, 4, 3], now + 10 * DAY_MS],
    [[7, 6, 5], now + REFLOG_MS],
    [[7], null],
  ] as const) {
    await repository.repository.runJobs(tables.jobs.nextDueMs()!);
    expect(ids()).toEqual(left);
    const dueMs = tables.jobs.nextDueMs();
    if (nextMs === null) expect(dueMs).toBe(null);
    else expect(Math.abs(dueMs! - nextMs)).toBeLessThan(60_000);
  }
  expect(tables.pushes.totalBytes()).toBe(total);
  await pushes.push(1);
  expect(ids()).toEqual([8, 7]);
});
