// The versions of a file, each compared with its neighbours. Two neighbours differ in a few lines:
// only those are split and numbered, the others are taken from the neighbour.
import { LF } from "../../base/format/byte-string.ts";
import { copyInto, type DiffSide, type Effort, LineTable } from "../../base/lines/line-classes.ts";
import { diffSides, type LineChange, MAX_DIFF_STEPS } from "../../base/lines/line-diff.ts";
import {
  equalHeadBytes,
  equalTailBytes,
  linesUpTo,
  type TextLines,
  wholeLinesOfTail,
} from "../../base/lines/text-lines.ts";

/** A version as lines. Equal lines of all versions of a `VersionLines` have the same class. */
export interface NumberedLines {
  readonly lines: TextLines;
  readonly classes: Int32Array;
  /** Bytes that were split and numbered: the others are a neighbour's. */
  readonly workBytes: number;
}

/** A line of this many bytes is rarely in a version twice: it tells where another version goes
 * on. */
const TELLING_BYTES = 16;

/** Numbers the lines of versions of one file, and compares versions. */
export class VersionLines {
  readonly #table = new LineTable(0, true);
  /** By class: a line of the version that was numbered last, or of an older one. */
  #places = new Int32Array(0);
  // The version that is being numbered, in arrays that are used again.
  #starts = new Uint32Array(1);
  #classes = new Int32Array(1);
  #count = 0;
  /** For both sides of a comparison. */
  #counts: readonly Uint32Array[] = [new Uint32Array(0), new Uint32Array(0)];

  /** Bytes that the numbering takes: it grows with the different lines of all versions. */
  get sizeBytes(): number {
    return this.#table.sizeBytes + 4 * (this.#places.length + 2 * this.#counts[0]!.length);
  }

  /** @param near a version of this numbering that is likely to be about the same */
  number(bytes: Uint8Array, near?: NumberedLines): NumberedLines {
    this.#count = 0;
    let workBytes = 0;
    /** The line of `near` that is likely to come next. */
    let next = 0;
    for (let at = 0; at < bytes.length;) {
      const taken = near === undefined ? 0 : this.#takeLines(bytes, at, near, next);
      next += taken;
      if (taken > 0) at = this.#starts[this.#count]!;
      if (at === bytes.length) break;
      const end = endOfLine(bytes, at);
      const line = this.#table.classOf(bytes, at, end);
      this.#add(line, end);
      workBytes += end - at;
      if (near !== undefined) next = this.#placeAfter(line, end - at, near, next);
      at = end;
    }
    const classes = this.#classes.slice(0, this.#count);
    const starts = this.#starts.slice(0, this.#count + 1);
    this.#notePlaces(classes);
    return { lines: { bytes, count: this.#count, starts }, classes, workBytes };
  }

  /** Takes lines from another version, as long as they are the same.
   * @param at where they begin
   * @param first the first of them in the other version
   * @returns how many they are */
  #takeLines(bytes: Uint8Array, at: number, { lines: known, classes }: NumberedLines, first: number): number {
    const from = known.starts[first]!;
    if (first === known.count || bytes[at] !== known.bytes[from]) return 0;
    const same = equalHeadBytes(bytes.subarray(at), known.bytes.subarray(from));
    const areSame = from + same === known.bytes.length && at + same === bytes.length;
    // The last line counts only where both texts end: it may go on in one of them.
    const end = areSame ? known.count : Math.max(first, firstAfter(known.starts, known.count, from + same) - 1);
    this.#reserve(this.#count + end - first);
    this.#classes.set(classes.subarray(first, end), this.#count);
    const moved = at - from;
    for (let line = first + 1; line <= end; line++) this.#starts[++this.#count] = known.starts[line]! + moved;
    return end - first;
  }

  #add(line: number, end: number): void {
    this.#reserve(this.#count + 1);
    this.#classes[this.#count] = line;
    this.#starts[++this.#count] = end;
  }

  #reserve(count: number): void {
    if (count < this.#starts.length) return;
    const capacity = Math.max(2 * this.#starts.length, count + 1);
    this.#starts = copyInto(new Uint32Array(capacity), this.#starts);
    this.#classes = copyInto(new Int32Array(capacity), this.#classes);
  }

  /** Where another version probably goes on after a line.
   * @param next where it would go on if it lacked the line */
  #placeAfter(line: number, lineBytes: number, { classes }: NumberedLines, next: number): number {
    if (classes[next] === line) return next + 1;
    const place = lineBytes < TELLING_BYTES ? undefined : this.#places[line];
    return place !== undefined && classes[place] === line ? place + 1 : next;
  }

  #notePlaces(classes: Int32Array): void {
    if (this.#places.length < this.#table.count) {
      this.#places = copyInto(new Int32Array(2 * this.#table.count), this.#places);
    }
    for (let line = 0; line < classes.length; line++) this.#places[classes[line]!] = line;
  }

  /** The changes between two versions, as `git blame` finds them.
   * @see diffLines */
  compare(old: NumberedLines, next: NumberedLines, effort: Effort = { stepsLeft: MAX_DIFF_STEPS }): LineChange[] {
    const same = cutTailBytes(old, next);
    if (this.#counts[0]!.length < this.#table.count) {
      this.#counts = this.#counts.map(() => new Uint32Array(2 * this.#table.count));
    }
    return diffSides(this.#side(old, same, this.#counts[0]!), this.#side(next, same, this.#counts[1]!), { effort });
  }

  /** @param cutBytes of the common tail, whole lines */
  #side({ lines, classes }: NumberedLines, cutBytes: number, counts: Uint32Array): DiffSide {
    const cut = linesUpTo(lines, lines.bytes.length - cutBytes);
    return {
      lines: cut,
      classes: classes.subarray(0, cut.count),
      classCount: this.#table.count,
      changed: new Uint8Array(cut.count + 1),
      counts,
    };
  }
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

/** Where the line ends that begins at an offset. */
function endOfLine(bytes: Uint8Array, start: number): number {
  let at = start;
  while (at < bytes.length && bytes[at] !== LF) at++;
  return Math.min(at + 1, bytes.length);
}
