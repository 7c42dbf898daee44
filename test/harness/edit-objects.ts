import type { ObjectColumns } from "../../src/object/store/index/object-columns.ts";
import { encodeObjectPage, ObjectPage } from "../../src/object/store/index/object-page.ts";
import type { Sql } from "../../src/object/store/sql/sql.ts";

/** Changes the stored rows of objects, as damage would: nothing else of the index follows.
 * @param change returns the new rows of a page, or null: it stays */
export function editObjects(sql: Sql, change: (rows: ObjectColumns) => ObjectColumns | null): void {
  for (const [table, key] of [
    ["object_chunks", "first"],
    ["hot_chunks", "id"],
  ] as const) {
    const pages = sql.exec<{ key: number; objects: ArrayBuffer }>(
      `SELECT ${key} AS key, objects FROM ${table} WHERE objects IS NOT NULL`,
    );
    for (const { key: id, objects } of pages.toArray()) {
      const rows = change(new ObjectPage(new Uint8Array(objects)).all());
      if (rows !== null) sql.exec(`UPDATE ${table} SET objects = ? WHERE ${key} = ?`, encodeObjectPage(rows), id);
    }
  }
}
