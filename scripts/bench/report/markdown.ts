/** Tables of the page. */
import type { Sample, Work } from "../figures/sample.ts";
import { quantile, summarize } from "../figures/summary.ts";
import { formatSummary } from "../figures/table.ts";
import { compareToNative } from "./compare.ts";

/** How a side is called on the page and in pictures. */
export function nameSide(side: string): string {
  return side === "holdfast" ? "Holdfast" : side;
}

/** A table in GitHub's Markdown. @param numbers columns that are aligned to the right */
export function formatMarkdown(rows: readonly (readonly string[])[], numbers: readonly number[] = []): string {
  const [head = [], ...body] = rows;
  const rule = head.map((_, column) => (numbers.includes(column) ? "--:" : "---"));
  return [head, rule, ...body].map((row) => `| ${row.map(escapeCell).join(" | ")} |\n`).join("");
}

function escapeCell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}

/** Two or three digits that count, which spread hardly ever allows more of: `1.16×`, `0.014×`. */
export function formatRatio(ratio: number): string {
  if (!Number.isFinite(ratio)) return "–";
  return `${ratio >= 10 ? ratio.toFixed(0) : ratio >= 1 ? ratio.toFixed(2) : ratio.toPrecision(2)}×`;
}

/** How a table of comparisons is laid out. */
export interface Layout {
  /** Which measures, in this order (default: all, as they come). */
  readonly measures?: readonly string[];
  /** Whether to tell ratios too (default: true). */
  readonly hasRatios?: boolean;
  /** Further columns that go by the work. */
  readonly beside?: Readonly<Record<string, (work: Work) => string>>;
}

/** A row for each work: of each measure, every side's median and spread, and its ratio to native. */
export function formatComparison(samples: readonly Sample[], layout: Layout = {}): string {
  const { hasRatios = true, beside = {} } = layout;
  const measures = layout.measures ?? [...new Set(samples.map(({ measure }) => measure))];
  const comparisons = compareToNative(samples).filter(({ measure }) => measures.includes(measure));
  const others = [...new Set(comparisons.map(({ side }) => side))].filter((side) => side !== "native");
  const works = Map.groupBy(
    comparisons.filter(({ side }) => side !== "native" || others.length === 0),
    ({ work }) => JSON.stringify(work),
  );
  const columns = [...new Set([...works.values()].flatMap(([first]) => Object.keys(first!.work)))];
  const hasNative = (measure: string): boolean => comparisons.some((one) => one.measure === measure && one.native);
  const isCompared = (measure: string): boolean => hasRatios && hasNative(measure);
  const heads = measures.flatMap((measure) => [
    ...(hasNative(measure) ? [`native ${measure}`] : []),
    ...others.flatMap((side) => [`${nameSide(side)} ${measure}`, ...(isCompared(measure) ? ["ratio"] : [])]),
  ]);
  const rows = [...works.values()].map((work) => [
    ...columns.map((column) => String(work[0]!.work[column] ?? "")),
    ...measures.flatMap((measure) => {
      const own = work.filter((one) => one.measure === measure);
      const native = own.find((one) => one.native !== undefined)?.native;
      return [
        ...(hasNative(measure) ? [formatSummary(native)] : []),
        ...others.flatMap((side) => {
          const one = own.find((comparison) => comparison.side === side);
          return [formatSummary(one?.summary), ...(isCompared(measure) ? [formatRatio(one?.ratio ?? Number.NaN)] : [])];
        }),
      ];
    }),
    ...Object.values(beside).map((format) => format(work[0]!.work)),
  ]);
  const head = [...columns, ...heads, ...Object.keys(beside)];
  return formatMarkdown([head, ...rows], listNumbers(head, columns.length));
}

/** A row for each work and side of a loop's samples: percentiles of all of them with the spread over the rounds, and how many
 * samples they are of. */
export function formatPercentiles(samples: readonly Sample[]): string {
  const loops = Map.groupBy(samples, ({ work, side, measure }) => JSON.stringify([work, side, measure]));
  const own = [...new Set(samples.flatMap(({ work }) => Object.keys(work)))];
  const rows = [...loops.values()].map((loop) => {
    const { work, side, measure } = loop[0]!;
    const native = side === "native" ? undefined : loops.get(JSON.stringify([work, "native", measure]));
    return [
      ...own.map((column) => String(work[column] ?? "")),
      nameSide(side),
      String(loop.length),
      ...Object.values(PERCENTILES).map((share) => formatSummary(summarize(loop, share))),
      formatRatio(quantileOf(loop, 0.5) / quantileOf(native ?? [], 0.5)),
    ];
  });
  const unit = samples[0]?.measure ?? "";
  const head = [
    ...own,
    "side",
    "samples",
    ...Object.keys(PERCENTILES).map((name) => `${name} ${unit}`),
    "p50 to native",
  ];
  return formatMarkdown([head, ...rows], listNumbers(head, own.length + 1));
}

const PERCENTILES = { p50: 0.5, p90: 0.9, p99: 0.99, max: 1 };

function quantileOf(samples: readonly Sample[], share: number): number {
  return quantile(
    samples.map(({ value }) => value),
    share,
  );
}

/** A row for each work, a column for each side's median: for sides that are no rivals in one run, but ways of doing the same. */
export function formatSides(samples: readonly Sample[], measure: string): string {
  const comparisons = compareToNative(samples.filter((sample) => sample.measure === measure));
  const sides = [...new Set(comparisons.map(({ side }) => side))];
  const own = [...new Set(comparisons.flatMap(({ work }) => Object.keys(work)))];
  const works = Map.groupBy(comparisons, ({ work }) => JSON.stringify(work));
  const rows = [...works.values()].map((work) => [
    ...own.map((column) => String(work[0]!.work[column] ?? "")),
    ...sides.map((side) => formatSummary(work.find((one) => one.side === side)?.summary)),
    formatRatio(work.find(({ side }) => side === "holdfast")?.ratio ?? Number.NaN),
  ]);
  const head = [...own, ...sides.map((side) => `${nameSide(side)} ${measure}`), "Holdfast to native"];
  return formatMarkdown([head, ...rows], listNumbers(head, own.length));
}

function listNumbers(head: readonly string[], from: number): number[] {
  return head.map((_, column) => column).filter((column) => column >= from);
}
