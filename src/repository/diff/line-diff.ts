import type { LineRanges } from "./common-lines.ts";
import { markHistogram } from "./histogram.ts";
import { type DiffSide, makeSides } from "./line-classes.ts";
import { markMyers } from "./myers.ts";
import { slideChanges } from "./slide-changes.ts";
import { splitLines, type TextLines, trimCommonTail } from "./text-lines.ts";

/** What a comparison may cost: half a second. Real texts need far less: two texts of 10,000 lines that have nothing
 * to do with each other need a third. Beyond it git would go on, and the result is not git's. */
const MAX_STEPS = 20_000_000;

/** Lines of the old text that lines of the next one take the place of. Counted from 0; one of the two lengths may be 0. */
export interface LineChange {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly nextStart: number;
  readonly nextLines: number;
}

/** How two texts are compared. What is left out is as in `git diff`. */
export interface LineDiffOptions {
  /** `myers` is what `git diff` and `git blame` use, `histogram` what `git merge` uses. */
  readonly algorithm?: "myers" | "histogram";
  /** Whether changes slide to where blank lines and indentation make them read best. Merges do without. */
  readonly indentHeuristic?: boolean;
  /** Whether what the texts have in common at their end is set aside first: `git blame` and `git diff -U0` do, and slide
   * a change less far then. */
  readonly trimTail?: boolean;
}

/** The changes from one text to another, exactly those that git finds, in order; between two of them lies at least one line
 * that both texts have. */
export function diffLines(old: Uint8Array, next: Uint8Array, options: LineDiffOptions = {}): LineChange[] {
  return diffSplitLines(splitLines(old), splitLines(next), options);
}

/** As `diffLines`, for texts that are compared more than once. */
export function diffSplitLines(old: TextLines, next: TextLines, options: LineDiffOptions = {}): LineChange[] {
  if (old.count === 0 || next.count === 0) return changeOfAll(old, next);
  const texts = options.trimTail === true ? trimCommonTail(old, next) : ([old, next] as const);
  const [oldSide, nextSide] = makeSides(texts[0], texts[1]);
  const ranges: LineRanges = { oldStart: 0, oldEnd: texts[0].count, nextStart: 0, nextEnd: texts[1].count };
  const mark = options.algorithm === "histogram" ? markHistogram : markMyers;
  mark(oldSide, nextSide, ranges, { stepsLeft: MAX_STEPS });
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
