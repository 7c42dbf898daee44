import { expect, test } from "vitest";
import { JobQueue } from "../../../../src/object/store/jobs/jobs.ts";
import { CountedSql, newSqlCounters } from "../../../../src/object/store/sql/sql.ts";
import { withDatabase } from "../database.ts";

const MINUTE_MS = 60_000;

test("jobs are taken when due, the longest due first", () =>
  withDatabase((sql) => {
    const jobs = new JobQueue(sql);
    expect(jobs.nextDueMs()).toBeNull();
    expect(jobs.take(1e15)).toBeNull();
    jobs.add("seal", "", 200);
    jobs.add("sweep", "a", 100);
    expect(jobs.nextDueMs()).toBe(100);
    expect(jobs.take(99)).toBeNull();
    expect(jobs.take(200)).toMatchObject({ kind: "sweep", key: "a", attempts: 1 });
    expect(jobs.take(200)).toMatchObject({ kind: "seal", key: "", attempts: 1 });
    expect(jobs.take(200)).toBeNull();
  }));

test("adding twice makes one job, due at the earlier time", () =>
  withDatabase((sql) => {
    const jobs = new JobQueue(sql);
    jobs.add("seal", "", 200);
    jobs.add("seal", "", 300);
    expect(jobs.nextDueMs()).toBe(200);
    jobs.add("seal", "", 100);
    expect(jobs.nextDueMs()).toBe(100);
    jobs.done(jobs.take(100)!);
    expect(jobs.nextDueMs()).toBeNull();
  }));

test("a job that runs for too long is taken again, and its late end changes nothing", () =>
  withDatabase((sql) => {
    const jobs = new JobQueue(sql);
    jobs.add("seal", "", 0);
    const taken = jobs.take(0)!;
    expect(taken.dueMs).toBe(15 * MINUTE_MS);
    expect(jobs.nextDueMs()).toBe(taken.dueMs);
    expect(jobs.nextRunMs(0)).toBe(taken.dueMs);
    expect(jobs.take(taken.dueMs - 1)).toBeNull();
    const again = jobs.take(taken.dueMs)!;
    expect(again).toMatchObject({ kind: "seal", key: "" });
    jobs.done(taken);
    jobs.fail(taken, 0, "late");
    expect(jobs.all()).toMatchObject([{ kind: "seal", lastError: null }]);
    jobs.done(again);
    expect(jobs.all()).toEqual([]);
  }));

test("a job that was cancelled while it ran stays away, unless it is added again", () =>
  withDatabase((sql) => {
    const jobs = new JobQueue(sql);
    for (const key of ["a", "b"]) jobs.add("sweep", key, 0);
    const running = [jobs.take(0)!, jobs.take(0)!];
    jobs.cancel("sweep", "a");
    jobs.cancelAllBut(["erase"]);
    jobs.add("sweep", "b", 7);
    for (const job of running) jobs.done(job);
    expect(jobs.all()).toMatchObject([{ kind: "sweep", key: "b", dueMs: 7 }]);
  }));

test("a job is added, taken and finished in two rows", () =>
  withDatabase((sql) => {
    const counters = newSqlCounters();
    const jobs = new JobQueue(new CountedSql(sql, counters));
    jobs.recover(0);
    const before = counters.rowsWritten;
    jobs.add("materialize", "main", 5);
    jobs.add("materialize", "main", 6);
    jobs.done(jobs.take(6)!);
    expect(counters.rowsWritten - before).toBe(2);
  }));

test("a job whose end cannot be written has failed, and is due if not even that can be written", () =>
  withDatabase((sql) => {
    let isFull = false;
    const jobs = new JobQueue({
      databaseSize: 0,
      exec: (query, ...bindings) => {
        if (isFull && !query.startsWith("SELECT")) throw new Error("disk full");
        return sql.exec(query, ...bindings);
      },
    });
    jobs.add("seal", "", 0);
    for (const hasSpaceAgain of [false, true]) {
      isFull = true;
      const job = jobs.take(0)!;
      expect(() => jobs.done(job)).toThrow("disk full");
      isFull = !hasSpaceAgain;
      const fail = () => jobs.fail(job, 0, "disk full");
      if (hasSpaceAgain) fail();
      else expect(fail).toThrow("disk full");
    }
    expect(jobs.all()).toMatchObject([{ dueMs: 2_000, attempts: 1, lastError: "disk full" }]);
  }));

