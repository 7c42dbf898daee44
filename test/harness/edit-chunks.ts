import { ChunkPage, encodeChunkPage } from "../../src/object/store/index/chunk-page.ts";
import type { SealedRow } from "../../src/object/store/index/chunk-row.ts";
import type { Sql } from "../../src/object/store/sql/sql.ts";

/** Changes the stored rows of chunks in R2, as damage would.
 * @param change returns the new row, or null: it is removed */
export function editChunks(sql: Sql, change: (row: SealedRow) => SealedRow | null): void {
  const pages = sql.exec<{ first: number; chunks: ArrayBuffer }>("SELECT first, chunks FROM sealed_chunks").toArray();
  for (const { first, chunks } of pages) {
    const rows = [...new ChunkPage(first, new Uint8Array(chunks)).rows().values()].map(change);
    const left = rows.filter((row) => row !== null);
    if (left.length === 0) sql.exec("DELETE FROM sealed_chunks WHERE first = ?", first);
    else sql.exec("UPDATE sealed_chunks SET chunks = ? WHERE first = ?", encodeChunkPage(left), first);
  }
}
