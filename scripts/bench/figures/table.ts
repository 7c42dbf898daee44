/** Samples as a table to be read in a terminal. */
import { formatRows } from "../../verify/report.ts";
import { keyOf, type Sample } from "./sample.ts";
import { agree, type Row, type Summary, toRows } from "./summary.ts";

/** Three digits that count, and no exponent. */
export function formatValue(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const digits = value === 0 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toFixed(Math.min(digits, 4));
}

/** Median and spread: `1.2 (1.1–1.3)`. */
export function formatSummary(summary: Summary | undefined): string {
  if (summary === undefined) return "–";
  const { count, median, low, high } = summary;
  return count === 1 ? formatValue(median) : `${formatValue(median)} (${formatValue(low)}–${formatValue(high)})`;
}

/** A column that is not of the samples. */
export interface Column {
  readonly head: string;
  cell(row: Row): string;
}

/** Each side's median with its spread, and where native was measured its ratio to native, round by round, with the spread of that.
 * @param column comes last */
export function formatTable(samples: readonly Sample[], column?: Column): string {
  const rows = toRows(samples);
  const own = [...new Set(rows.flatMap(({ work }) => Object.keys(work)))];
  const names = [...new Set(samples.map(({ side }) => side))];
  const sides = names.toSorted((a, b) => Number(b === "native") - Number(a === "native"));
  const others = sides.includes("native") ? sides.filter((side) => side !== "native") : [];
  const head = [
    ...own,
    "measure",
    ...sides,
    ...others.map((side) => (others.length === 1 ? "ratio" : `${side}/native`)),
    ...(column === undefined ? [] : [column.head]),
  ];
  const body = rows.map((row) => [
    ...own.map((name) => String(row.work[name] ?? "")),
    row.measure,
    ...sides.map((side) => formatSummary(row.sides.get(side))),
    ...others.map((side) => formatSummary(row.ratios.get(side))),
    ...(column === undefined ? [] : [column.cell(row)]),
  ]);
  const numbers = head.map((_, index) => index).slice(own.length + 1);
  return `${formatRows([head, ...body], numbers)}\n`;
}

/** A line for each side, for works that not all sides do: its measures, and a ratio.
 * @param measure what the ratio is of
 * @param bases over which side it is: the first of them that did the work */
export function formatSides(samples: readonly Sample[], measure: string, bases: readonly string[]): string {
  const works = Map.groupBy(toRows(samples), ({ work }) => JSON.stringify(work));
  const own = [...new Set(samples.flatMap(({ work }) => Object.keys(work)))];
  const measures = [...new Set(samples.map((sample) => sample.measure))];
  const body = [...works.values()].flatMap((rows) => {
    const compared = rows.find((row) => row.measure === measure)?.sides;
    const base = bases.find((side) => compared?.has(side));
    const names = [...new Set(rows.flatMap(({ sides }) => [...sides.keys()]))];
    return names.map((side) => [
      ...own.map((name) => String(rows[0]!.work[name] ?? "")),
      side,
      ...measures.map((name) => formatSummary(rows.find((row) => row.measure === name)?.sides.get(side))),
      formatValue((compared?.get(side)?.median ?? Number.NaN) / (compared?.get(base ?? "")?.median ?? Number.NaN)),
    ]);
  });
  const head = [...own, "side", ...measures, "ratio"];
  const numbers = head.map((_, index) => index).slice(own.length + 1);
  return `${formatRows([head, ...body], numbers)}\n`;
}

/** Which figures of two runs differ by more than the spread of either, and how many agree: values, which a slow quarter of an hour of the
 * machine moves, and ratios to native, which it should not. A figure of one round has no spread, and is left out. */
export function formatAgreement(samples: readonly Sample[], earlier: readonly Sample[]): string {
  const before = new Map(toRows(earlier).map((row) => [keyOf({ ...row.work, measure: row.measure }), row]));
  const lines: string[] = [];
  const counts = { values: [0, 0], ratios: [0, 0] };
  const compare = (kind: keyof typeof counts, what: string, now: Summary, then: Summary | undefined): void => {
    if (then === undefined || now.count < 2 || then.count < 2) return;
    counts[kind][1]! += 1;
    if (agree(now, then)) counts[kind][0]! += 1;
    else lines.push(`differs: ${what}: ${formatSummary(now)}, before ${formatSummary(then)}`);
  };
  for (const { work, measure, sides, ratios } of toRows(samples)) {
    const row = before.get(keyOf({ ...work, measure }));
    const what = [...Object.values(work), measure].join(", ");
    for (const [side, now] of sides) compare("values", `${what}, ${side}`, now, row?.sides.get(side));
    for (const [side, now] of ratios) compare("ratios", `${what}, ${side} over native`, now, row?.ratios.get(side));
  }
  const [values, ratios] = [counts.values, counts.ratios].map(([agreeing, all]) => `${agreeing} of ${all}`);
  lines.push(
    `${values} values and ${ratios} ratios to native agree with the earlier run: each median lies in the other's brackets.`,
  );
  lines.push("Where nothing differs but by chance, nine in ten do.");
  return `${lines.join("\n")}\n`;
}
