import type { DiffSide } from "./line-classes.ts";

/** A line is a poor hint for matching (a blank line, a lone brace) if it occurs this often on
 * the other side, or about as often as the square root of its own side's line count if that is
 * less. */
const MOST_MATCHES = 1024;
/** Number of lines before and after a poor hint that are inspected. */
const WINDOW_LINES = 100;
/** A poor hint is dropped if the unmatched lines around it are more than this many times the poor
 * hints around it. */
const UNMATCHED_PER_POOR = 3;

/** Usefulness of comparing a line. */
const UNMATCHED = 0;
const GOOD = 1;
const POOR = 2;

/** The lines of one side that take part in the search for the shortest edit, with their classes. */
export interface CandidateLines {
  readonly lines: Int32Array;
  readonly classes: Int32Array;
}

/** Chooses the lines of a side that are worth comparing, and marks the others as changed. The
 * others are the lines that the other side lacks, and very frequent lines among such lines. This
 * is git's trade-off: large diffs are found faster, but are not always the shortest.
 * @param start first line after the common head
 * @param end line after the last one, before the common tail
 * @param otherCounts number of occurrences of each class on the whole other side
 * @param sideLines lines of this side, head and tail included */
export function chooseCandidates(
  side: DiffSide,
  start: number,
  end: number,
  otherCounts: Uint32Array,
  sideLines: number,
): CandidateLines {
  const limit = Math.min(roughSquareRoot(sideLines), MOST_MATCHES);
  const hints = new Uint8Array(end - start);
  for (let i = start; i < end; i++) {
    const matches = otherCounts[side.classes[i]!]!;
    hints[i - start] = matches === 0 ? UNMATCHED : matches >= limit ? POOR : GOOD;
  }
  const lines = new Int32Array(end - start);
  const classes = new Int32Array(end - start);
  let count = 0;
  for (let i = 0; i < hints.length; i++) {
    if (hints[i] === GOOD || (hints[i] === POOR && !isAmongUnmatched(hints, i))) {
      lines[count] = start + i;
      classes[count] = side.classes[start + i]!;
      count++;
    } else side.changed[start + i] = 1;
  }
  return { lines: lines.subarray(0, count), classes: classes.subarray(0, count) };
}

/** Whether most lines around a poor hint have no match, before and after it, as far as the next
 * good hint. */
function isAmongUnmatched(hints: Uint8Array, at: number): boolean {
  const before = countRun(hints, at, -1, Math.max(at - WINDOW_LINES, 0));
  if (before.unmatched === 0) return false;
  const behind = countRun(hints, at, 1, Math.min(at + WINDOW_LINES, hints.length - 1));
  if (behind.unmatched === 0) return false;
  // The line itself counts once in each direction.
  return (before.poor + behind.poor + 2) * UNMATCHED_PER_POOR < before.unmatched + behind.unmatched;
}

/** Counts from a line in one direction, up to and including `last`, stopping at a good hint. */
function countRun(hints: Uint8Array, at: number, step: 1 | -1, last: number): { unmatched: number; poor: number } {
  let unmatched = 0;
  let poor = 0;
  for (let i = at + step; i * step <= last * step && hints[i] !== GOOD; i += step) {
    if (hints[i] === UNMATCHED) unmatched++;
    else poor++;
  }
  return { unmatched, poor };
}

/** A power of two near the square root of n. Git uses this approximation, and results depend on
 * it. */
export function roughSquareRoot(n: number): number {
  let root = 1;
  for (let rest = n; rest > 0; rest >>>= 2) root *= 2;
  return root;
}
