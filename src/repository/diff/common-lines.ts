import type { DiffSide } from "./line-classes.ts";

/** Lines of both sides that are to be compared, ends exclusive. */
export interface LineRanges {
  readonly oldStart: number;
  readonly oldEnd: number;
  readonly nextStart: number;
  readonly nextEnd: number;
}

/** A range without the lines that both sides have in common at its head and at its tail. */
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

/** How often each class occurs among some lines. */
export function countClasses(side: DiffSide, start: number, end: number): Uint32Array {
  const counts = new Uint32Array(side.classCount);
  for (let i = start; i < end; i++) counts[side.classes[i]!]!++;
  return counts;
}
