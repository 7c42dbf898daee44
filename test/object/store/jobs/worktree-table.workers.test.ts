import { expect, test } from "vitest";
import { CountedSql, newSqlCounters } from "../../../../src/object/store/sql/sql.ts";
import { REMOVED } from "../../../../src/object/store/jobs/worktree-records.ts";
import { WorktreeTable } from "../../../../src/object/store/jobs/worktree-table.ts";
import { withDatabase } from "../database.ts";
import { oidOf, put, remove, write } from "./worktree-samples.ts";

test("rows are the files of the planned commit, and what is left to do for them", () =>
  withDatabase((sql) => {
    const worktrees = new WorktreeTable(sql);
    const { id } = worktrees.add("main");
    worktrees.plan(id, 11, [put("b", 2), put("a", 1), put("odd\xe9\n\"'", 3), put("twin", 1)]);
    expect(worktrees.get("main")).toMatchObject({ planned: 11, files: 4, sizeBytes: 7, materialized: null });
    expect(worktrees.pending(id, 10).map(({ path, source }) => [path, source])).toEqual([
      ["a", 1],
      ["twin", 1],
      ["b", 2],
      ["odd\xe9\n\"'", 3],
    ]);
    const written = worktrees.pending(id, 3).map(write);
    expect(worktrees.record(id, [], written, oidOf, 5)).toBe(false);
    expect(worktrees.get("main")).toMatchObject({ pending: 1, materialized: null, changedMs: 0 });
    expect(worktrees.record(id, [], worktrees.pending(id, 9).map(write), oidOf, 6)).toBe(true);
    // Nothing is recorded that is so already.
    expect(worktrees.record(id, [], [], oidOf, 7)).toBe(true);
    expect(worktrees.get("main")).toMatchObject({
      pending: 0,
      changedMs: 6,
      materialized: oidOf(11),
    });
    expect(worktrees.files(id, "", "", 10).map(({ path, etag }) => [path, etag])).toEqual([
      ["a", "tag a"],
      ["b", "tag b"],
      ["odd\xe9\n\"'", "tag odd\xe9\n\"'"],
      ["twin", "tag twin"],
    ]);

    // Correct files stay; those that change, are removed, or get another mode are pending.
    worktrees.plan(id, 12, [put("a", 1), put("b", 4), remove("twin"), put("odd\xe9\n\"'", 3, 0o100755)]);
    expect(worktrees.pending(id, 10).map(({ path, source }) => [path, source])).toEqual([
      ["twin", REMOVED],
      ["odd\xe9\n\"'", 3],
      ["b", 4],
    ]);
    expect(worktrees.get("main")).toMatchObject({ planned: 12, files: 3, sizeBytes: 8 });
    expect(worktrees.file(id, "twin")).toBeNull();
    expect(worktrees.file(id, "b")).toMatchObject({ sizeBytes: 4, etag: null });
    // A write of an earlier plan completes nothing.
    expect(worktrees.record(id, ["a", "b"], written, oidOf, 7)).toBe(false);
    expect(worktrees.pending(id, 10).length).toBe(3);
    // Planned again before it was removed: its file may be gone by now.
    worktrees.plan(id, 13, [put("twin", 1)]);
    expect(worktrees.pending(id, 10)[0]).toMatchObject({ path: "twin", source: 1 });
    worktrees.mistrust(id, "a", 1);
    expect(worktrees.pending(id, 10).length).toBe(4);
    worktrees.plan(id, 0, worktrees.paths(id).map(remove));
    expect(worktrees.get("main")).toMatchObject({ files: 0, sizeBytes: 0 });
    expect(worktrees.record(id, worktrees.paths(id), [], oidOf, 7)).toBe(true);
    expect(worktrees.all()).toEqual([]);
  }));

