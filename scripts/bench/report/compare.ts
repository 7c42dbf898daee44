/** Samples, held against native's of the same run. */
import type { Sample, Work } from "../figures/sample.ts";
import { type Summary, toRows } from "../figures/summary.ts";

/** What one side showed of a measure, and what native did. */
export interface Comparison {
  readonly work: Work;
  readonly measure: string;
  readonly side: string;
  readonly summary: Summary;
  /** Of the same work; undefined where native does not do it. */
  readonly native: Summary | undefined;
  /** This side's value over native's of the same round, in the median; NaN without native. */
  readonly ratio: number;
}

/** Sums samples up and puts native's figures beside those of every side, native's own included, in the order in which they came. */
export function compareToNative(samples: readonly Sample[]): Comparison[] {
  return toRows(samples).flatMap(({ work, measure, sides, ratios }) => {
    const native = sides.get("native");
    return [...sides].map(([side, summary]) => {
      const ratio = side === "native" ? 1 : (ratios.get(side)?.median ?? Number.NaN);
      return { work, measure, side, summary, native, ratio };
    });
  });
}

/** Which works: the value that a column has to have, or several of which it has to have one. */
export type Where = Readonly<Record<string, string | number | readonly (string | number)[]>>;

/** The samples whose work has these values, and whose measure is among `measures`, if any are named. */
export function selectSamples(samples: readonly Sample[], where: Where, measures?: readonly string[]): Sample[] {
  const wanted = Object.entries(where);
  return samples.filter(
    ({ work, measure }) =>
      (measures === undefined || measures.includes(measure)) &&
      wanted.every(([column, value]) => [value].flat().includes(work[column] ?? "")),
  );
}
