import { expect, test } from "vitest";
import { JobQueue } from "../../../src/store/jobs/jobs.ts";
import { PushLog } from "../../../src/store/refs/push-log.ts";
import {
  createRepository,
  readRepository,
  type RepositoryRecord,
  upgradeRepository,
} from "../../../src/store/sql/schema.ts";
import { withEmptyDatabase } from "../database.ts";

const record: RepositoryRecord = { key: "0123", createdMs: 1_700_000_000_000, fsck: "strict", deleted: false };

test("a repository exists from its creation on, once", () =>
  withEmptyDatabase((sql) => {
    expect(readRepository(sql)).toBeNull();
    createRepository(sql, record);
    expect(readRepository(sql)).toEqual(record);
    expect(() => createRepository(sql, record)).toThrow();
  }));

test("a creation that fails leaves no tables", () =>
  withEmptyDatabase((sql, transactor) => {
    const create = () => {
      createRepository(sql, record);
      throw new Error("take it back");
    };
    expect(() => transactor.transactionSync(create)).toThrow("take it back");
    expect(readRepository(sql)).toBeNull();
    transactor.transactionSync(() => createRepository(sql, record));
    expect(readRepository(sql)).toEqual(record);
  }));

test("a database of the first version becomes one of the newest, with all that is in it", () =>
  withEmptyDatabase((sql) => {
    createRepository(sql, record);
    // In its former shape.
    sql.exec(`DROP TABLE pushes; DROP TABLE pushed_refs;
      CREATE TABLE pushes (id INTEGER PRIMARY KEY, time_ms INTEGER NOT NULL, who TEXT, refs TEXT NOT NULL,
        pack_bytes INTEGER NOT NULL, objects INTEGER NOT NULL, total_bytes INTEGER NOT NULL);
      UPDATE repository SET schema = 1`);
    const refs = [
      JSON.stringify([["refs/heads/a", null, "1".repeat(40)]]),
      JSON.stringify([["refs/heads/\xff", null, null]]),
    ];
    for (const json of refs)
      sql.exec("INSERT INTO pushes (time_ms, refs, pack_bytes, objects, total_bytes) VALUES (1, ?, 2, 3, 4)", json);
    sql.exec("INSERT INTO jobs (kind, key, due_ms) VALUES ('merge', '', 7)");
    sql.exec(`INSERT INTO job_runs (kind, record) VALUES ('merge', '{"beganMs":5}')`);
    upgradeRepository(sql);
    upgradeRepository(sql);
    const jobs = new JobQueue(sql);
    expect(jobs.find("repack", "")).toMatchObject({ dueMs: 7 });
    expect(jobs.lastRuns()).toEqual({ repack: { beganMs: 5 } });
    const log = new PushLog(sql);
    expect(log.sizeBytes()).toBe(refs[0]!.length + refs[1]!.length + 1);
    expect(log.append({ timeMs: 9, who: null, refs: [["refs/heads/b", null, null]], packBytes: 0, objects: 0 })).toBe(
      3,
    );
    expect(log.page(null, 9).pushes.map(({ refs: [ref] }) => ref![0])).toEqual([
      "refs/heads/b",
      "refs/heads/\xff",
      "refs/heads/a",
    ]);
  }));
