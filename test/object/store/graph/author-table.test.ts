import { expect, test } from "vitest";
import { type AuthoredCommit, AuthorTable, openAuthored } from "../../../../src/object/store/graph/author-table.ts";
import { CommitGraph } from "../../../../src/object/store/graph/commit-graph.ts";
import { openNodes } from "../../../../src/object/store/index/node-pages.ts";
import { NumberSet } from "../../../../src/base/numbers/number-set.ts";
import { createRepository } from "../../../../src/object/store/sql/schema.ts";
import type { Sql } from "../../../../src/object/store/sql/sql.ts";
import { NodeSql } from "../../sqlite.ts";

/** A linear history, whose commits have every third number. */
function open(commits: number): NodeSql {
  const sql = new NodeSql();
  createRepository(sql, { key: "key", createdMs: 1, fsck: "default" });
  openNodes(sql).write(
    Array.from({ length: commits }, (_, i) => {
      const parents = i === 0 ? [] : [3 * i];
      return { number: 3 * i + 3, parents, tree: 1, generation: i + 1, time: 1, introduced: new Uint8Array() };
    }),
  );
  return sql;
}

const openTable = (sql: NodeSql): AuthorTable => new AuthorTable(sql, CommitGraph.load(sql));

function makeCommit(number: number): AuthoredCommit {
  const author = { name: `name ${number % 7}`, email: "" };
  return { number, author, time: number % 5 === 0 ? 0 : 1_700_000_000 + number, zone: (number % 9) * 60 - 240 };
}

/** What the table says of a commit. */
function describe(table: AuthorTable, graph: CommitGraph, number: number): AuthoredCommit {
  const position = graph.position(number);
  const author = table.author(table.id(position));
  return { number, author, time: table.time(position), zone: table.zone(position) };
}

test("20,000 commits, entered by hundreds and some of them twice, come back from few rows", { tags: "sweep" }, () => {
  const sql = open(20_000);
  const table = openTable(sql);
  const numbers = [...table.missing()];
  expect(numbers).toHaveLength(20_000);
  // Two requests at the same time, of which neither sees what the other enters.
  const other = openTable(sql);
  other.missing();
  for (let from = 0; from < numbers.length; from += 400) {
    table.add(numbers.slice(from, from + 400).map(makeCommit));
    if (from % 1_600 === 0) other.add(numbers.slice(Math.max(0, from - 200), from + 200).map(makeCommit));
  }
  const graph = CommitGraph.load(sql);
  const read = openTable(sql);
  expect([read.missing().length, read.lastNumber()]).toEqual([0, 60_000]);
  for (const number of numbers.filter((_, i) => i % 97 === 0))
    expect(describe(read, graph, number)).toMatchObject(makeCommit(number));
  expect([...openAuthored(sql).all()]).toHaveLength(20_000);
  expect(sql.exec("SELECT first FROM authored").toArray().length).toBeLessThan(10);
});

test("commits that are removed are missing, and are entered again among the others", () => {
  const sql = open(10_000);
  const table = openTable(sql);
  table.add([...table.missing()].map(makeCommit));
  const removed = NumberSet.fromUnsorted([3, 9_000, 9_003, 30_000]);
  table.remove(removed);
  const reopened = openTable(sql);
  expect(NumberSet.fromSorted(reopened.missing())).toEqual(removed);
  expect(reopened.lastNumber()).toBe(29_997);
  reopened.add([...removed.toArray()].map(makeCommit));
  expect(openTable(sql).missing()).toHaveLength(0);
});

test("authors with the longest names fit into rows, however many are entered at once", { tags: "sweep" }, () => {
  const sql = open(5_000);
  let longest = 0;
  const watched: Sql = {
    databaseSize: 0,
    exec(query, ...bindings) {
      for (const value of bindings) if (value instanceof Uint8Array) longest = Math.max(longest, value.length);
      return sql.exec(query, ...bindings);
    },
  };
  const graph = CommitGraph.load(sql);
  const table = new AuthorTable(watched, graph);
  const commits = [...table.missing()].map((number): AuthoredCommit => {
    const author = { name: `${number} `.padEnd(255, "\u0001"), email: "\u0001".repeat(255) };
    return { number, author, time: 1, zone: 0 };
  });
  table.add(commits);
  expect(commits.map(({ number }) => describe(table, graph, number))).toEqual(commits);
  expect(longest).toBeGreaterThan(200_000);
  expect(longest).toBeLessThan(2_000_000);
  expect(sql.exec("SELECT first FROM authors").toArray().length).toBeLessThan(15);
  expect(openTable(sql).missing()).toHaveLength(0);
});

test("two tables that are open at once give authors different ids", () => {
  const sql = open(6);
  const [one, other] = [openTable(sql), openTable(sql)];
  const [first, second, ...rest] = [...one.missing()];
  other.missing();
  const by = (number: number, name: string): AuthoredCommit => ({
    number,
    author: { name, email: "" },
    time: 1,
    zone: 0,
  });
  one.add([by(first!, "Ada")]);
  other.add([by(second!, "Grace")]);
  one.add([by(rest[0]!, "Grace"), by(rest[1]!, "Alan")]);
  other.add([by(rest[2]!, "Alan"), by(rest[3]!, "Ada")]);
  const graph = CommitGraph.load(sql);
  const read = openTable(sql);
  read.missing();
  const names = [first!, second!, ...rest].map((number) => describe(read, graph, number).author.name);
  expect(names).toEqual(["Ada", "Grace", "Grace", "Alan", "Alan", "Ada"]);
  expect(read.end).toBe(4);
});
