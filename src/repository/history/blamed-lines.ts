import type { LineChange } from "../diff/line-diff.ts";

/** Neighbouring lines whose origin is looked for. Counted from 0. */
export interface BlamedLines {
  /** Where they are in the text that is blamed. */
  readonly line: number;
  /** Where they are in the version that has come to be suspected. */
  readonly start: number;
  readonly count: number;
}

/** Tells lines that a version has from its parent's from those that are its own.
 * @param lines of the version, in order of `start`; they may overlap, where lines of two versions go back to the same
 * @param changes from the parent's version to this one
 * @returns what came from the parent, at its places there, and what did not */
export function splitByParent(
  lines: readonly BlamedLines[],
  changes: readonly LineChange[],
): { inherited: BlamedLines[]; own: BlamedLines[] } {
  const inherited: BlamedLines[] = [];
  const own: BlamedLines[] = [];
  let first = 0;
  for (const range of lines) {
    // What lies before these lines lies before those that follow, too.
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

/** Puts lines into the order of `start`. */
export function sortByStart(lines: readonly BlamedLines[]): BlamedLines[] {
  return lines.toSorted((a, b) => a.start - b.start || a.line - b.line);
}

function endOf({ nextStart, nextLines }: LineChange): number {
  return nextStart + nextLines;
}

/** How far lines behind the last change before `at` have moved. */
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
