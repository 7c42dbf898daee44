// Many refs at once cost a few statements of the database, not one each.
import { expect, test } from "vitest";
import type { SqlBinding, SqlCursor, SqlValue } from "../../src/object/store/sql/sql.ts";
import { makeCommit, makeTree, packOf } from "../harness/pack-builder.ts";
import { CLONE_REQUEST } from "./clone-request.ts";
import { PushedRepository } from "./pushing.ts";
import { NodeSql } from "./sqlite.ts";

const COUNT = 3_000;

class CountingSql extends NodeSql {
  statements = 0;

  override exec<T extends Record<string, SqlValue>>(query: string, ...bindings: SqlBinding[]): SqlCursor<T> {
    this.statements += 1;
    return super.exec<T>(query, ...bindings);
  }
}

const tree = makeTree();
const commit = makeCommit(tree);

async function begin(sql: CountingSql): Promise<PushedRepository> {
  const repository = new PushedRepository({ sql });
  await repository.push([["refs/heads/main", null, commit.oid]], packOf(tree, commit));
  return repository;
}

test("thousands of refs, each in a directory of its own, are pushed and wanted by name", async () => {
  const sql = new CountingSql();
  const repository = await begin(sql);
  const names = Array.from({ length: COUNT }, (_, i) => `refs/pull/${i}/head`);
  const before = sql.statements;
  const { refs } = await repository.push(
    names.map((name) => [name, null, commit.oid]),
    packOf(),
  );
  expect(refs.filter(({ error }) => error !== null)).toEqual([]);
  expect(sql.statements - before).toBeLessThan(100);

  const want = (wantRefs: string[]) =>
    repository.repository.fetch({ ...CLONE_REQUEST, wants: new Uint8Array(0), wantRefs });
  const since = sql.statements;
  const answer = await want([...names.toReversed(), "HEAD", "refs/heads/main"]);
  expect(sql.statements - since).toBeLessThan(100);
  if (answer.kind !== "negotiated") throw new Error(answer.kind);
  expect(answer.wantedRefs.map(({ name }) => name)).toEqual([...names.toReversed(), "HEAD", "refs/heads/main"]);
  expect(new Set(answer.wantedRefs.map(({ oid }) => Buffer.from(oid).toString("hex")))).toEqual(new Set([commit.oid]));
  const unknown = `refs/pull/${COUNT}/head`;
  expect(await want([...names, unknown])).toEqual({ kind: "refused", message: `unknown ref ${unknown}` });
});

test("of thousands of refs those are refused whose directories are refs", async () => {
  const repository = await begin(new CountingSql());
  const taken = ["refs/pull/7", "refs/pull/8/9"];
  await repository.push(
    taken.map((name) => [name, null, commit.oid]),
    packOf(),
  );
  const { refs } = await repository.push(
    Array.from({ length: COUNT }, (_, i) => [`refs/pull/${i}/9/head`, null, commit.oid] as const),
    packOf(),
  );
  const refused = refs.filter(({ error }) => error !== null);
  expect(refused.map(({ name }) => name)).toEqual(["refs/pull/7/9/head", "refs/pull/8/9/head"]);
});

test("refs with hundreds of levels each are refused before their directories are in memory", async () => {
  const repository = await begin(new CountingSql());
  const push = (count: number) =>
    repository.push(
      Array.from({ length: count }, (_, i) => [`refs/heads/${i}${"/a".repeat(490)}`, null, commit.oid] as const),
      packOf(),
    );
  const { unpack, refs } = await push(1_000);
  expect(unpack).toMatch(/^the directories of the refs in one push .* exceeds the limit of 67108864 .*fewer levels$/);
  expect(refs.filter(({ error }) => error === null)).toEqual([]);
  expect(repository.tables.refs.all().names).toEqual(["refs/heads/main"]);
  expect((await push(50)).unpack).toBe("ok");
  expect(repository.tables.refs.all().names).toHaveLength(51);
});