test("files are listed below a prefix, page by page", () =>
  withDatabase((sql) => {
    const worktrees = new WorktreeTable(sql);
    const { id } = worktrees.add("main");
    const other = worktrees.add("other").id;
    worktrees.plan(
      id,
      1,
      ["a", "a/b", "a/\xff", "a0", "b"].map((path) => put(path, 1)),
    );
    worktrees.plan(other, 2, [put("a/other", 1)]);
    const paths = (prefix: string, after: string, limit: number) =>
      worktrees.files(id, prefix, after, limit).map(({ path }) => path);
    expect(paths("", "", 10)).toEqual(["a", "a/b", "a/\xff", "a0", "b"]);
    expect(paths("a/", "", 10)).toEqual(["a/b", "a/\xff"]);
    expect(paths("a/", "a/b", 10)).toEqual(["a/\xff"]);
    expect(paths("", "", 2)).toEqual(["a", "a/b"]);
    expect(worktrees.ofCommit(2)).toMatchObject({ branch: "other" });
    expect(worktrees.ofCommit(3)).toBeNull();
  }));

/** Writes all that is pending. */
function writeAll(worktrees: WorktreeTable, id: number): void {
  for (let isDone = false; !isDone;) {
    const pending = Map.groupBy(worktrees.pending(id, 250), ({ source }) => source === REMOVED);
    const removed = (pending.get(true) ?? []).map(({ path }) => path);
    isDone = worktrees.record(id, removed, (pending.get(false) ?? []).map(write), oidOf, 1);
  }
}

test("5,000 files are few rows, and a change of three of them writes two", () =>
  withDatabase((sql) => {
    const counters = newSqlCounters();
    const worktrees = new WorktreeTable(new CountedSql(sql, counters));
    const { id } = worktrees.add("main");
    worktrees.plan(
      id,
      1,
      Array.from({ length: 5_000 }, (_, i) => put(`dir/${i}`, i + 1)),
    );
    writeAll(worktrees, id);
    expect(counters.rowsWritten).toBeLessThan(150);
    for (const [push, numbers] of [[7, 2_500, 4_999], [8], [4_999, 5_000, 5_001]].entries()) {
      const { rowsRead, rowsWritten } = counters;
      worktrees.plan(
        id,
        push + 2,
        numbers.map((number) => put(`dir/${number}`, 6_000 + push)),
      );
      writeAll(worktrees, id);
      expect(counters.rowsRead - rowsRead).toBeLessThan(60);
      expect(counters.rowsWritten - rowsWritten).toBe(2);
      expect(worktrees.get("main")).toMatchObject({ planned: push + 2, materialized: oidOf(push + 2), pending: 0 });
    }
  }));

test("a page that is cut is an error, and a path that fits no row is refused", () =>
  withDatabase((sql) => {
    const worktrees = new WorktreeTable(sql);
    const { id } = worktrees.add("main");
    worktrees.plan(id, 1, [put("a", 1), put("abc".repeat(1_000), 2)]);
    const { recent } = sql.exec<{ recent: ArrayBuffer }>("SELECT recent FROM worktrees").one();
    for (const length of [1, 2, 20, 40, 100, recent.byteLength - 1]) {
      sql.exec("UPDATE worktrees SET recent = ?", recent.slice(0, length));
      expect(() => worktrees.paths(id)).toThrow("storage failed at worktree_files");
    }
    sql.exec("UPDATE worktrees SET recent = ?", recent);
    const longest = "\xff".repeat(500_000);
    worktrees.plan(id, 2, [put(longest, 3)]);
    writeAll(worktrees, id);
    expect(worktrees.file(id, longest)).toMatchObject({ etag: `tag ${longest}` });
    expect(() => worktrees.plan(id, 3, [put(`${longest}x`, 3)])).toThrow(
      "a path in a worktree (bytes) exceeds the limit of 500000",
    );
  }));

test("which branches are wanted is kept", () =>
  withDatabase((sql) => {
    const worktrees = new WorktreeTable(sql);
    expect(worktrees.wanted()).toBeNull();
    worktrees.setWanted(["main", "caf\xe9"]);
    expect(worktrees.wanted()).toEqual(["main", "caf\xe9"]);
    worktrees.setWanted([]);
    expect(worktrees.wanted()).toEqual([]);
    worktrees.setWanted(null);
    expect(worktrees.wanted()).toBeNull();
  }));
