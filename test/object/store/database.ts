import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { createRepository } from "../../../src/object/store/sql/schema.ts";
import type { Sql, Transactor } from "../../../src/object/store/sql/sql.ts";

/** Runs a test in a new repository object, with the tables made. */
export function withDatabase<T>(run: (sql: Sql, transactor: Transactor) => T | Promise<T>): Promise<T> {
  return withEmptyDatabase((sql, transactor) => {
    createRepository(sql, { key: "key", createdMs: 1, fsck: "default" });
    return run(sql, transactor);
  });
}

/** Runs a test in a new repository object whose database is empty. */
export function withEmptyDatabase<T>(run: (sql: Sql, transactor: Transactor) => T | Promise<T>): Promise<T> {
  const repository = env.REPOSITORY.getByName(`test/${crypto.randomUUID()}`);
  return runInDurableObject(repository, async (_, { storage }) => run(storage.sql, storage));
}
