import { expect, test } from "vitest";
import { CountedSql } from "../../../../src/object/store/sql/sql.ts";
import { withEmptyDatabase } from "../database.ts";

test("statements and rows are counted, however a cursor is read", () =>
  withEmptyDatabase((inner) => {
    const counters = { statements: 0, rowsRead: 0, rowsWritten: 0 };
    const sql = new CountedSql(inner, counters);
    sql.exec("CREATE TABLE t (n INTEGER PRIMARY KEY)");
    Object.assign(counters, { statements: 0, rowsRead: 0, rowsWritten: 0 });
    sql.exec("INSERT INTO t VALUES (1), (2), (3)");
    expect(counters).toMatchObject({ statements: 1, rowsWritten: 3 });
    counters.rowsRead = 0;
    const query = "SELECT n FROM t";
    expect(sql.exec(query).toArray()).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    expect([...sql.exec(query).raw()]).toEqual([[1], [2], [3]]);
    expect([...sql.exec(query)]).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    expect(sql.exec("SELECT n FROM t WHERE n = ?", 2).one()).toEqual({ n: 2 });
    expect(() => sql.exec(query).one()).toThrow();
    expect(counters).toMatchObject({ statements: 6, rowsWritten: 3 });
    // Three full reads, one row by its key, and two rows before `one` gives up.
    expect(counters.rowsRead).toBe(12);
    expect(sql.databaseSize).toBe(inner.databaseSize);
  }));
