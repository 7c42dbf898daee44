import { type CandidateLines, chooseCandidates, roughSquareRoot } from "./candidate-lines.ts";
import { clearCounts, countClasses, type LineRanges, trimCommonEnds } from "./common-lines.ts";
import type { DiffSide, Effort } from "./line-classes.ts";

// E. W. Myers, "An O(ND) Difference Algorithm and its Variations" (1986), the variation in linear
// space, with git's three shortcuts. Each shortcut affects the diff, so the constants are git's.

/** A run of this many equal lines counts as a long snake. */
const LONG_SNAKE_LINES = 20;
/** Shortcuts are taken only after this many edits. */
const SHORTCUT_MIN_EDITS = 256;
/** Factor for a good path: it advanced this many times further than it has edits. */
const GOOD_PROGRESS = 4;
/** Lower bound for the edits after which the search for the middle of a box ends: about the
 * square root of the number of diagonals. */
const SEARCH_MIN_EDITS = 256;

/** Greater than any line number. */
const BEYOND = 0x7fffffff;

/** Marks the lines of a range that differ, by git's default algorithm.
 * @param ranges all lines of both sides, or a part that is compared as if it were the whole
 * @param effort the budget; a step is a look at a diagonal */
export function markMyers(old: DiffSide, next: DiffSide, ranges: LineRanges, effort: Effort): void {
  const { oldStart, oldEnd, nextStart, nextEnd } = trimCommonEnds(old, next, ranges);
  if (oldStart === oldEnd || nextStart === nextEnd) {
    old.changed.fill(1, oldStart, oldEnd);
    next.changed.fill(1, nextStart, nextEnd);
    return;
  }
  const oldCounts = countClasses(old, ranges.oldStart, ranges.oldEnd);
  const nextCounts = countClasses(next, ranges.nextStart, ranges.nextEnd);
  const a = chooseCandidates(old, oldStart, oldEnd, nextCounts, ranges.oldEnd - ranges.oldStart);
  const b = chooseCandidates(next, nextStart, nextEnd, oldCounts, ranges.nextEnd - ranges.nextStart);
  clearCounts(old, ranges.oldStart, ranges.oldEnd);
  clearCounts(next, ranges.nextStart, ranges.nextEnd);
  new EditSearch(a, b, old.changed, next.changed, effort).run();
}

/** Divides boxes of the edit graph at the middle of a shortest path until only insertions or
 * deletions remain. A point (x, y) of the graph means x lines taken from the old side and y from
 * the new side. It is on diagonal x − y. */
class EditSearch {
  readonly #a: Int32Array;
  readonly #b: Int32Array;
  readonly #oldLines: Int32Array;
  readonly #nextLines: Int32Array;
  readonly #oldChanged: Uint8Array;
  readonly #nextChanged: Uint8Array;
  /** By diagonal + `#zero`: the furthest x that paths from the start of the box reach, and paths
   * from its end. */
  readonly #forward: Int32Array;
  readonly #backward: Int32Array;
  readonly #zero: number;
  readonly #maxEdits: number;
  readonly #effort: Effort;

  // The box being searched, and the diagonals that its paths have reached.
  #x0 = 0;
  #x1 = 0;
  #y0 = 0;
  #y1 = 0;
  #forwardMin = 0;
  #forwardMax = 0;
  #backwardMin = 0;
  #backwardMax = 0;
  #sawLongSnake = false;

  // The point at which the box was divided, and whether its parts must be searched without
  // shortcuts.
  #splitX = 0;
  #splitY = 0;
  #lowMinimal = false;
  #highMinimal = false;

  constructor(a: CandidateLines, b: CandidateLines, oldChanged: Uint8Array, nextChanged: Uint8Array, effort: Effort) {
    this.#effort = effort;
    this.#a = a.classes;
    this.#b = b.classes;
    this.#oldLines = a.lines;
    this.#nextLines = b.lines;
    this.#oldChanged = oldChanged;
    this.#nextChanged = nextChanged;
    const diagonals = a.lines.length + b.lines.length + 3;
    this.#forward = new Int32Array(diagonals + 1);
    this.#backward = new Int32Array(diagonals + 1);
    this.#zero = b.lines.length + 1;
    this.#maxEdits = Math.max(roughSquareRoot(diagonals), SEARCH_MIN_EDITS);
  }

