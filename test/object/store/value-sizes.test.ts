// The platform accepts and returns no value above 2 MB. The local runtime has no such limit, so
// these tests check it.
import { expect, test } from "vitest";
import { MAX_REF_NAME_BYTES } from "../../../src/base/format/limits.ts";
import { OID_BYTES } from "../../../src/base/format/oid.ts";
import { RefStore } from "../../../src/object/store/refs/refs.ts";
import { createRepository } from "../../../src/object/store/sql/schema.ts";
import { BLOB_MAX_BYTES, CountedSql, newSqlCounters } from "../../../src/object/store/sql/sql.ts";
import { testSome } from "../../harness/sweep.ts";
import { NodeSql } from "../sqlite.ts";

const openSql = () => new CountedSql(new NodeSql(), newSqlCounters());

test("a value that fits no row is refused, and so is a statement that makes one", () => {
  const sql = openSql();
  const [fits, fitsNot] = ["\xe9".repeat(BLOB_MAX_BYTES / 2), "\xe9".repeat(BLOB_MAX_BYTES / 2 + 1)];
  expect(sql.exec<{ size: number }>("SELECT octet_length(?) AS size", fits).one().size).toBe(BLOB_MAX_BYTES);
  expect(() => sql.exec("SELECT octet_length(?)", fitsNot)).toThrow(/2000002 bytes/);
  expect(() => sql.exec("SELECT length(?)", new Uint8Array(BLOB_MAX_BYTES + 1))).toThrow(/2000001 bytes/);
  expect(() => sql.exec("SELECT ? || ? AS made", fits, "x")).toThrow(/2000001 bytes/);
});

testSome(1, ["x", "\xff"], "3,000 refs with the longest names are written and listed: of %j", (char) => {
  const sql = openSql();
  createRepository(sql, { key: "key", createdMs: 1, fsck: "default" });
  const refs = new RefStore(sql);
  const names = Array.from({ length: 3_000 }, (_, i) => `refs/heads/${i}`.padEnd(MAX_REF_NAME_BYTES, char)).sort();
  for (const value of [1, 2]) {
    const oid = new Uint8Array(OID_BYTES).fill(value);
    const changes = refs.change(names);
    for (const name of names) {
      const before = value === 1 ? null : new Uint8Array(OID_BYTES).fill(1);
      expect(changes.compareAndSwap(name, before, oid, null)).toEqual({ kind: "ok" });
    }
    changes.write();
  }
  expect(refs.all().names).toEqual(names);
  expect(refs.sizeBytes()).toBe(3_000 * (MAX_REF_NAME_BYTES + 2 * OID_BYTES));
});
