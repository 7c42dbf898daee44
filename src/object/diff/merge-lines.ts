import { diffLines, type LineChange, diffSplitLines } from "../../base/lines/line-diff.ts";
import { type LineRange, type MergeRegion, type MergeStyle, type MergeTexts, writeMergedText } from "./merged-text.ts";
import { linesBytes, splitLines, type TextLines } from "../../base/lines/text-lines.ts";

/** Conflicts with at most this many lines between them are shown as one: easier to read and to
 * resolve. */
const MAX_LINES_BETWEEN = 3;

/** As `git merge` compares: groups of changed lines slide down as far as they can. */
const MERGE_DIFF = { algorithm: "histogram", indentHeuristic: false } as const;

/** Lines that both sides changed, in different ways. */
interface MergeConflict {
  /** With the style `merge`, conflicts that are close together in the base may name the same lines
   * of it. */
  readonly base: LineRange;
  readonly ours: LineRange;
  readonly theirs: LineRange;
}

/** The result of a merge. */
export interface MergedLines {
  /** The merged text, with markers around each conflict. */
  readonly bytes: Uint8Array;
  /** In order; empty if the merge is clean, or takes both sides. */
  readonly conflicts: MergeConflict[];
}

/** Merges two changes of a text by lines, exactly as `git merge` (and `git merge-tree`) does. Lines
 * that only one side changed are taken from it. What both changed alike is taken once. Everything
 * else is a conflict, narrowed to the lines in which the sides differ. Any content is treated as
 * lines; git does not merge binary files.
 * @param style `labels` follow the markers */
export function mergeLines(base: Uint8Array, ours: Uint8Array, theirs: Uint8Array, style: MergeStyle): MergedLines {
  const texts = { base: splitLines(base), ours: splitLines(ours), theirs: splitLines(theirs) };
  const oursChanges = diffSplitLines(texts.base, texts.ours, MERGE_DIFF);
  if (oursChanges.length === 0) return { bytes: theirs, conflicts: [] };
  const theirsChanges = diffSplitLines(texts.base, texts.theirs, MERGE_DIFF);
  if (theirsChanges.length === 0) return { bytes: ours, conflicts: [] };

  let regions = combineChanges(texts, oursChanges, theirsChanges);
  // Where the base is shown, it differs from both sides, so narrowing would not help.
  if (style.showBase !== true) regions = joinConflicts(regions.flatMap((region) => narrowConflict(texts, region)));
  const conflicts = style.takeBoth === true ? [] : regions.filter(({ kind }) => kind === "conflict");
  return {
    bytes: writeMergedText(texts, regions, style),
    conflicts: conflicts.map((region) => ({ base: region.base, ours: region.ours, theirs: region.theirs })),
  };
}

/** Puts the changes of both sides into one sequence. A change that both sides made alike is no
 * region. */
function combineChanges(
  texts: MergeTexts,
  oursChanges: readonly LineChange[],
  theirsChanges: readonly LineChange[],
): MergeRegion[] {
  const regions: MergeRegion[] = [];
  const ours = [...oursChanges, changeBeyond(texts.base, texts.ours)];
  const theirs = [...theirsChanges, changeBeyond(texts.base, texts.theirs)];
  for (let i = 0, j = 0; i < oursChanges.length || j < theirsChanges.length;) {
    const a = ours[i]!;
    const b = theirs[j]!;
    const aEnd = a.oldStart + a.oldLines;
    const bEnd = b.oldStart + b.oldLines;
    // Changes that touch count as one.
    const kind = aEnd < b.oldStart ? "ours" : bEnd < a.oldStart ? "theirs" : "conflict";
    if (kind !== "conflict" || !isSameChange(texts, a, b)) {
      const end = kind === "conflict" ? Math.max(aEnd, bEnd) : Math.min(aEnd, bEnd);
      const base = { start: Math.min(a.oldStart, b.oldStart), end };
      appendRegion(regions, { kind, base, ours: rangeOfSide(a, base), theirs: rangeOfSide(b, base) });
    }
    if (aEnd <= bEnd) i++;
    if (bEnd <= aEnd) j++;
  }
  return regions;
}

/** A change after all others. It is the sentinel at the end of a side's changes. */
function changeBeyond(base: TextLines, side: TextLines): LineChange {
  return { oldStart: base.count + 1, oldLines: 0, nextStart: side.count + 1, nextLines: 0 };
}

/** Which lines of a side correspond to lines of the base.
 * @param change the side's first change that does not end before those lines; it is in them or
 * after them */
function rangeOfSide(change: LineChange, base: LineRange): LineRange {
  const oldEnd = change.oldStart + change.oldLines;
  const offset = change.nextStart - change.oldStart;
  const grownBy = base.end >= oldEnd ? change.nextLines - change.oldLines : 0;
  return { start: base.start + offset, end: base.end + offset + grownBy };
}

function isSameChange(texts: MergeTexts, a: LineChange, b: LineChange): boolean {
  return (
    a.oldStart === b.oldStart &&
    a.oldLines === b.oldLines &&
    a.nextLines === b.nextLines &&
    isSameText(
      linesBytes(texts.ours, a.nextStart, a.nextStart + a.nextLines),
      linesBytes(texts.theirs, b.nextStart, b.nextStart + b.nextLines),
    )
  );
}

function isSameText(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** Adds a region, or extends the last one if the two touch on either side. Regions of different
 * kinds then become a conflict. */
function appendRegion(regions: MergeRegion[], region: MergeRegion): void {
  const last = regions.at(-1);
  if (last === undefined || (region.ours.start > last.ours.end && region.theirs.start > last.theirs.end)) {
    regions.push(region);
    return;
  }
  regions[regions.length - 1] = joined(last, region, region.kind === last.kind ? last.kind : "conflict");
}

function joined(first: MergeRegion, last: MergeRegion, kind: MergeRegion["kind"]): MergeRegion {
  return {
    kind,
    base: { start: first.base.start, end: last.base.end },
    ours: { start: first.ours.start, end: last.ours.end },
    theirs: { start: first.theirs.start, end: last.theirs.end },
  };
}

/** Removes from a conflict the lines that both sides have. */
function narrowConflict(texts: MergeTexts, region: MergeRegion): MergeRegion[] {
  const { kind, base, ours, theirs } = region;
  if (kind !== "conflict" || ours.start === ours.end || theirs.start === theirs.end) return [region];
  const changes = diffLines(
    linesBytes(texts.ours, ours.start, ours.end),
    linesBytes(texts.theirs, theirs.start, theirs.end),
    MERGE_DIFF,
  );
  if (changes.length === 0) return [{ ...region, kind: "same" }];
  return changes.map(({ oldStart, oldLines, nextStart, nextLines }) => ({
    kind,
    base,
    ours: { start: ours.start + oldStart, end: ours.start + oldStart + oldLines },
    theirs: { start: theirs.start + nextStart, end: theirs.start + nextStart + nextLines },
  }));
}

/** Joins conflicts that follow each other closely. */
function joinConflicts(regions: readonly MergeRegion[]): MergeRegion[] {
  const result: MergeRegion[] = [];
  for (const region of regions) {
    const last = result.at(-1);
    const isClose =
      last?.kind === "conflict" && region.kind === "conflict" && region.ours.start - last.ours.end <= MAX_LINES_BETWEEN;
    if (isClose) result[result.length - 1] = joined(last, region, "conflict");
    else result.push(region);
  }
  return result;
}
