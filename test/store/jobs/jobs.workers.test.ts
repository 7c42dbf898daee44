import { expect, test } from "vitest";
import { JobQueue } from "../../../src/store/jobs/jobs.ts";
import { withDatabase, withEmptyDatabase } from "../database.ts";

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

test("a job whose runner died comes up again", () =>
  withDatabase((sql) => {
    const jobs = new JobQueue(sql);
    jobs.add("seal", "", 0);
    const taken = jobs.take(0)!;
    expect(taken.dueMs).toBe(15 * MINUTE_MS);
    expect(jobs.nextDueMs()).toBe(taken.dueMs);
    expect(jobs.take(taken.dueMs - 1)).toBeNull();
    expect(jobs.take(taken.dueMs)).toMatchObject({ attempts: 2 });
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

test("an empty database gets its queue on demand, once", () =>
  withEmptyDatabase((sql) => {
    JobQueue.open(sql).add("sweep", "a", 1);
    expect(JobQueue.open(sql).take(1)).toMatchObject({ key: "a" });
  }));

test("a job whose runner died is due soon for one that knows it, the later the more often that happened", () =>
  withDatabase((sql) => {
    const jobs = new JobQueue(sql);
    jobs.add("seal", "", 1_000);
    jobs.add("repack", "", 50_000);
    jobs.take(1_000);
    jobs.recover(2_000);
    expect(jobs.all().map(({ kind, dueMs }) => [kind, dueMs])).toEqual([
      ["seal", 4_000],
      ["repack", 50_000],
    ]);
    // Once reported, it waits as any job does.
    jobs.recover(3_000);
    expect(jobs.nextDueMs()).toBe(4_000);
    for (const [nowMs, dueMs] of [
      [4_000, 8_000],
      [8_000, 16_000],
    ] as const) {
      jobs.take(nowMs);
      jobs.recover(nowMs);
      expect(jobs.nextDueMs()).toBe(dueMs);
    }
    const failing = jobs.take(16_000)!;
    jobs.fail(failing, 16_000, "reason");
    jobs.recover(16_000);
    expect(jobs.nextDueMs()).toBe(32_000);
  }));
