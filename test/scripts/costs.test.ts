import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readSamples } from "../../scripts/bench/figures/sample.ts";
import { billedDollars, dollarsOf, newQuantities, PRICES } from "../../scripts/bench/operations/prices.ts";
import { Counts, formatOperations } from "../../scripts/bench/operations/tables.ts";
import { PROJECT } from "../harness/build.ts";

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
  expect(billedDollars({ ...newQuantities(), classA: 3_000_000, databaseGbMonths: 2 })).toBeCloseTo(5 + 9);
  expect(formatOperations(samples)).toMatch(/^r, 1 files, once .*\$ per 1,000\ns +3 .* 2 +0\.0259\n/);
});

test("docs/cost.md tells every price", () => {
  const page = readFileSync(join(PROJECT, "docs/cost.md"), "utf8").replace(/ +/g, " ");
  for (const { what, dollars, per, included, page: source } of Object.values(PRICES)) {
    const told = per === 1 ? `$${dollars}` : `$${dollars} per ${per.toLocaleString("en-US")}`;
    expect(page).toContain(`| [${what}](${source}) | ${told} | ${included.toLocaleString("en-US")} |`);
  }
});

test("what docs/cost.md tells in dollars is what the counts and prices say", () => {
  const page = readFileSync(join(PROJECT, "docs/cost.md"), "utf8").replace(/ +/g, " ");
  const text = formatOperations(readSamples(join(PROJECT, "docs/cost.csv")));
  const tables = text.split("\n\n").map((table) => table.split("\n").map((line) => line.trim().split(/ {2,}/)));
  const [month] = tables.filter(([head]) => head![0] === "a month");
  for (const item of Object.values(PRICES)) {
    const cells = month!.find(([what]) => what === item.what)!;
    expect(page).toContain(`| ${cells.join(" | ")} |`);
  }
  const totals = month!.filter(([what]) => /^(at list prices|billed)/.test(what!)).map((cells) => cells.slice(1));
  expect(totals.flat()).toHaveLength(6);
  for (const dollars of totals.flat()) expect(page).toContain(`**${dollars}**`);
  const sizes = ["noise, 100 files", "noise, 1000 files", "noise, 5000 files", "history, 300 files"];
  const bySize = sizes.map((size) => tables.find(([head]) => head![0] === `${size}, once`)!.slice(1));
  const scenarios = bySize[0]!.map(([scenario]) => scenario).filter((scenario) => scenario !== "push, 1,000 tags");
  expect(scenarios.length).toBeGreaterThan(15);
  for (const scenario of scenarios) {
    const dollars = bySize.map((rows) => rows.find(([name]) => name === scenario)!.at(-1));
    expect(page).toContain(` | ${dollars.join(" | ")} |\n`);
  }
});
