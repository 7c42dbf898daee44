import { expect, test } from "vitest";
import { BundleTable } from "../../../../src/object/store/jobs/response-table.ts";
import type { StoredBundle } from "../../../../src/contract/fetch.ts";
import { withDatabase } from "../database.ts";

test("a bundle takes the place of the one before", () =>
  withDatabase((sql) => {
    const bundles = new BundleTable(sql);
    expect(bundles.current()).toBeNull();
    const first: StoredBundle = {
      token: 1_700_000_000_000,
      key: "key/bundles/0",
      sizeBytes: 2 ** 33,
      checksum: new Uint8Array(20).fill(7),
      totalBytes: 2 ** 34,
    };
    bundles.replace(first);
    expect(bundles.current()).toEqual(first);
    const second = { ...first, token: first.token + 1, key: "key/bundles/1" };
    bundles.replace(second);
    expect(bundles.current()).toEqual(second);
    expect(sql.exec("SELECT * FROM bundles").toArray().length).toBe(1);
    bundles.replace(null);
    expect(bundles.current()).toBeNull();
  }));
