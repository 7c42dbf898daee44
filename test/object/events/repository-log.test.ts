/** What a push of many refs costs that is told in many messages. */
import { expect, test } from "vitest";
import type { SqlBinding, SqlCursor, SqlValue } from "../../../src/object/store/sql/sql.ts";
import { makeCommit, makeTree, packOf } from "../../harness/pack-builder.ts";
import { type HexCommand, PushedRepository } from "../pushing.ts";
import { NodeSql } from "../sqlite.ts";

/** Refs of the push, and of a message: their names are so long that not all of a part fit one. */
const REFS = 500;
const MESSAGE_REFS = 10;

/** A database that counts the statements that parse the refs of a push. */
class CountingSql extends NodeSql {
  reads = 0;

  override exec<T extends Record<string, SqlValue>>(query: string, ...bindings: SqlBinding[]): SqlCursor<T> {
    if (/json_each\(pushes\.refs\)/.test(query)) this.reads += 1;
    return super.exec<T>(query, ...bindings);
  }
}

test("the refs of a push are read once for each hundred, and others run between its messages", async () => {
  const told: string[][] = [];
  let turns = 0;
  const turnsAt: number[] = [];
  const sql = new CountingSql();
  const sendToQueue = async (body: string): Promise<void> => {
    const { type, data } = JSON.parse(body) as { type: string; data: { refs: { name: string }[] } };
    if (type !== "push") return;
    told.push(data.refs.map(({ name }) => name));
    turnsAt.push(turns);
  };
  const repository = new PushedRepository({ sql, outside: { sendToQueue } });
  const commit = makeCommit(makeTree());
  const commands = Array.from({ length: REFS }, (_, i): HexCommand => {
    const name = `refs/tags/${String(i).padStart(3, "0")}${`/${"n".repeat(200)}`.repeat(4)}`;
    return [name, null, commit.oid];
  });
  const pushed = await repository.push(commands, packOf(makeTree(), commit));
  expect(pushed.refs.filter(({ error }) => error !== null)).toEqual([]);
  sql.reads = 0;
  const count = (): void => {
    turns += 1;
    if (told.length < REFS / MESSAGE_REFS) setImmediate(count);
  };
  count();
  await expect.poll(() => told.length).toBe(REFS / MESSAGE_REFS);
  expect(told.flat()).toEqual(commands.map(([name]) => name));
  expect(told.every(({ length }) => length === MESSAGE_REFS)).toBe(true);
  // Before the push the log begins, and behind it nothing more is found.
  expect(sql.reads).toBeLessThanOrEqual(REFS / 100 + 2);
  expect(new Set(turnsAt).size).toBe(told.length);
});