  run(): void {
    this.#compare(0, this.#a.length, 0, this.#b.length, false);
  }

  #compare(xStart: number, xEnd: number, yStart: number, yEnd: number, startMinimal: boolean): void {
    const a = this.#a;
    const b = this.#b;
    let x0 = xStart;
    let x1 = xEnd;
    let y0 = yStart;
    let y1 = yEnd;
    let minimal = startMinimal;
    for (;;) {
      while (x0 < x1 && y0 < y1 && a[x0] === b[y0]) {
        x0++;
        y0++;
      }
      while (x0 < x1 && y0 < y1 && a[x1 - 1] === b[y1 - 1]) {
        x1--;
        y1--;
      }
      if (x0 === x1 || y0 === y1 || this.#effort.stepsLeft <= 0) break;
      this.#divide(x0, x1, y0, y1, minimal);
      const x = this.#splitX;
      const y = this.#splitY;
      minimal = this.#highMinimal;
      this.#compare(x0, x, y0, y, this.#lowMinimal);
      x0 = x;
      y0 = y;
    }
    for (let x = x0; x < x1; x++) this.#oldChanged[this.#oldLines[x]!] = 1;
    for (let y = y0; y < y1; y++) this.#nextChanged[this.#nextLines[y]!] = 1;
  }

  /** Finds a point where paths from both corners meet. Without `minimal`, a point that is good
   * enough is accepted. */
  #divide(x0: number, x1: number, y0: number, y1: number, minimal: boolean): void {
    this.#x0 = x0;
    this.#x1 = x1;
    this.#y0 = y0;
    this.#y1 = y1;
    const start = x0 - y0;
    const end = x1 - y1;
    this.#forwardMin = this.#forwardMax = start;
    this.#backwardMin = this.#backwardMax = end;
    this.#forward[start + this.#zero] = x0;
    this.#backward[end + this.#zero] = x1;
    const meetsForward = ((start - end) & 1) !== 0;
    for (let edits = 1; ; edits++) {
      this.#sawLongSnake = false;
      this.#effort.stepsLeft -= this.#forwardMax - this.#forwardMin + 1;
      if (this.#advance(meetsForward) || this.#retreat(!meetsForward)) {
        this.#lowMinimal = this.#highMinimal = true;
        return;
      }
      if (minimal) continue;
      if (this.#sawLongSnake && edits > SHORTCUT_MIN_EDITS) {
        if (this.#takeGoodForward(edits) || this.#takeGoodBackward(edits)) return;
      }
      if (edits >= this.#maxEdits) {
        this.#takeFurthest();
        return;
      }
    }
  }

