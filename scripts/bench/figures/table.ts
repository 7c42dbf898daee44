/** Samples as a table for a terminal. */
import { formatRows } from "../../verify/report.ts";
import { keyOf, type Sample } from "./sample.ts";
import { agree, type Summary, toRows } from "./summary.ts";

/** Three significant digits, and no exponent. */
export function formatValue(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const digits = value === 0 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toFixed(Math.min(digits, 4));
}

/** Median and spread: `1.2 (1.1–1.3)`. */
function formatSummary(summary: Summary | undefined): string {
  if (summary === undefined) return "–";
  const { count, median, low, high } = summary;
  return count === 1 ? formatValue(median) : `${formatValue(median)} (${formatValue(low)}–${formatValue(high)})`;
}

/** Each side's median with its spread. Where native was measured, also the ratio to it, taken round
 * by round, with its spread. */
export function formatTable(samples: readonly Sample[]): string {
  const rows = toRows(samples);
  const own = [...new Set(rows.flatMap(({ work }) => Object.keys(work)))];
  const names = [...new Set(samples.map(({ side }) => side))];
  const sides = names.toSorted((a, b) => Number(b === "native") - Number(a === "native"));
  const others = sides.filter((side) => rows.some(({ ratios }) => ratios.has(side)));
  const ratioOf = (side: string): string => (others.length === 1 ? "ratio" : `${side}/native`);
  const head = [...own, "measure", ...sides, ...others.map(ratioOf)];
  const body = rows.map((row) => [
    ...own.map((name) => String(row.work[name] ?? "")),
    row.measure,
    ...sides.map((side) => formatSummary(row.sides.get(side))),
    ...others.map((side) => formatSummary(row.ratios.get(side))),
  ]);
  const numbers = head.map((_, index) => index).slice(own.length + 1);
  return `${formatRows([head, ...body], numbers)}\n`;
}

/** Says which figures of two runs differ by more than the spread of either, and how many agree. It
 * compares values, which a slow machine shifts, and ratios to native, which it should not shift. A
 * figure of one round has no spread, and is left out. */
export function formatAgreement(samples: readonly Sample[], earlier: readonly Sample[]): string {
  const before = new Map(toRows(earlier).map((row) => [keyOf({ ...row.work, measure: row.measure }), row]));
  const lines: string[] = [];
  const counts = { values: [0, 0], ratios: [0, 0] };
  for (const { work, measure, ...now } of toRows(samples)) {
    const then = before.get(keyOf({ ...work, measure }));
    const what = [...Object.values(work), measure].join(", ");
    for (const kind of ["values", "ratios"] as const) {
      const part = kind === "values" ? "sides" : "ratios";
      for (const [side, one] of now[part]) {
        const other = then?.[part].get(side);
        if (other === undefined || one.count < 2 || other.count < 2) continue;
        const isSame = agree(one, other);
        counts[kind][1]! += 1;
        counts[kind][0]! += Number(isSame);
        const over = kind === "values" ? side : `${side} over native`;
        if (!isSame) lines.push(`differs: ${what}, ${over}: ${formatSummary(one)}, before ${formatSummary(other)}`);
      }
    }
  }
  const [values, ratios] = [counts.values, counts.ratios].map(([agreeing, all]) => `${agreeing} of ${all}`);
  lines.push(
    `${values} values and ${ratios} ratios to native agree with the earlier run: each median lies in the other's brackets.`,
    "Where nothing differs but by chance, nine in ten do.",
  );
  return `${lines.join("\n")}\n`;
}
