import type { Sql } from "../sql/sql.ts";
import type { StoredBundle } from "../../../contract/fetch.ts";

/** The advertised bundle: table `bundles`, with at most one row. */
export class BundleTable {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** The newest bundle; null: none. */
  current(): StoredBundle | null {
    const [row] = this.#sql
      .exec<{ token: number; key: string; sizeBytes: number; checksum: ArrayBuffer; totalBytes: number }>(
        "SELECT token, key, size AS sizeBytes, checksum, total_bytes AS totalBytes FROM bundles",
      )
      .toArray();
    return row === undefined ? null : { ...row, checksum: new Uint8Array(row.checksum) };
  }

  /** Replaces the bundle, or removes it; must run in a transaction. */
  replace(bundle: StoredBundle | null): void {
    this.#sql.exec("DELETE FROM bundles");
    if (bundle === null) return;
    const { token, key, sizeBytes, checksum, totalBytes } = bundle;
    this.#sql.exec(
      "INSERT INTO bundles (token, key, size, checksum, total_bytes) VALUES (?, ?, ?, ?, ?)",
      token,
      key,
      sizeBytes,
      checksum,
      totalBytes,
    );
  }
}
