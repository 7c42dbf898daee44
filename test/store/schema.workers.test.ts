import { expect, test } from "vitest";
import { createRepository, readRepository, type RepositoryRecord } from "../../src/store/schema.ts";
import { withEmptyDatabase } from "./database.ts";

const record: RepositoryRecord = { key: "0123", createdMs: 1_700_000_000_000, fsck: "strict", deleted: false };

test("a repository exists from its creation on, once", () =>
  withEmptyDatabase((sql) => {
    expect(readRepository(sql)).toBeNull();
    createRepository(sql, record);
    expect(readRepository(sql)).toEqual(record);
    expect(() => createRepository(sql, record)).toThrow();
  }));

test("a creation that fails leaves no tables", () =>
  withEmptyDatabase((sql, transactor) => {
    const create = () => {
      createRepository(sql, record);
      throw new Error("take it back");
    };
    expect(() => transactor.transactionSync(create)).toThrow("take it back");
    expect(readRepository(sql)).toBeNull();
    transactor.transactionSync(() => createRepository(sql, record));
    expect(readRepository(sql)).toEqual(record);
  }));
