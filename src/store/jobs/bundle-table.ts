import type { Sql } from "../sql/sql.ts";

/** A bundle, stored in R2. */
export interface StoredBundle {
  /** Creation token: higher than that of every bundle before it. */
  readonly token: number;
  /** The R2 object. */
  readonly key: string;
  readonly sizeBytes: number;
  /** SHA-1 of its bytes. */
  readonly checksum: Uint8Array;
  /** `PushLog.totalBytes` when its refs were read; later pushes are not in it. */
  readonly totalBytes: number;
}

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
