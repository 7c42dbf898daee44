import { expect, test } from "vitest";
import { REMOVED } from "../../../../src/object/store/jobs/worktree-records.ts";
import { type FileChange, WorktreeTable } from "../../../../src/object/store/jobs/worktree-table.ts";
import { createRepository } from "../../../../src/object/store/sql/schema.ts";
import { Random } from "../../../harness/random.ts";
import { NodeSql } from "../../sqlite.ts";
import { oidOf, put, remove, write } from "./worktree-samples.ts";

/** Writes all that is pending. */
function writeAll(worktrees: WorktreeTable, id: number): void {
  for (let isDone = false; !isDone;) {
    const pending = Map.groupBy(worktrees.pending(id, 250), ({ source }) => source === REMOVED);
    const removed = (pending.get(true) ?? []).map(({ path }) => path);
    isDone = worktrees.record(id, removed, (pending.get(false) ?? []).map(write), oidOf, 1);
  }
}

test.each([1, 2, 3])(
  "whatever is planned and written, in pages or not, is listed: seed %i",
  { tags: "sweep" },
  (seed) => {
    const sql = new NodeSql();
    createRepository(sql, { key: "key", createdMs: 1, fsck: "default" });
    const random = new Random(seed);
    const worktrees = new WorktreeTable(sql);
    const { id } = worktrees.add("main");
    const other = worktrees.add("other").id;
    worktrees.plan(other, 1, [put("of the other", 1)]);
    const makePath = (): string => {
      const name = `${random.below(900)}${random.pick(["", "\xff", "\x80/\n", "\u0001"])}`;
      return random.pick([name, `d/${name}`, `${"long".repeat(random.below(40))}/${name}`]);
    };
    let expected = new Map<string, number>();
    for (let push = 1; push <= 30; push++) {
      const changes = new Map<string, FileChange>();
      for (let i = random.pick([1, 1, 3, 30, 400, 1_000]); i > 0; i--) {
        const path = makePath();
        changes.set(path, random.below(3) === 0 ? remove(path) : put(path, 1 + random.below(5_000)));
      }
      if (random.below(20) === 0) for (const path of expected.keys()) changes.set(path, remove(path));
      worktrees.plan(id, push, [...changes.values()]);
      for (const { path, file } of changes.values())
        if (file === null) expected.delete(path);
        else expected.set(path, file.source);
      const sorted = new Map([...expected].sort(([a], [b]) => (a < b ? -1 : 1)));
      expected = sorted;
      const list = worktrees.files(id, "", "", 1_000_000);
      expect(list.map(({ path }) => path)).toEqual([...sorted.keys()]);
      const sizeBytes = [...sorted.values()].reduce((sum, source) => sum + source, 0);
      expect(worktrees.get("main")).toMatchObject({ files: sorted.size, sizeBytes });
      // Part of it is written, or all.
      const pending = worktrees.pending(id, 100_000);
      expect(worktrees.get("main")!.pending).toBe(pending.length);
      expect(new Set(worktrees.paths(id))).toEqual(
        new Set([...sorted.keys(), ...pending.filter(({ source }) => source === REMOVED).map(({ path }) => path)]),
      );
      if (random.below(2) === 0) writeAll(worktrees, id);
      else {
        const some = pending.filter(() => random.below(2) === 0);
        const removed = some.filter(({ source }) => source === REMOVED).map(({ path }) => path);
        const written = some.filter(({ source }) => source !== REMOVED).map(write);
        expect(worktrees.record(id, removed, written, oidOf, 1)).toBe(some.length === pending.length);
      }
      const left = new Set(worktrees.pending(id, 100_000).map(({ path }) => path));
      for (const { path, oid, etag } of worktrees.files(id, "", "", 1_000_000))
        expect([path, oid, etag]).toEqual([path, oidOf(sorted.get(path)!), left.has(path) ? null : `tag ${path}`]);
      const [after, prefix] = [makePath(), random.pick(["", "d/", "long", "1"])];
      expect(worktrees.files(id, prefix, after, 40).map(({ path }) => path)).toEqual(
        [...sorted.keys()].filter((path) => path.startsWith(prefix) && path > after).slice(0, 40),
      );
      for (const path of [after, ...sorted.keys()].slice(0, 30))
        expect(worktrees.file(id, path)?.sizeBytes).toBe(sorted.get(path));
    }
    worktrees.plan(id, 0, worktrees.paths(id).map(remove));
    writeAll(worktrees, id);
    expect(worktrees.all().map(({ branch }) => branch)).toEqual(["other"]);
    expect(sql.exec("SELECT * FROM worktree_files").toArray()).toEqual([]);
  },
);
