import { expect, test } from "vitest";
import type { Sample, Work } from "../../../../scripts/bench/figures/sample.ts";
import { compareToNative, selectSamples } from "../../../../scripts/bench/report/compare.ts";
import { formatComparison, formatPercentiles, formatRatio } from "../../../../scripts/bench/report/markdown.ts";

/** A sample a round. */
function take(work: Work, side: string, measure: string, ...values: number[]): Sample[] {
  return values.map((value, index) => ({ work, side, measure, round: index + 1, value }));
}

const PUSH = { work: "push", files: 100 };

const SAMPLES = [
  ...take(PUSH, "native", "wall s", 1, 4, 2),
  ...take(PUSH, "holdfast", "wall s", 3, 2.4, 1),
  ...take({ work: "clone", files: 100 }, "holdfast", "wall s", 5),
];

test("a side is held against native round by round", () => {
  const [native, push, clone] = compareToNative(SAMPLES);
  expect(native).toMatchObject({ side: "native", summary: { count: 3, median: 2, low: 0 }, ratio: 1 });
  expect(push).toMatchObject({ side: "holdfast", native: { median: 2 }, ratio: 0.6 });
  expect(clone).toMatchObject({ work: { work: "clone" }, native: undefined, ratio: Number.NaN });
});

test("samples are chosen by their columns, of which one may have several values", () => {
  expect(selectSamples(SAMPLES, { work: "push" })).toHaveLength(6);
  expect(selectSamples(SAMPLES, { work: ["push", "clone"], files: 100 }, ["wall s"])).toHaveLength(7);
  expect(selectSamples(SAMPLES, { cache: "cold" })).toEqual([]);
});

test("a table has medians, spread and ratio, and a dash for what was not measured", () => {
  expect(formatComparison(SAMPLES)).toBe(
    [
      "| work | files | native wall s | Holdfast wall s | ratio |",
      "| --- | --- | --: | --: | --: |",
      "| push | 100 | 2.00 (0–8.73) | 2.40 (0–6.92) | 0.60× |",
      "| clone | 100 | – | 5.00 | – |",
      "",
    ].join("\n"),
  );
});

test("percentiles are of all samples, and their spread is that of the rounds", () => {
  const rounds = [1, 2].flatMap((round) =>
    Array.from({ length: 50 }, (_, index) => ({ ...take(PUSH, "native", "ms", index + 1)[0]!, round })),
  );
  const api = take(PUSH, "Holdfast API", "ms", 51);
  const [, , native, other] = formatPercentiles([...rounds, ...api]).split("\n");
  expect(native).toBe(
    "| push | 100 | native | 100 | 25.5 (25.5–25.5) | 45.1 (45.1–45.1) | 50.0 (50.0–50.0) | 50.0 (50.0–50.0) | – |",
  );
  expect(other).toBe("| push | 100 | Holdfast API | 1 | 51.0 | 51.0 | 51.0 | 51.0 | 2.00× |");
});

test("ratios have as many digits as they bear", () => {
  expect([0.01449, 0.5, 1.164, 23.4, Number.NaN].map(formatRatio)).toEqual(["0.014×", "0.50×", "1.16×", "23×", "–"]);
});