test("a failed job waits twice as long each time, up to an hour", () =>
  withDatabase((sql) => {
    const jobs = new JobQueue(sql);
    jobs.add("seal", "", 0);
    const waits: number[] = [];
    for (let k = 0, now = 0; k < 14; k++) {
      jobs.fail(jobs.take(now)!, now, `try ${k}`);
      expect(jobs.all()).toMatchObject([{ kind: "seal", attempts: k + 1, lastError: `try ${k}` }]);
      waits.push((jobs.nextDueMs()! - now) / 1000);
      now = jobs.nextDueMs()!;
    }
    expect(waits).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3600, 3600, 3600]);
  }));

test.each(["done", "fail"] as const)("a job that is added while it runs runs again, whatever %s says", (settle) =>
  withDatabase((sql) => {
    const jobs = new JobQueue(sql);
    jobs.add("seal", "", 0);
    const taken = jobs.take(0)!;
    jobs.add("seal", "", 5);
    if (settle === "done") jobs.done(taken);
    else jobs.fail(taken, 5, "no luck");
    expect(jobs.nextDueMs()).toBe(5);
    expect(jobs.take(5)).toMatchObject({ kind: "seal", key: "" });
  }),
);

test("a job that is added while it runs, for long after, is due then", () =>
  withDatabase((sql) => {
    const jobs = new JobQueue(sql);
    jobs.add("prune", "", 0);
    const taken = jobs.take(0)!;
    jobs.add("prune", "", 1e12);
    jobs.done(taken);
    expect(jobs.nextDueMs()).toBe(1e12);
    jobs.done(jobs.take(1e12)!);
    expect(jobs.nextDueMs()).toBeNull();
  }));

test("a job can be cancelled, there or not", () =>
  withDatabase((sql) => {
    const jobs = new JobQueue(sql);
    jobs.add("sweep", "a", 1);
    jobs.add("sweep", "b", 2);
    jobs.cancel("sweep", "a");
    jobs.cancel("sweep", "c");
    expect(jobs.nextDueMs()).toBe(2);
  }));

test("what a dead runner was doing is due for the next at once, then the later the more often it died", () =>
  withDatabase((sql) => {
    const first = new JobQueue(sql);
    first.add("seal", "", 1_000);
    first.add("repack", "", 500_000);
    expect(first.take(1_000)).toMatchObject({ attempts: 1 });
    // The row says nothing of it: it is due.
    const second = new JobQueue(sql);
    second.recover(2_000);
    expect(second.all().map(({ kind, dueMs }) => [kind, dueMs])).toEqual([
      ["seal", 1_000],
      ["repack", 500_000],
    ]);
    expect(second.take(2_000)).toMatchObject({ kind: "seal", attempts: 1 });
    // From now on it does.
    for (const [nowMs, dueMs] of [
      [2_000, 4_000],
      [4_000, 8_000],
      [8_000, 16_000],
    ] as const) {
      const next = new JobQueue(sql);
      next.recover(nowMs);
      expect(next.nextDueMs()).toBe(dueMs);
      expect(next.take(dueMs - 1)).toBeNull();
      next.take(dueMs);
    }
    const last = new JobQueue(sql);
    last.recover(16_000);
    expect(last.nextDueMs()).toBe(32_000);
    const failing = last.take(32_000)!;
    last.fail(failing, 32_000, "reason");
    last.recover(32_000);
    expect(last.nextDueMs()).toBe(64_000);
    last.done(last.take(64_000)!);
    expect(last.all()).toMatchObject([{ kind: "repack", attempts: 0 }]);
  }));
