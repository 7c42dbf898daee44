import { expect, test } from "vitest";
import { IdRuns } from "../../../src/object/store/index/id-runs.ts";
import { createRepository } from "../../../src/object/store/sql/schema.ts";
import { upgradeRepository } from "../../../src/object/store/upgrade.ts";
import { NodeSql } from "../sqlite.ts";

test("ids are found that merges of schema 14 had hidden", () => {
  const sql = new NodeSql();
  createRepository(sql, { key: "key", createdMs: 1, fsck: "default" });
  const pages: [run: number, first: number, prefixes: number[]][] = [
    [1, 5, [5, 9]],
    [1, 0x70000000, [0x70000000, 0xf0000000]],
    // The first page got lower prefixes, and was divided where it was.
    [2, 0x80000000, [1, 2]],
    [2, 0x40000000, [0x40000000, 0xa0000000]],
    [2, 0xc0000000, [0xc0000000]],
    // Staged by one that died.
    [3, 7, [7]],
  ];
  for (const [run, first, prefixes] of pages) {
    const entries = new Uint8Array(Uint32Array.from([...prefixes, ...prefixes]).buffer);
    sql.exec("INSERT INTO object_ids (run, first, entries) VALUES (?, ?, ?)", run, first, entries);
  }
  sql.exec("INSERT INTO staged (id, first, run) VALUES (1, 100, 3)");
  sql.exec("UPDATE repository SET schema = 14");
  const prefixes = [1, 2, 5, 9, 0x40000000, 0x70000000, 0xa0000000, 0xc0000000, 0xf0000000];
  const find = (): number[] => {
    const staged = sql.exec<{ first: number; run: number }>("SELECT first, run FROM staged").one();
    const found: number[] = [];
    new IdRuns(sql, { get: () => staged }).find(Uint32Array.from(prefixes), (_, number) => found.push(number));
    return found.sort((a, b) => a - b);
  };
  expect(find()).not.toEqual(prefixes);
  upgradeRepository(sql);
  expect(find()).toEqual(prefixes);
  // A run whose pages are in order stays as it is.
  const runs = "SELECT run, count(*) AS pages FROM object_ids GROUP BY run";
  expect(sql.exec(runs).toArray()).toMatchObject([
    { run: 1, pages: 2 },
    { run: 3, pages: 1 },
    { run: 4, pages: 1 },
    { run: 5, pages: 1 },
  ]);
  expect(sql.exec("SELECT kind FROM jobs").toArray()).toMatchObject([{ kind: "repack" }]);
});
