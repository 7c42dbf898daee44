import type { LineRanges } from "./common-lines.ts";
import type { DiffSide, Effort } from "./line-classes.ts";
import { markMyers } from "./myers.ts";

/** A line that occurs more often than this on the old side cannot be an anchor. */
const MOST_OCCURRENCES = 64;

/** Marks the lines that differ, by git's histogram algorithm, which `git merge` uses. The anchor is
 * the longest run of equal lines that contains a line as rare as possible on the old side. The
 * lines before and after the anchor are then compared in the same way. Where all common lines are
 * too frequent, Myers' algorithm takes over.
 * @param effort the budget; a step is a look at a line */
export function markHistogram(old: DiffSide, next: DiffSide, ranges: LineRanges, effort: Effort): void {
  new AnchorSearch(old, next, effort).run(ranges);
}

/** Finds one anchor after the other. */
class AnchorSearch {
  readonly #old: DiffSide;
  readonly #next: DiffSide;
  readonly #effort: Effort;
  // For each class, among the old lines of the current range: number of occurrences, and first line
  // (-1: none).
  readonly #occurrences: Uint32Array;
  readonly #first: Int32Array;
  /** For each old line of the range: the next line of its class, -1 if there is none. */
  readonly #nextEqual: Int32Array;
  #ranges: LineRanges = { oldStart: 0, oldEnd: 0, nextStart: 0, nextEnd: 0 };

  // The best anchor found so far: its start, its length in lines, and the number of occurrences of
  // its rarest line.
  #oldAnchor = 0;
  #nextAnchor = 0;
  #length = 0;
  #rarity = 0;
  #sawCommonLine = false;

  constructor(old: DiffSide, next: DiffSide, effort: Effort) {
    this.#old = old;
    this.#next = next;
    this.#effort = effort;
    this.#occurrences = new Uint32Array(old.classCount);
    this.#first = new Int32Array(old.classCount).fill(-1);
    this.#nextEqual = new Int32Array(old.lines.count);
  }

  run(ranges: LineRanges): void {
    let { oldStart, nextStart } = ranges;
    const { oldEnd, nextEnd } = ranges;
    while (oldStart < oldEnd && nextStart < nextEnd && this.#effort.stepsLeft > 0) {
      const rest = { oldStart, oldEnd, nextStart, nextEnd };
      this.#find(rest);
      if (this.#sawCommonLine && this.#rarity > MOST_OCCURRENCES) {
        markMyers(this.#old, this.#next, rest, this.#effort);
        return;
      }
      if (this.#length === 0) break;
      const before = { oldStart, oldEnd: this.#oldAnchor, nextStart, nextEnd: this.#nextAnchor };
      oldStart = this.#oldAnchor + this.#length;
      nextStart = this.#nextAnchor + this.#length;
      this.run(before);
    }
    this.#old.changed.fill(1, oldStart, oldEnd);
    this.#next.changed.fill(1, nextStart, nextEnd);
  }

  #find(ranges: LineRanges): void {
    const { oldStart, oldEnd, nextStart, nextEnd } = ranges;
    const classes = this.#old.classes;
    for (let i = oldEnd - 1; i >= oldStart; i--) {
      const lineClass = classes[i]!;
      this.#nextEqual[i] = this.#first[lineClass]!;
      this.#first[lineClass] = i;
      this.#occurrences[lineClass]!++;
    }
    this.#effort.stepsLeft -= oldEnd - oldStart + nextEnd - nextStart;
    this.#ranges = ranges;
    this.#length = 0;
    this.#rarity = MOST_OCCURRENCES + 1;
    this.#sawCommonLine = false;
    for (let i = nextStart; i < nextEnd;) i = this.#anchorAt(i);
    for (let i = oldStart; i < oldEnd; i++) {
      this.#first[classes[i]!] = -1;
      this.#occurrences[classes[i]!] = 0;
    }
  }

  /** Finds a better anchor that contains a given line of the next side.
   * @returns the next line to look at: after every common run that contains this line */
  #anchorAt(line: number): number {
    const { oldEnd, nextEnd } = this.#ranges;
    const a = this.#old.classes;
    const b = this.#next.classes;
    const lineClass = b[line]!;
    const occurrences = this.#occurrences[lineClass]!;
    if (occurrences === 0) return line + 1;
    this.#sawCommonLine = true;
    if (occurrences > this.#rarity) return line + 1;
    let nextLine = line + 1;
    for (let at = this.#first[lineClass]!; at !== -1;) {
      const { start, rarity: rarityBefore } = this.#extendUp(at, line, occurrences);
      let rarity = rarityBefore;
      let end = at + 1;
      for (let j = line + 1; end < oldEnd && j < nextEnd && a[end] === b[j]; j++) {
        if (rarity > 1) rarity = Math.min(rarity, this.#occurrences[a[end]!]!);
        end++;
      }
      nextLine = Math.max(nextLine, line + end - at);
      this.#offer(start, line - (at - start), end - start, rarity);
      // Skips equal lines inside the run, which belong to the same anchor.
      do at = this.#nextEqual[at]!;
      while (at !== -1 && at < end);
    }
    return nextLine;
  }

  #extendUp(at: number, line: number, occurrences: number): { start: number; rarity: number } {
    const { oldStart, nextStart } = this.#ranges;
    const a = this.#old.classes;
    const b = this.#next.classes;
    let start = at;
    let rarity = occurrences;
    for (let j = line; start > oldStart && j > nextStart && a[start - 1] === b[j - 1]; j--) {
      start--;
      if (rarity > 1) rarity = Math.min(rarity, this.#occurrences[a[start]!]!);
    }
    return { start, rarity };
  }

  #offer(oldAnchor: number, nextAnchor: number, length: number, rarity: number): void {
    this.#effort.stepsLeft -= length;
    // A first anchor of one line is accepted only if it is rare enough.
    if (length <= Math.max(this.#length, 1) && rarity >= this.#rarity) return;
    this.#oldAnchor = oldAnchor;
    this.#nextAnchor = nextAnchor;
    this.#length = length;
    this.#rarity = rarity;
  }
}
