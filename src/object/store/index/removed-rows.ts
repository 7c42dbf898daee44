import type { NumberSet } from "../../../base/numbers/number-set.ts";
import { inRange, packRanges, WITH_ROWS } from "../sql/packed-rows.ts";
import { tableExists } from "../sql/schema.ts";
import type { Sql } from "../sql/sql.ts";

/** Columns with an object's number. Their rows are useless without the object. */
const OF_OBJECTS = [
  ["trees", "tree"],
  ["vetted_blobs", "object"],
  ["reintroductions", "object"],
] as const;

/** Removes the rows about objects and nodes from other tables; must run in a transaction. */
export function removeRows(sql: Sql, objects: NumberSet, nodes: NumberSet): void {
  for (const [table, column] of OF_OBJECTS) removeFrom(sql, table, column, objects);
  removeFrom(sql, "reintroductions", "node", nodes);
  removePointers(sql, objects);
}

/** Removes the rows about objects as pointer files; must run in a transaction. */
export function removePointers(sql: Sql, objects: NumberSet): void {
  if (tableExists(sql, "lfs_pointers")) removeFrom(sql, "lfs_pointers", "object", objects);
}

function removeFrom(sql: Sql, table: string, column: string, numbers: NumberSet): void {
  const named = `SELECT ${column} FROM row CROSS JOIN ${table} ON ${inRange(column)}`;
  for (const ranges of packRanges(numbers.runs)) {
    sql.exec(`${WITH_ROWS} DELETE FROM ${table} WHERE ${column} IN (${named})`, ranges.cells, ranges.rows).toArray();
  }
}
