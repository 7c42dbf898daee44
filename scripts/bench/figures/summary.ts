/** What many samples of one thing come to. */
import type { Sample, Work } from "./sample.ts";

/** The middle of the rounds, and how far they spread. */
export interface Summary {
  readonly count: number;
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** A measure of a work, summed up for each side that has it. */
export interface Row {
  readonly work: Work;
  readonly measure: string;
  readonly sides: ReadonlyMap<string, Summary>;
  /** Each other side's value over native's of the same round: both met the same minute of the machine. */
  readonly ratios: ReadonlyMap<string, Summary>;
}

/** The value below which a share of the values lies; between two of them, the mean by their distance.
 * @param share 0 to 1 */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const below = sorted[Math.floor(at)] ?? Number.NaN;
  const above = sorted[Math.ceil(at)] ?? Number.NaN;
  return below + (above - below) * (at - Math.floor(at));
}

/** The middle value, or the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** @param values at least one */
export function summarize(values: readonly number[]): Summary {
  return { count: values.length, median: median(values), min: Math.min(...values), max: Math.max(...values) };
}

/** One row for each work and measure, in the order in which they came. */
export function toRows(samples: readonly Sample[]): Row[] {
  const groups = Map.groupBy(samples, ({ work, measure }) => JSON.stringify([work, measure]));
  return [...groups.values()].map((group) => {
    const { work, measure } = group[0]!;
    const sides = Map.groupBy(group, ({ side }) => side);
    const native = sides.get("native") ?? [];
    const ratios = [...sides].flatMap(([side, list]) => {
      const values = side === "native" ? [] : toRatios(list, native);
      return values.length === 0 ? [] : [[side, summarize(values)] as const];
    });
    return {
      work,
      measure,
      sides: new Map([...sides].map(([side, list]) => [side, summarize(list.map(({ value }) => value))])),
      ratios: new Map(ratios),
    };
  });
}

/** The medians of one side's rounds over the other's of the same rounds. */
function toRatios(samples: readonly Sample[], native: readonly Sample[]): number[] {
  const toMedians = (list: readonly Sample[]): Map<number, number> =>
    new Map(
      [...Map.groupBy(list, ({ round }) => round)].map(([round, same]) => [
        round,
        median(same.map(({ value }) => value)),
      ]),
    );
  const others = toMedians(native);
  return [...toMedians(samples)]
    .map(([round, value]) => value / (others.get(round) ?? Number.NaN))
    .filter((ratio) => Number.isFinite(ratio));
}

/** Every so many samples of a loop as one round: its percentiles, so that a loop shows how far they spread.
 * @param samples of one measure, in the order in which they were taken
 * @param rounds how many parts the samples of each work and side are cut into */
export function toPercentiles(samples: readonly Sample[], rounds = 5): Sample[] {
  const loops = Map.groupBy(samples, ({ work, side, measure }) => JSON.stringify([work, side, measure]));
  return [...loops.values()].flatMap((loop) => {
    const parts = Math.min(rounds, loop.length);
    return Array.from({ length: parts }, (_, part) => {
      const values = loop
        .slice(Math.floor((loop.length * part) / parts), Math.floor((loop.length * (part + 1)) / parts))
        .map(({ value }) => value);
      const { work, side, measure } = loop[0]!;
      return Object.entries({ p50: 0.5, p90: 0.9, p99: 0.99, max: 1 }).map(([name, share]) => ({
        work,
        side,
        measure: `${name} ${measure}`,
        round: part + 1,
        value: quantile(values, share),
      }));
    }).flat();
  });
}

/** Whether two runs agree on a measure: the median of each lies within what the other showed. */
export function agree(one: Summary, other: Summary): boolean {
  const holds = ({ min, max }: Summary, value: number): boolean => min <= value && value <= max;
  return holds(one, other.median) && holds(other, one.median);
}
