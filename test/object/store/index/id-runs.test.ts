import { expect, test } from "vitest";
import { OID_BYTES } from "../../../../src/base/format/oid.ts";
import { IdRuns, mergeEntries, prefixesOf, toEntries } from "../../../../src/object/store/index/id-runs.ts";
import { sortIndices } from "../../../../src/base/numbers/number-set.ts";
import { createRepository } from "../../../../src/object/store/sql/schema.ts";
import { Random } from "../../../harness/random.ts";
import { NodeSql } from "../../sqlite.ts";

/** As if nothing were. */
const NONE_STAGED = { get: () => null };

function open(): { sql: NodeSql; runs: IdRuns } {
  const sql = new NodeSql();
  createRepository(sql, { key: "key", createdMs: 1, fsck: "default" });
  return { sql, runs: new IdRuns(sql, NONE_STAGED) };
}

/** The numbers found for each of some ids. */
function find(runs: IdRuns, oids: Uint8Array): number[][] {
  const prefixes = prefixesOf(oids);
  const order = sortIndices(prefixes);
  const found: number[][] = Array.from(prefixes, () => []);
  runs.find(
    order.map((i) => prefixes[i]!),
    (i, number) => found[order[i]!]!.push(number),
  );
  return found;
}

const runCount = (sql: NodeSql): number =>
  sql.exec<{ count: number }>("SELECT count(DISTINCT run) AS count FROM object_ids").one().count;

test("ids are found in many runs, in those that are merged, and by another that opens them", { tags: "sweep" }, () => {
  const { sql, runs } = open();
  const random = new Random(1);
  const oids = random.bytes(300_000 * OID_BYTES);
  const numbers = Uint32Array.from({ length: 300_000 }, (_, i) => i + 1);
  let at = 0;
  for (const count of [150_000, 256, 60_000, 6_000, 70_000, 13_744]) {
    runs.add(toEntries(oids.subarray(at * OID_BYTES, (at + count) * OID_BYTES), numbers.subarray(at, at + count)));
    at += count;
  }
  const isFound = (index: IdRuns): boolean => find(index, oids).every((found, i) => found.includes(i + 1));
  expect(isFound(runs)).toBe(true);
  expect(runCount(sql)).toBeGreaterThan(2);
  expect(runs.isMergeDue()).toBe(true);
  // Each step leaves everything where it is found.
  for (let steps = 0; runs.isMergeDue(); steps++) {
    expect(steps).toBeLessThan(20);
    runs.merge(() => false);
    expect(isFound(new IdRuns(sql, NONE_STAGED))).toBe(true);
  }
  expect(isFound(runs)).toBe(true);
  expect(runCount(sql)).toBeLessThanOrEqual(3);
  const pages = sql.exec<{ count: number }>("SELECT length(entries) / 8 AS count FROM object_ids").toArray();
  expect(pages.every(({ count }) => count <= 65_536)).toBe(true);
  expect(find(runs, random.bytes(1_000 * OID_BYTES)).filter((found) => found.length > 0).length).toBeLessThan(3);
});

test("ids are found while a run is merged that came when the one before it was half merged", () => {
  const { sql, runs } = open();
  const random = new Random(5);
  let known = new Uint8Array();
  const merge = (): void => {
    runs.merge(() => false);
    // Of each fiftieth, by one that opens them.
    const index = new IdRuns(sql, NONE_STAGED);
    const numbers = Array.from({ length: known.length / OID_BYTES / 50 }, (_, i) => i * 50 + 1);
    const sample = new Uint8Array(numbers.length * OID_BYTES);
    numbers.forEach((number, i) =>
      sample.set(known.subarray((number - 1) * OID_BYTES, number * OID_BYTES), i * OID_BYTES),
    );
    expect(find(index, sample).filter((found, i) => !found.includes(numbers[i]!)).length).toBe(0);
  };
  for (const count of [400_000, 300_000, 200_000]) {
    const before = known.length / OID_BYTES;
    const oids = random.bytes(count * OID_BYTES);
    runs.add(
      toEntries(
        oids,
        Uint32Array.from({ length: count }, (_, i) => before + i + 1),
      ),
    );
    known = Uint8Array.from(Buffer.concat([known, oids]));
    // The second run has lost its lower half when the third comes.
    for (let steps = 0; steps < 3; steps++) merge();
  }
  while (runs.isMergeDue()) merge();
});

test("few new ids cost one page", () => {
  const { sql, runs } = open();
  const random = new Random(2);
  for (let i = 0; i < 50; i++) runs.add(toEntries(random.bytes(100 * OID_BYTES), new Uint32Array(100).fill(i + 1)));
  expect(sql.exec<{ count: number }>("SELECT count(*) AS count FROM object_ids").one().count).toBe(1);
});

test("a merge leaves out what was removed", () => {
  const { runs } = open();
  const random = new Random(3);
  const oids = random.bytes(110_000 * OID_BYTES);
  const numbers = Uint32Array.from({ length: 110_000 }, (_, i) => i + 1);
  runs.add(toEntries(oids.subarray(0, 70_000 * OID_BYTES), numbers.subarray(0, 70_000)));
  runs.add(toEntries(oids.subarray(70_000 * OID_BYTES), numbers.subarray(70_000)));
  while (runs.isMergeDue()) runs.merge((number) => number > 109_000);
  const found = find(runs, oids);
  expect(found.slice(0, 109_000).every((numbers, i) => numbers.includes(i + 1))).toBe(true);
  expect(found.slice(109_000).every((numbers, i) => !numbers.includes(109_001 + i))).toBe(true);
});

test("ids whose first bytes are equal stay together, and all are found", { tags: "sweep" }, () => {
  const { runs } = open();
  const oids = new Random(4).bytes(200_000 * OID_BYTES);
  // Some 780 ids share each prefix.
  for (let i = 0; i < 200_000; i++) oids.set([i % 256, 0, 0, 0], i * OID_BYTES);
  runs.add(
    toEntries(
      oids,
      Uint32Array.from({ length: 200_000 }, (_, i) => i + 1),
    ),
  );
  const [found] = find(runs, oids.subarray(0, OID_BYTES));
  expect(found!.toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: 200_000 }, (_, i) => i + 1).filter((number) => (number - 1) % 256 === 0),
  );
  expect([...runs.inRange(0x05000000, 0x05ffffff)].every((number) => (number - 1) % 256 === 5)).toBe(true);
});

test("entries of two lists are there once", () => {
  const list = (...pairs: [number, number][]) => ({
    prefixes: Uint32Array.from(pairs, ([prefix]) => prefix),
    numbers: Uint32Array.from(pairs, ([, number]) => number),
  });
  expect(mergeEntries(list([1, 5], [2, 1]), list([1, 4], [2, 1], [2, 9]))).toEqual(
    list([1, 4], [1, 5], [2, 1], [2, 9]),
  );
});
