import { expect, test } from "vitest";
import { scheduleMirrors } from "../../../src/object/remotes/mirrors.ts";
import type { MirrorRecord } from "../../../src/contract/remotes.ts";
import { makeHistory } from "../../harness/history.ts";
import { PushedRepository } from "../pushing.ts";

const RECORD: MirrorRecord = {
  id: "one",
  session: "first",
  url: "https://git.example.com/ada/engine.git",
  prefixes: ["refs/heads/main", "refs/tags/"],
  force: false,
  prune: false,
  maxPackBytes: null,
  createdMs: 0,
  failures: 0,
  dueMs: 0,
  error: null,
  syncedMs: null,
  refs: 0,
  refused: 0,
  extra: 0,
  pushes: 0,
  objects: 0,
  packBytes: 0,
};

test("a push adds one row for each mirror that wants its refs, and none without", async () => {
  const repository = new PushedRepository();
  await repository.pushFrom(await makeHistory({ commits: 2, files: 1 }), { "refs/heads/main": "main" });
  const { sql, tables } = repository;
  const written = (f: () => void): number => {
    const count = () => sql.exec<{ count: number }>("SELECT total_changes() AS count").one().count;
    const before = count();
    f();
    return count() - before;
  };
  const push = (nowMs: number, ...names: string[]) =>
    written(() =>
      scheduleMirrors(
        tables,
        names.map((name) => ({ name, old: new Uint8Array(20), new: new Uint8Array(20) })),
        nowMs,
      ),
    );
  expect(push(1_000, "refs/heads/main")).toBe(0);
  expect(sql.exec("SELECT name FROM sqlite_master WHERE name LIKE 'mirror%'").toArray()).toEqual([]);
  tables.mirrors.put(RECORD, null);
  tables.mirrors.put({ ...RECORD, id: "two", prefixes: ["refs/heads/side"], dueMs: 9_000 }, null);
  expect(push(1_000, "refs/heads/other")).toBe(0);
  expect(push(2_000, "refs/heads/other", "refs/tags/v1", "refs/heads/main")).toBe(1);
  expect(push(3_000, "refs/tags/v2")).toBe(0);
  // One that fails waits as long as it did.
  expect(push(4_000, "refs/heads/side")).toBe(1);
  expect(["one", "two"].map((id) => tables.jobs.find("mirror", id)?.dueMs)).toEqual([2_000, 9_000]);
  expect(repository.reopen().mirrors.all()).toEqual(tables.mirrors.all());
});
