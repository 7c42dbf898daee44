import type { DiffSide } from "./line-classes.ts";

/** Ranges of lines to compare, one on each side. Ends are exclusive. */
export interface LineRanges {
  readonly oldStart: number;
  readonly oldEnd: number;
  readonly nextStart: number;
  readonly nextEnd: number;
}

/** Shortens the ranges by the lines that both sides share at the head and at the tail. */
export function trimCommonEnds(old: DiffSide, next: DiffSide, ranges: LineRanges): LineRanges {
  let { oldStart, oldEnd, nextStart, nextEnd } = ranges;
  const a = old.classes;
  const b = next.classes;
  while (oldStart < oldEnd && nextStart < nextEnd && a[oldStart] === b[nextStart]) {
    oldStart++;
    nextStart++;
  }
  while (oldStart < oldEnd && nextStart < nextEnd && a[oldEnd - 1] === b[nextEnd - 1]) {
    oldEnd--;
    nextEnd--;
  }
  return { oldStart, oldEnd, nextStart, nextEnd };
}

/** Counts the occurrences of each class in a range of lines. */
export function countClasses(side: DiffSide, start: number, end: number): Uint32Array {
  const counts = side.counts ?? new Uint32Array(side.classCount);
  for (let i = start; i < end; i++) counts[side.classes[i]!]!++;
  return counts;
}

/** Resets counts to zero, if their buffer is reused. */
export function clearCounts({ counts, classes }: DiffSide, start: number, end: number): void {
  if (counts !== undefined) for (let i = start; i < end; i++) counts[classes[i]!] = 0;
}
