import { expect, test } from "vitest";
import { formatSamples, parseSamples, type Sample, toSamples } from "../../../scripts/bench/figures/sample.ts";
import { agree, quantile, summarize, toPercentiles, toRows } from "../../../scripts/bench/figures/summary.ts";
import { formatAgreement, formatTable } from "../../../scripts/bench/figures/table.ts";

const PUSH = { work: 'push, of a "history"', files: 100 };

function turns(side: string, ...values: readonly number[]): Sample[] {
  return values.map((value, index) => ({ work: PUSH, side, measure: "wall s", round: index + 1, value }));
}

test("samples come back from their file as they went in", () => {
  const clone = toSamples({ work: "clone\nof all", commits: 7 }, "holdfast", 2, { ms: 0.123_456, "body MB": 12 });
  const samples = [...turns("native", 1.5, 2), ...clone];
  const text = formatSamples(samples);
  expect(text.split("\n")[0]).toBe("work,files,commits,side,measure,round,value");
  expect(parseSamples(text)).toEqual(samples);
});

test("a value that could not be measured gives no sample", () => {
  expect(toSamples(PUSH, "holdfast", 1, { "server CPU s": Number.NaN, "wall s": 1 })).toHaveLength(1);
});

test("another file is told from one of samples", () => {
  expect(() => parseSamples("a,b\n1,2\n")).toThrow("no file of samples: it begins a,b");
  expect(() => parseSamples("side,measure,round,value\nnative,ms,1\n")).toThrow("line 2 has 3 columns, not 4");
});

test("a quantile between two values is between them", () => {
  expect(quantile([4, 1, 3, 2], 0.5)).toBe(2.5);
  expect(quantile([10, 20], 0.9)).toBe(19);
  expect(quantile([5], 0.99)).toBe(5);
  expect(quantile([], 0.5)).toBeNaN();
});

test("rows keep sides apart, and a table puts the ratio beside them", () => {
  const samples = [...turns("holdfast", 3, 1, 2), ...turns("native", 4, 4, 8)];
  expect(toRows(samples)[0]!.sides.get("holdfast")).toEqual({ count: 3, median: 2, min: 1, max: 3 });
  const [head, row] = formatTable(samples).split("\n");
  expect(head).toMatch(/^work +files +measure +native +holdfast +ratio$/);
  expect(row).toMatch(/100 +wall s +4\.00 \(4\.00–8\.00\) +2\.00 \(1\.00–3\.00\) +0\.250 \(0\.250–0\.750\)$/);
});

test("a loop is cut into parts, each with its own percentiles", () => {
  const parts = toPercentiles(turns("holdfast", 1, 2, 3, 100, 200, 300), 2);
  const values = parts.filter(({ measure }) => measure === "p50 wall s").map(({ round, value }) => [round, value]);
  expect(values).toEqual([
    [1, 2],
    [2, 200],
  ]);
});

test("runs agree when each median lies within what the other showed, and their ratios do", () => {
  expect(agree(summarize([1, 2, 3]), summarize([2, 3, 4]))).toBe(true);
  expect(agree(summarize([1, 2, 9]), summarize([4, 5, 6]))).toBe(false);
  expect(agree(summarize([1, 2, 3]), summarize([3, 4, 5]))).toBe(false);
  const slowly = [...turns("native", 10, 11), ...turns("holdfast", 20, 21)];
  const text = formatAgreement([...turns("native", 1, 1.2), ...turns("holdfast", 2, 2.3)], slowly);
  expect(text).toContain("differs: push");
  expect(text).toContain("0 of 2 values and 1 of 1 ratios to native agree with the earlier run");
});
