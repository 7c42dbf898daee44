import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";

test("a repository object has a SQLite database with transactions", async () => {
  const repository = env.REPOSITORY.getByName("me/my-repo");
  const count = await runInDurableObject(repository, (_, { storage }) => {
    storage.sql.exec("CREATE TABLE probe (oid BLOB PRIMARY KEY)");
    storage.transactionSync(() => storage.sql.exec("INSERT INTO probe VALUES (?)", new Uint8Array(20)));
    expect(() =>
      storage.transactionSync(() => {
        storage.sql.exec("DELETE FROM probe");
        throw new Error("rolled back");
      }),
    ).toThrow("rolled back");
    return storage.sql.exec("SELECT count(*) AS count FROM probe").one()["count"];
  });
  expect(count).toBe(1);
});

test("the bucket gives back ranges of what was put", async () => {
  await env.BUCKET.put("probe", new Uint8Array([1, 2, 3, 4]));
  const object = await env.BUCKET.get("probe", { range: { offset: 1, length: 2 } });
  expect(await object?.bytes()).toEqual(new Uint8Array([2, 3]));
});
