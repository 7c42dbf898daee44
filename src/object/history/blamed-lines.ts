import type { LineChange } from "../../base/lines/line-diff.ts";

/** Consecutive lines whose origin is being searched. Counted from 0. */
export interface BlamedLines {
  /** Their position in the text that is blamed. */
  readonly line: number;
  /** Their position in the version that they were traced back to. */
  readonly start: number;
  readonly count: number;
}

/** Splits lines into those that the parent's version has and those that are new in this version.
 * @param lines of the version, in order of `start`; they may overlap, because lines of two versions
 * can have the same origin
 * @param changes from the parent's version to this one
 * @returns the inherited lines at their positions in the parent, and the new ones */
export function splitByParent(
  lines: readonly BlamedLines[],
  changes: readonly LineChange[],
): { inherited: BlamedLines[]; own: BlamedLines[] } {
  const inherited: BlamedLines[] = [];
  const own: BlamedLines[] = [];
  let first = 0;
  for (const range of lines) {
    // Changes before these lines are before all following lines too.
    while (first < changes.length && endOf(changes[first]!) <= range.start) first++;
    const end = range.start + range.count;
    let at = range.start;
    const take = (to: number, into: BlamedLines[], offset: number): void => {
      if (to > at) into.push({ line: range.line + at - range.start, start: at + offset, count: to - at });
      at = Math.max(at, to);
    };
    for (let i = first; i < changes.length && changes[i]!.nextStart < end; i++) {
      const change = changes[i]!;
      take(change.nextStart, inherited, change.oldStart - change.nextStart);
      take(Math.min(endOf(change), end), own, 0);
    }
    take(end, inherited, offsetBefore(changes, at));
  }
  return { inherited, own };
}

/** Traces lines on to where the file's lines are from.
 * @param lines of a file, at `start`
 * @param known where all lines of the file are from, in their order
 * @returns parts of `known` that belong to these lines */
export function originsOf<Origin extends BlamedLines>(
  lines: readonly BlamedLines[],
  known: readonly Origin[],
): Origin[] {
  const origins: Origin[] = [];
  for (const { line, start, count } of lines) {
    let low = 0;
    let high = known.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (known[middle]!.line + known[middle]!.count <= start) low = middle + 1;
      else high = middle;
    }
    for (let i = low; i < known.length && known[i]!.line < start + count; i++) {
      const origin = known[i]!;
      const from = Math.max(start, origin.line);
      const to = Math.min(start + count, origin.line + origin.count);
      const moved = { line: line + from - start, start: origin.start + from - origin.line, count: to - from };
      origins.push({ ...origin, ...moved });
    }
  }
  return origins;
}

/** Sorts lines by `start`. */
export function sortByStart(lines: readonly BlamedLines[]): BlamedLines[] {
  return lines.toSorted((a, b) => a.start - b.start || a.line - b.line);
}

function endOf({ nextStart, nextLines }: LineChange): number {
  return nextStart + nextLines;
}

/** How far lines after the last change before `at` have moved. */
function offsetBefore(changes: readonly LineChange[], at: number): number {
  let low = 0;
  let high = changes.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (endOf(changes[middle]!) <= at) low = middle + 1;
    else high = middle;
  }
  const last = changes[low - 1];
  return last === undefined ? 0 : last.oldStart + last.oldLines - endOf(last);
}
