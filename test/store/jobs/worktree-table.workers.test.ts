import { expect, test } from "vitest";
import { CountedSql, newSqlCounters } from "../../../src/store/sql/sql.ts";
import { type FileChange, REMOVED, WorktreeTable } from "../../../src/store/jobs/worktree-table.ts";
import { withDatabase } from "../database.ts";

/** The id of an object. */
function oidOf(number: number): Uint8Array {
  const oid = new Uint8Array(20);
  new DataView(oid.buffer).setUint32(0, number);
  return oid;
}

/** Blobs have as many bytes as their number. */
const put = (path: string, source: number, mode = 0o100644): FileChange => ({
  path,
  file: { source, mode, oid: oidOf(source), sizeBytes: source },
});
const remove = (path: string): FileChange => ({ path, file: null });

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
    const written = worktrees.pending(id, 3).map((file) => ({ ...file, etag: `tag ${file.path}` }));
    worktrees.recordWritten(id, written);
    expect(worktrees.finishPlan(id, oidOf, 5)).toBe(false);
    worktrees.recordWritten(id, [{ ...worktrees.pending(id, 1)[0]!, etag: "odd" }]);
    expect(worktrees.finishPlan(id, oidOf, 6)).toBe(true);
    expect(worktrees.get("main")).toMatchObject({
      changedMs: 6,
      materialized: oidOf(11),
    });
    expect(worktrees.files(id, "", "", 10).map(({ path, etag }) => [path, etag])).toEqual([
      ["a", "tag a"],
      ["b", "tag b"],
      ["odd\xe9\n\"'", "odd"],
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
    worktrees.recordWritten(id, written);
    worktrees.recordRemoved(id, ["a", "b"]);
    expect(worktrees.pending(id, 10).length).toBe(3);
    // Planned again before it was removed: its file may be gone by now.
    worktrees.plan(id, 13, [put("twin", 1)]);
    expect(worktrees.pending(id, 1)).toMatchObject([{ path: "twin", source: 1 }]);
    worktrees.mistrust(id, "a", 1);
    expect(worktrees.pending(id, 10).length).toBe(4);
    worktrees.plan(id, 0, worktrees.paths(id).map(remove));
    expect(worktrees.get("main")).toMatchObject({ files: 0, sizeBytes: 0 });
    worktrees.recordRemoved(id, worktrees.paths(id));
    expect(worktrees.finishPlan(id, oidOf, 7)).toBe(true);
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

test("a change of one file among 5,000 reads and writes few rows", () =>
  withDatabase((sql) => {
    const counters = newSqlCounters();
    const worktrees = new WorktreeTable(new CountedSql(sql, counters));
    const { id } = worktrees.add("main");
    worktrees.plan(
      id,
      1,
      Array.from({ length: 5_000 }, (_, i) => put(`dir/${i}`, i + 1)),
    );
    for (let pending = worktrees.pending(id, 250); pending.length > 0; pending = worktrees.pending(id, 250)) {
      const before = counters.rowsRead;
      worktrees.recordWritten(
        id,
        pending.map((file) => ({ ...file, etag: "tag" })),
      );
      expect(counters.rowsRead - before).toBeLessThan(2_000);
    }
    worktrees.finishPlan(id, oidOf, 1);
    const { rowsRead, rowsWritten } = counters;
    worktrees.plan(id, 2, [put("dir/7", 5_001)]);
    worktrees.recordWritten(
      id,
      worktrees.pending(id, 250).map((file) => ({ ...file, etag: "tag" })),
    );
    expect(worktrees.finishPlan(id, oidOf, 2)).toBe(true);
    expect(counters.rowsRead - rowsRead).toBeLessThan(40);
    expect(counters.rowsWritten - rowsWritten).toBeLessThan(10);
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
