import { expect, test } from "vitest";
import { VettedBlobs } from "../../../../src/object/store/index/vetted-blobs.ts";
import { withDatabase } from "../database.ts";

test("a blob gathers the names it was checked as", () =>
  withDatabase((sql) => {
    const vetted = new VettedBlobs(sql);
    expect(vetted.names(7)).toBe(0);
    vetted.add(7, 16);
    vetted.add(7, 32);
    vetted.add(8, 16);
    expect([vetted.names(7), vetted.names(8), vetted.names(9)]).toEqual([48, 16, 0]);
  }));
