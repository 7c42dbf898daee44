import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Counts, dollarsOf, newQuantities } from "../../scripts/bench/operations/costs.ts";
import { fillTables } from "../../scripts/bench/operations/markdown.ts";
import { fillPages } from "../../scripts/bench/operations/pages.ts";
import { PRICES } from "../../scripts/bench/operations/prices.ts";
import { PROJECT } from "../harness/build.ts";

test("the tables of docs/cost.md and docs/scaling.md are what the counts and prices say", () => {
  const pages = fillPages();
  expect(pages.map(({ path }) => path)).toEqual(["docs/cost.md", "docs/scaling.md"]);
  for (const { found, filled } of pages) {
    expect(found).toBe(filled);
    expect(found).not.toContain("NaN");
    expect(found.match(/<!-- table: /g)!.length).toBeGreaterThan(3);
  }
});

test("a table that nobody makes is an error", () => {
  const page = "before\n<!-- table: one -->\nold\n<!-- end -->\nbehind\n";
  expect(fillTables(page, { one: "| new |\n" })).toBe(
    "before\n<!-- table: one -->\n\n| new |\n\n<!-- end -->\nbehind\n",
  );
  expect(() => fillTables(page, { two: "" })).toThrow("there is no table one");
});

test("a bill is what was counted once, with what it causes later, by list prices", () => {
  const work = { repository: "r", files: 1, scenario: "s", times: 4 };
  const sample = (part: string, measure: string, value: number) => {
    return { work: { ...work, part }, side: "holdfast", measure, round: 1, value };
  };
  const measures = ["Worker requests", "repository requests", "registry requests", "alarms", "alarms set"];
  const rows = ["repository rows read", "registry rows read", "repository rows written", "registry rows written"];
  const others = ["repository active ms", "registry active ms", "R2 class A operations", "R2 class B operations"];
  const all = [...measures, ...rows, ...others, "CPU ms"];
  const samples = all.flatMap((measure) => [sample("work", measure, 8), sample("after", measure, 4)]);
  const bill = new Counts(samples).bill({ repository: "r", files: 1 }, "s");
  expect(bill).toEqual({
    workerRequests: 3,
    cpuMs: 2,
    objectRequests: 9,
    objectGbSeconds: 0.006 * 0.128,
    rowsRead: 6,
    rowsWritten: 9,
    databaseGbMonths: 0,
    classA: 3,
    classB: 3,
    bucketGbMonths: 0,
  });
  expect(dollarsOf({ ...newQuantities(), classA: 1_000_000, databaseGbMonths: 2 })).toBeCloseTo(4.9);
});

test("docs/cost.md tells every price", () => {
  const page = readFileSync(join(PROJECT, "docs/cost.md"), "utf8");
  for (const { page: source } of Object.values(PRICES)) expect(page).toContain(source);
});
