import type { Sql } from "../sql/sql.ts";

/** A bundle that lies in R2 whole. */
export interface StoredBundle {
  /** Creation token: higher than that of every bundle before it. */
  readonly token: number;
  /** The R2 object. */
  readonly key: string;
  readonly sizeBytes: number;
  /** SHA-1 of its bytes. */
  readonly checksum: Uint8Array;
  /** `PushLog.totalBytes` when its refs were read: what came later is not in it. */
  readonly totalBytes: number;
}

/** The bundle that clients are told of: table `bundles`, which has one row at the most. */
export class BundleTable {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** The newest bundle, null when there is none. */
  current(): StoredBundle | null {
    const [row] = this.#sql
      .exec<{ token: number; key: string; sizeBytes: number; checksum: ArrayBuffer; totalBytes: number }>(
        "SELECT token, key, size AS sizeBytes, checksum, total_bytes AS totalBytes FROM bundles",
      )
      .toArray();
    return row === undefined ? null : { ...row, checksum: new Uint8Array(row.checksum) };
  }

  /** Puts a bundle, or none, in the place of the one there was; belongs in a transaction. */
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