  /** Adds one edit to every path from the start.
   * @returns whether one of them met a path from the end; only checked if `canMeet` */
  #advance(canMeet: boolean): boolean {
    const a = this.#a;
    const b = this.#b;
    const forward = this.#forward;
    const zero = this.#zero;
    const x1 = this.#x1;
    const y1 = this.#y1;
    // Sets a sentinel path that reached nothing next to the outermost diagonals. At the border of
    // the box the range shrinks.
    if (this.#forwardMin > this.#x0 - y1) forward[--this.#forwardMin - 1 + zero] = -1;
    else this.#forwardMin++;
    if (this.#forwardMax < x1 - this.#y0) forward[++this.#forwardMax + 1 + zero] = -1;
    else this.#forwardMax--;
    for (let d = this.#forwardMax; d >= this.#forwardMin; d -= 2) {
      const at = d + zero;
      const from = Math.max(forward[at - 1]! + 1, forward[at + 1]!);
      let x = from;
      for (let y = x - d; x < x1 && y < y1 && a[x] === b[y]; y++) x++;
      if (x - from > LONG_SNAKE_LINES) this.#sawLongSnake = true;
      forward[at] = x;
      if (canMeet && this.#backwardMin <= d && d <= this.#backwardMax && this.#backward[at]! <= x) {
        this.#splitX = x;
        this.#splitY = x - d;
        return true;
      }
    }
    return false;
  }

  /** Adds one edit to every path from the end, in the same way. */
  #retreat(canMeet: boolean): boolean {
    const a = this.#a;
    const b = this.#b;
    const backward = this.#backward;
    const zero = this.#zero;
    const x0 = this.#x0;
    const y0 = this.#y0;
    if (this.#backwardMin > x0 - this.#y1) backward[--this.#backwardMin - 1 + zero] = BEYOND;
    else this.#backwardMin++;
    if (this.#backwardMax < this.#x1 - y0) backward[++this.#backwardMax + 1 + zero] = BEYOND;
    else this.#backwardMax--;
    for (let d = this.#backwardMax; d >= this.#backwardMin; d -= 2) {
      const at = d + zero;
      const from = Math.min(backward[at - 1]!, backward[at + 1]! - 1);
      let x = from;
      for (let y = x - d; x > x0 && y > y0 && a[x - 1] === b[y - 1]; y--) x--;
      if (from - x > LONG_SNAKE_LINES) this.#sawLongSnake = true;
      backward[at] = x;
      if (canMeet && this.#forwardMin <= d && d <= this.#forwardMax && x <= this.#forward[at]!) {
        this.#splitX = x;
        this.#splitY = x - d;
        return true;
      }
    }
    return false;
  }

  /** Divides where the best path from the start has just passed a long snake, if it made good
   * progress. */
  #takeGoodForward(edits: number): boolean {
    const start = this.#x0 - this.#y0;
    let best = GOOD_PROGRESS * edits;
    let found = false;
    for (let d = this.#forwardMax; d >= this.#forwardMin; d -= 2) {
      const x = this.#forward[d + this.#zero]!;
      const y = x - d;
      const progress = x - this.#x0 + (y - this.#y0) - Math.abs(d - start);
      if (progress <= best || x >= this.#x1 || y >= this.#y1) continue;
      if (x < this.#x0 + LONG_SNAKE_LINES || y < this.#y0 + LONG_SNAKE_LINES) continue;
      if (!this.#isSnake(x - LONG_SNAKE_LINES, y - LONG_SNAKE_LINES)) continue;
      best = progress;
      found = true;
      this.#splitX = x;
      this.#splitY = y;
    }
    this.#lowMinimal = true;
    this.#highMinimal = false;
    return found;
  }

  #takeGoodBackward(edits: number): boolean {
    const end = this.#x1 - this.#y1;
    let best = GOOD_PROGRESS * edits;
    let found = false;
    for (let d = this.#backwardMax; d >= this.#backwardMin; d -= 2) {
      const x = this.#backward[d + this.#zero]!;
      const y = x - d;
      const progress = this.#x1 - x + (this.#y1 - y) - Math.abs(d - end);
      if (progress <= best || x <= this.#x0 || y <= this.#y0) continue;
      if (x > this.#x1 - LONG_SNAKE_LINES || y > this.#y1 - LONG_SNAKE_LINES) continue;
      if (!this.#isSnake(x, y)) continue;
      best = progress;
      found = true;
      this.#splitX = x;
      this.#splitY = y;
    }
    this.#lowMinimal = false;
    this.#highMinimal = true;
    return found;
  }

  #isSnake(x: number, y: number): boolean {
    for (let i = 0; i < LONG_SNAKE_LINES; i++) if (this.#a[x + i] !== this.#b[y + i]) return false;
    return true;
  }

  /** Gives up: divides at the point furthest from its corner, by the sum of x and y. */
  #takeFurthest(): void {
    let forwardSum = -1;
    let forwardX = -1;
    for (let d = this.#forwardMax; d >= this.#forwardMin; d -= 2) {
      const x = Math.min(this.#forward[d + this.#zero]!, this.#x1, this.#y1 + d);
      if (forwardSum < x + x - d) {
        forwardSum = x + x - d;
        forwardX = x;
      }
    }
    let backwardSum = BEYOND;
    let backwardX = BEYOND;
    for (let d = this.#backwardMax; d >= this.#backwardMin; d -= 2) {
      const x = Math.max(this.#backward[d + this.#zero]!, this.#x0, this.#y0 + d);
      if (x + x - d < backwardSum) {
        backwardSum = x + x - d;
        backwardX = x;
      }
    }
    const forwardIsBetter = this.#x1 + this.#y1 - backwardSum < forwardSum - (this.#x0 + this.#y0);
    this.#splitX = forwardIsBetter ? forwardX : backwardX;
    this.#splitY = (forwardIsBetter ? forwardSum : backwardSum) - this.#splitX;
    this.#lowMinimal = forwardIsBetter;
    this.#highMinimal = !forwardIsBetter;
  }
}
