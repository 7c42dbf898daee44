import type { DiffSide } from "./line-classes.ts";

/** A line that occurs on the other side at least this often, or about the square root of its own side's lines if that is
 * less, is a poor hint to what belongs together (blank lines, lone braces). */
const MOST_MATCHES = 1024;
/** How far around a poor hint its neighbours are looked at, in lines. */
const WINDOW_LINES = 100;
/** A poor hint is dropped if lines without a match are more than this many times the poor hints around it. */
const UNMATCHED_PER_POOR = 3;

/** What speaks for comparing a line. */
const UNMATCHED = 0;
const GOOD = 1;
const POOR = 2;

/** The lines of one side that take part in the search for the shortest edit, and their classes. */
export interface CandidateLines {
  readonly lines: Int32Array;
  readonly classes: Int32Array;
}

/** Chooses the lines of a side that are worth comparing, and marks the others as changed: those which the other side does not
 * have at all, and those it has very often if they stand amid such. This is git's bargain: large diffs are found
 * faster, and are not always the shortest.
 * @param start the first line, behind the common head
 * @param end the line behind the last, before the common tail
 * @param otherCounts how often each class occurs on the whole other side
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
    if (hints[i] === GOOD || (hints[i] === POOR && !standsAmidUnmatched(hints, i))) {
      lines[count] = start + i;
      classes[count] = side.classes[start + i]!;
      count++;
    } else side.changed[start + i] = 1;
  }
  return { lines: lines.subarray(0, count), classes: classes.subarray(0, count) };
}

/** Whether a poor hint lies in a run without good ones in which most lines have no match, on both sides of it. */
function standsAmidUnmatched(hints: Uint8Array, at: number): boolean {
  const before = countRun(hints, at, -1, Math.max(at - WINDOW_LINES, 0));
  if (before.unmatched === 0) return false;
  const behind = countRun(hints, at, 1, Math.min(at + WINDOW_LINES, hints.length - 1));
  if (behind.unmatched === 0) return false;
  // The line itself counts once in each direction.
  return (before.poor + behind.poor + 2) * UNMATCHED_PER_POOR < before.unmatched + behind.unmatched;
}

/** Counts from a line in one direction, up to and with `last`, until a good hint. */
function countRun(hints: Uint8Array, at: number, step: 1 | -1, last: number): { unmatched: number; poor: number } {
  let unmatched = 0;
  let poor = 0;
  for (let i = at + step; i * step <= last * step && hints[i] !== GOOD; i += step) {
    if (hints[i] === UNMATCHED) unmatched++;
    else poor++;
  }
  return { unmatched, poor };
}

/** A power of two near the square root of n: what git takes for it, and results depend on. */
export function roughSquareRoot(n: number): number {
  let root = 1;
  for (let rest = n; rest > 0; rest >>>= 2) root *= 2;
  return root;
}
