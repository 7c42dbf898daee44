import type { LineRanges } from "./common-lines.ts";
import { markHistogram } from "./histogram.ts";
import { type DiffSide, type Effort, makeSides } from "./line-classes.ts";
import { markMyers } from "./myers.ts";
import { slideChanges } from "./slide-changes.ts";
import { splitLines, type TextLines, trimCommonTail } from "./text-lines.ts";

/** Default budget of a comparison: half a second. Real texts need far less: two unrelated texts
 * of 10,000 lines need a third of it. Beyond the budget the result differs from git's, which
 * would continue. */
export const MAX_DIFF_STEPS = 20_000_000;

/** Lines of the old text, replaced by lines of the next one. Line numbers start at 0; one of the
 * two lengths may be 0. */
export interface LineChange {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly nextStart: number;
  readonly nextLines: number;
}

/** Options for comparing two texts. Defaults are those of `git diff`. */
export interface LineDiffOptions {
  /** `git diff` and `git blame` use `myers`, `git merge` uses `histogram`. */
  readonly algorithm?: "myers" | "histogram";
  /** Whether changes slide to where blank lines and indentation make them read best. Merges turn
   * this off. */
  readonly indentHeuristic?: boolean;
  /** Whether the common end of the texts is removed first. `git blame` and `git diff -U0` do
   * this, and then slide changes less far. */
  readonly trimTail?: boolean;
  /** Whether to ignore whitespace within lines, as `git diff -w` does. */
  readonly ignoresBlanks?: boolean;
  /** The budget, `MAX_DIFF_STEPS` by default. Its rest shows the cost of the comparison. */
  readonly effort?: Effort;
}

/** Finds the changes from one text to another, exactly those that git finds, in order. At least
 * one unchanged line lies between two changes. */
export function diffLines(old: Uint8Array, next: Uint8Array, options: LineDiffOptions = {}): LineChange[] {
  return diffSplitLines(splitLines(old), splitLines(next), options);
}

/** As `diffLines`, for texts that are compared more than once. */
export function diffSplitLines(old: TextLines, next: TextLines, options: LineDiffOptions = {}): LineChange[] {
  const texts = options.trimTail === true ? trimCommonTail(old, next) : ([old, next] as const);
  const [oldSide, nextSide] = makeSides(texts[0], texts[1], options.ignoresBlanks);
  return diffSides(oldSide, nextSide, options);
}

/** As `diffLines`, for texts whose lines share one numbering of classes. No line of either side
 * may be marked as changed before. */
export function diffSides(oldSide: DiffSide, nextSide: DiffSide, options: LineDiffOptions = {}): LineChange[] {
  const [old, next] = [oldSide.lines, nextSide.lines];
  if (old.count === 0 || next.count === 0) return changeOfAll(old, next);
  const ranges: LineRanges = { oldStart: 0, oldEnd: old.count, nextStart: 0, nextEnd: next.count };
  const mark = options.algorithm === "histogram" ? markHistogram : markMyers;
  mark(oldSide, nextSide, ranges, options.effort ?? { stepsLeft: MAX_DIFF_STEPS });
  const indentHeuristic = options.indentHeuristic ?? true;
  slideChanges(oldSide, nextSide, indentHeuristic);
  slideChanges(nextSide, oldSide, indentHeuristic);
  return collectChanges(oldSide, nextSide);
}

function changeOfAll(old: TextLines, next: TextLines): LineChange[] {
  if (old.count === next.count) return [];
  return [{ oldStart: 0, oldLines: old.count, nextStart: 0, nextLines: next.count }];
}

function collectChanges(old: DiffSide, next: DiffSide): LineChange[] {
  const changes: LineChange[] = [];
  let i = 0;
  let j = 0;
  for (;;) {
    const oldStart = i;
    const nextStart = j;
    while (old.changed[i] === 1) i++;
    while (next.changed[j] === 1) j++;
    if (i > oldStart || j > nextStart) {
      changes.push({ oldStart, oldLines: i - oldStart, nextStart, nextLines: j - nextStart });
    }
    if (i === old.lines.count) return changes;
    i++;
    j++;
  }
}
