import { expect, test } from "vitest";
import { formatSamples, parseSamples, type Sample, toSamples } from "../../../scripts/bench/figures/sample.ts";
import {
  agree,
  formatAgreement,
  formatTable,
  quantile,
  summarize,
  toPercentiles,
  toRows,
} from "../../../scripts/bench/figures/table.ts";
import { Random } from "../../harness/random.ts";

const PUSH = { work: 'push, of a "history"', files: 100 };

function turns(side: string, ...values: readonly number[]): Sample[] {
  return values.map((value, index) => ({ work: PUSH, side, measure: "wall s", round: index + 1, value }));
}

test("samples come back from their file as they went in", () => {
  const clone = toSamples({ work: "clone\nof all", commits: 7 }, "holdfast", 2, { ms: 0.123_456, "body MB": 12 });
  const samples = [...turns("native", 1.5, 2), ...clone];
  const text = formatSamples(samples);
  expect(text.split("\n")[0]).toBe("work,files,commits,side,round,wall s,ms,body MB");
  expect(parseSamples(text)).toEqual(samples);
});

test("a file has a line for each run, with all that it showed, and more for many of one kind", () => {
  const push = { work: "push" };
  const client = (value: number): Sample[] => toSamples(push, "native", 1, { "client s": value });
  const samples = [...toSamples(push, "native", 1, { "wall s": 3, "CPU s": 2 }), ...client(1), ...client(4)];
  expect(formatSamples(samples)).toBe(
    "work,side,round,wall s,CPU s,client s\npush,native,1,3,2,1\npush,native,1,,,4\n",
  );
});

test("works are the same whatever the order of their columns", () => {
  const [one] = turns("native", 1);
  const turned = { ...one!, work: Object.fromEntries(Object.entries(PUSH).toReversed()), round: 2, value: 3 };
  const rows = toRows([one!, turned]);
  expect(rows).toHaveLength(1);
  expect(rows[0]!.sides.get("native")).toMatchObject({ count: 2, median: 2 });
});

test("a value that could not be measured gives no sample", () => {
  expect(toSamples(PUSH, "holdfast", 1, { "server CPU s": Number.NaN, "wall s": 1 })).toHaveLength(1);
});

test("another file is told from one of samples", () => {
  expect(() => parseSamples("a,b\n1,2\n")).toThrow("no file of samples: it begins a,b");
  expect(() => parseSamples("side,round,ms,s\nnative,1,2\n")).toThrow("line 2 has 3 columns, not 4");
});

test("a quantile between two values is between them", () => {
  expect(quantile([4, 1, 3, 2], 0.5)).toBe(2.5);
  expect(quantile([10, 20], 0.9)).toBe(19);
  expect(quantile([5], 0.99)).toBe(5);
  expect(quantile([], 0.5)).toBeNaN();
});

test("rows keep sides apart, and a table puts the ratio beside them", () => {
  const samples = [...turns("holdfast", 3, 1, 2), ...turns("native", 4, 4, 8)];
  expect(toRows(samples)[0]!.sides.get("holdfast")).toEqual({
    count: 3,
    median: 2,
    low: 0,
    high: expect.closeTo(6.4, 1) as number,
  });
  const [head, row] = formatTable(samples).split("\n");
  expect(head).toMatch(/^work +files +measure +native +holdfast +ratio$/);
  expect(row).toMatch(/100 +wall s +4\.00 \(0–14\.2\) +2\.00 \(0–6\.40\) +0\.250 \(0–1\.52\)$/);
});

test("each round of many samples has its own percentiles", () => {
  const samples = [1, 2, 3, 100, 200, 300].map((value, index) => ({
    ...turns("holdfast", value)[0]!,
    round: index < 3 ? 1 : 2,
  }));
  const all = toPercentiles(samples, ["wall s"]);
  expect(toPercentiles(samples, ["client s"])).toEqual(samples);
  const values = all.filter(({ measure }) => measure === "p50 wall s").map(({ round, value }) => [round, value]);
  expect(values).toEqual([
    [1, 2],
    [2, 200],
  ]);
});

test(
  "the spread is where other runs have their median, in 95 of 100 cases, whatever the number of rounds",
  { tags: "sweep" },
  () => {
    const random = new Random(6);
    // The sum of three dice of a hundred sides.
    const run = (rounds: number): Sample[] => {
      const roll = (): number => 1 + random.below(100);
      return turns("holdfast", ...Array.from({ length: rounds }, () => 1000 + roll() + roll() + roll()));
    };
    for (const rounds of [2, 3, 5, 10, 20]) {
      let [within, agreeing] = [0, 0];
      for (let pair = 0; pair < 2000; pair++) {
        const [one, other] = [summarize(run(rounds)), summarize(run(rounds))];
        if (one.low <= other.median && other.median <= one.high) within++;
        if (agree(one, other)) agreeing++;
      }
      expect([rounds, within > 1890, within < 1990]).toEqual([rounds, true, true]);
      expect([rounds, agreeing > 1800]).toEqual([rounds, true]);
    }
  },
);

test("rounds of several samples spread by their medians, and a clock's step is always within", () => {
  const samples = [10, 12, 20, 22].map((value, index) => ({ ...turns("native", value)[0]!, round: 1 + (index >> 1) }));
  expect(summarize(samples)).toMatchObject({ count: 2, median: 16, low: 0 });
  const ticks = (side: string, value: number): Sample[] =>
    turns(side, value, value, value).map((sample) => ({ ...sample, measure: "server CPU ms" }));
  expect(summarize(ticks("native", 40))).toEqual({ count: 3, median: 40, low: 30, high: 50 });
  const [row] = toRows([...ticks("native", 40), ...ticks("holdfast", 20)]);
  expect(row!.ratios.get("holdfast")).toEqual({ count: 3, median: 0.5, low: 0.125, high: 0.875 });
});

test("runs agree when each median lies within the other's spread, and their ratios do", () => {
  expect(agree(summarize(turns("native", 1, 2, 3)), summarize(turns("native", 5, 5, 6)))).toBe(false);
  expect(agree(summarize(turns("native", 1, 2, 3)), summarize(turns("native", 2, 4, 6)))).toBe(true);
  const both = (native: readonly number[], ratio: number): Sample[] => [
    ...turns("native", ...native),
    ...turns("holdfast", ...native.map((value, index) => value * (ratio + index / 100))),
  ];
  const text = formatAgreement(both([1, 1.2, 1.1], 2), both([10, 11, 12], 2.01));
  expect(text).toContain("differs: push");
  expect(text).toContain("0 of 2 values and 1 of 1 ratios to native agree with the earlier run");
  expect(formatAgreement(both([1], 2), both([1], 2))).toContain("0 of 0 values");
});
