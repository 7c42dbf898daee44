/** Samples summed up, and as a table for a terminal. */
import { keyOf, type Sample, type Work } from "./sample.ts";

/** The median of the samples, and where another run's median is expected. */
interface Summary {
  /** The number of rounds. */
  readonly count: number;
  readonly median: number;
  /** The spread: of 100 other runs with as many rounds, 95 have their median between these, as long
   * as only chance differs between rounds. With one round both are its value. */
  readonly low: number;
  readonly high: number;
}

/** A measure of a work, summarized for each side that has it. */
export interface Row {
  readonly work: Work;
  readonly measure: string;
  readonly sides: ReadonlyMap<string, Summary>;
  /** Each other side's value divided by native's of the same round, since both met the same
   * minute. */
  readonly ratios: ReadonlyMap<string, Summary>;
}

/** The value below which a share of the values lies, interpolated linearly between two values.
 * @param share 0 to 1 */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const below = sorted[Math.floor(at)] ?? Number.NaN;
  const above = sorted[Math.ceil(at)] ?? Number.NaN;
  return below + (above - below) * (at - Math.floor(at));
}

function medianOf(samples: readonly Sample[], share = 0.5): number {
  return quantile(
    samples.map(({ value }) => value),
    share,
  );
}

/** @param samples of one measure, at least one */
export function summarize(samples: readonly Sample[]): Summary {
  return addSpread([...toRounds(samples).values()], medianOf(samples), stepOf(samples[0]!.measure));
}

/** One row for each work and measure. Those of one work stay together, otherwise in input order. */
export function toRows(samples: readonly Sample[]): Row[] {
  const works = [...Map.groupBy(samples, ({ work }) => keyOf(work)).values()];
  const groups = works.flatMap((one) => [...Map.groupBy(one, ({ measure }) => measure).values()]);
  return groups.map((group) => {
    const { work, measure } = group[0]!;
    const sides = Map.groupBy(group, ({ side }) => side);
    const native = sides.get("native") ?? [];
    const ratios = [...sides].flatMap(([side, list]) => {
      const ratio = side === "native" ? undefined : summarizeRatio(list, native);
      return ratio === undefined ? [] : [[side, ratio] as const];
    });
    const summaries = [...sides].map(([side, list]) => [side, summarize(list)] as const);
    return { work, measure, sides: new Map(summaries), ratios: new Map(ratios) };
  });
}

/** @returns undefined unless there is a round with both, and native's value is not zero */
function summarizeRatio(samples: readonly Sample[], native: readonly Sample[]): Summary | undefined {
  const others = toRounds(native);
  const ratios = [...toRounds(samples)]
    .map(([round, value]) => value / (others.get(round) ?? Number.NaN))
    .filter((ratio) => Number.isFinite(ratio));
  if (ratios.length === 0) return undefined;
  const ratio = quantile(ratios, 0.5);
  // One clock step more in the numerator, one less in the denominator.
  const step = ((1 + ratio) * stepOf(samples[0]!.measure)) / quantile([...others.values()], 0.5);
  return addSpread(ratios, ratio, step);
}

/** The median of each round. */
function toRounds(samples: readonly Sample[]): Map<number, number> {
  const rounds = Map.groupBy(samples, ({ round }) => round);
  return new Map([...rounds].map(([round, same]) => [round, medianOf(same)]));
}

/** The resolution of a measure's clock. @see proc_pid_stat(5): hundredths of a second of CPU */
function stepOf(measure: string): number {
  if (!measure.includes("CPU")) return 0;
  return measure.endsWith(" ms") ? 10 : 0.01;
}

/** The spread is a prediction interval: two runs differ by the chance of both (√2), and a median
 * varies √(π/2) times as much as a mean.
 * @param step the interval includes at least this much on each side */
function addSpread(rounds: readonly number[], middle: number, step: number): Summary {
  const count = rounds.length;
  if (count < 2) return { count, median: middle, low: middle, high: middle };
  const mean = rounds.reduce((sum, value) => sum + value, 0) / count;
  const variance = rounds.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (count - 1);
  const reach = studentT(count - 1) * Math.sqrt((variance * Math.PI) / count) + step;
  return { count, median: middle, low: Math.max(0, middle - reach), high: middle + reach };
}

/** Two-sided, 95 %, for up to ten degrees of freedom. */
const STUDENT_T = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];

/** How many standard deviations, estimated from few values, are exceeded in 5 of 100 cases. */
function studentT(freedom: number): number {
  // From eleven on, the first term of the Cornish-Fisher expansion is right to two digits.
  return STUDENT_T[freedom - 1] ?? 1.96 + (1.96 ** 3 + 1.96) / (4 * freedom);
}

/** The percentiles of each round with many samples, as measures of their own.
 * @param measures those that get percentiles; the others stay as they are */
export function toPercentiles(samples: readonly Sample[], measures: readonly string[]): Sample[] {
  const rounds = Map.groupBy(samples, ({ work, side, measure, round }) => keyOf({ ...work, side, measure, round }));
  return [...rounds.values()].flatMap((list) => {
    const sample = list[0]!;
    if (!measures.includes(sample.measure)) return list;
    return Object.entries({ p50: 0.5, p90: 0.9, p99: 0.99, max: 1 }).map(([name, share]) => ({
      ...sample,
      measure: `${name} ${sample.measure}`,
      value: medianOf(list, share),
    }));
  });
}

/** Whether two runs agree on a measure: each median lies within the other's spread. */
export function agree(one: Summary, other: Summary): boolean {
  const holds = ({ low, high }: Summary, value: number): boolean => low <= value && value <= high;
  return holds(one, other.median) && holds(other, one.median);
}

/** Rows in columns, without a newline at the end. */
export function formatRows(rows: readonly (readonly string[])[], alignRight: readonly number[] = [1]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const align = (cell: string, column: number): string =>
    alignRight.includes(column) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!);
  return rows.map((row) => row.map(align).join("  ").trimEnd()).join("\n");
}

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
