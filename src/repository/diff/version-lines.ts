// The versions of a file, each compared with its neighbours. Two neighbours differ in a few lines:
// only those between their common head and their common tail are split and numbered, the others are
// taken from the neighbour.
import { type DiffSide, type Effort, LineTable } from "./line-classes.ts";
import { diffSides, type LineChange, MAX_DIFF_STEPS } from "./line-diff.ts";
import {
  equalHeadBytes,
  equalTailBytes,
  linesUpTo,
  splitLines,
  type TextLines,
  wholeLinesOfTail,
} from "./text-lines.ts";

/** A version as lines. Equal lines of all versions of a `VersionLines` have the same class. */
export interface NumberedLines {
  readonly lines: TextLines;
  readonly classes: Int32Array;
  /** Bytes that were split and numbered: the others are a neighbour's. */
  readonly workBytes: number;
}

const NOTHING: NumberedLines = { lines: splitLines(new Uint8Array(0)), classes: new Int32Array(0), workBytes: 0 };

/** Numbers the lines of versions of one file, and compares versions. */
export class VersionLines {
  readonly #table = new LineTable(0, true);

  /** Bytes that the numbering takes: it grows with the different lines of all versions. */
  get sizeBytes(): number {
    return this.#table.sizeBytes;
  }

  /** @param near a version of this numbering that is likely to be about the same */
  number(bytes: Uint8Array, near: NumberedLines = NOTHING): NumberedLines {
    const { lines: known } = near;
    const head = linesOfHead(bytes, known);
    const start = known.starts[head]!;
    const tail = linesOfTail(bytes, known, start);
    const moved = bytes.length - known.bytes.length;
    const end = known.starts[known.count - tail]! + moved;
    const middle = splitLines(bytes.subarray(start, end));
    const count = head + middle.count + tail;
    const starts = new Uint32Array(count + 1);
    starts.set(known.starts.subarray(0, head));
    for (let i = 0; i < middle.count; i++) starts[head + i] = start + middle.starts[i]!;
    for (let i = 1; i <= tail; i++) starts[count - i] = known.starts[known.count - i]! + moved;
    starts[count] = bytes.length;
    const classes = new Int32Array(count);
    classes.set(near.classes.subarray(0, head));
    classes.set(this.#table.classify(middle), head);
    classes.set(near.classes.subarray(known.count - tail), count - tail);
    return { lines: { bytes, count, starts }, classes, workBytes: end - start };
  }

  /** The changes between two versions, as `git blame` finds them.
   * @see diffLines */
  compare(old: NumberedLines, next: NumberedLines, effort: Effort = { stepsLeft: MAX_DIFF_STEPS }): LineChange[] {
    const same = cutTailBytes(old, next);
    return diffSides(this.#side(old, same), this.#side(next, same), { effort });
  }

  /** @param cutBytes of the common tail, whole lines */
  #side({ lines, classes }: NumberedLines, cutBytes: number): DiffSide {
    const cut = linesUpTo(lines, lines.bytes.length - cutBytes);
    return {
      lines: cut,
      classes: classes.subarray(0, cut.count),
      classCount: this.#table.count,
      changed: new Uint8Array(cut.count + 1),
    };
  }
}

/** How many lines of a version another text begins with. */
function linesOfHead(bytes: Uint8Array, { bytes: near, starts, count }: TextLines): number {
  const same = equalHeadBytes(bytes, near);
  if (same === near.length && same === bytes.length) return count;
  return Math.max(0, firstAfter(starts, count, same) - 1);
}

/** How many lines of a version another text ends with, behind its common head.
 * @param start where the common head ends */
function linesOfTail(bytes: Uint8Array, { bytes: near, starts, count }: TextLines, start: number): number {
  const same = equalTailBytes(bytes, near, Math.min(bytes.length, near.length) - start);
  // A line counts whose LF before it is common, too: so it begins a line in both.
  return count - firstAfter(starts, count, near.length - same);
}

/** As `commonTailBytes`: most lines of the tail are known to be the same. */
function cutTailBytes({ lines: a, classes }: NumberedLines, { lines: b, classes: others }: NumberedLines): number {
  const most = Math.min(a.count, b.count);
  let tail = 0;
  while (tail < most && classes[a.count - 1 - tail] === others[b.count - 1 - tail]) tail++;
  const before = (lines: TextLines): Uint8Array => lines.bytes.subarray(0, lines.starts[lines.count - tail]);
  const [rest, otherRest] = [before(a), before(b)];
  const more = equalTailBytes(rest, otherRest, Math.min(rest.length, otherRest.length));
  return wholeLinesOfTail(a.bytes, a.bytes.length - rest.length + more);
}

/** The first line that begins after an offset, or `count`. */
function firstAfter(starts: Uint32Array, count: number, offset: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (starts[middle]! <= offset) low = middle + 1;
    else high = middle;
  }
  return low;
}
