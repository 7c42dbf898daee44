import { CR, LF, SPACE } from "../format/byte-string.ts";
import type { TextLines } from "./text-lines.ts";

// Chooses the best place for a group of changed lines that can slide. "diff: improve positioning of
// add/delete blocks in diffs" (git 2.11) scores a split of the text by blank lines and indentation.
// The weights are git's, fitted there to diffs rated by hand.

const START_OF_FILE_PENALTY = 1;
const END_OF_FILE_PENALTY = 21;
const BLANK_LINE_BONUS = 30;
const BLANK_LINE_BEHIND_PENALTY = 6;
/** Penalty by the indentation of the split line relative to the one before: [without, with blank
 * lines around]. */
const INDENT_PENALTY = [-4, 10] as const;
const OUTDENT_PENALTY = [24, 17] as const;
const DEDENT_PENALTY = [23, 17] as const;
/** Points that one step of indentation outweighs. */
const INDENT_WEIGHT = 60;

/** Limit of the columns that indentation counts as. */
const MAX_INDENT = 200;
/** Limit of the blank lines that count. */
const MAX_BLANKS = 20;
const TAB_COLUMNS = 8;
/** The indentation of a blank line, and of positions outside the file. */
const NO_INDENT = -1;

/** Score for how badly a change would read if it began or ended at a line. Scores can be added
 * and compared. */
export interface SplitScore {
  readonly indent: number;
  readonly penalty: number;
}

/** Scores a group of changed lines by its two ends.
 * @param start its first line
 * @param end line after its last */
export function scoreGroup(lines: TextLines, start: number, end: number): SplitScore {
  const first = scoreSplit(lines, start);
  const second = scoreSplit(lines, end);
  return { indent: first.indent + second.indent, penalty: first.penalty + second.penalty };
}

/** Whether a score is no worse than another. */
export function isNoWorse(score: SplitScore, other: SplitScore): boolean {
  return INDENT_WEIGHT * Math.sign(score.indent - other.indent) + score.penalty - other.penalty <= 0;
}

/** Scores a split before a line. */
function scoreSplit(lines: TextLines, split: number): SplitScore {
  const ownIndent = split < lines.count ? indentOf(lines, split) : NO_INDENT;
  const before = lookFrom(lines, split, -1);
  const behind = lookFrom(lines, split, 1);
  const blanksBehind = ownIndent === NO_INDENT ? 1 + behind.blanks : 0;
  const blanks = before.blanks + blanksBehind;
  const indent = ownIndent === NO_INDENT ? behind.indent : ownIndent;

  let penalty = BLANK_LINE_BEHIND_PENALTY * blanksBehind - BLANK_LINE_BONUS * blanks;
  if (before.indent === NO_INDENT && before.blanks === 0) penalty += START_OF_FILE_PENALTY;
  if (split >= lines.count) penalty += END_OF_FILE_PENALTY;
  const withBlanks = blanks === 0 ? 0 : 1;
  if (indent === NO_INDENT || before.indent === NO_INDENT || indent === before.indent) return { indent, penalty };
  if (indent > before.indent) penalty += INDENT_PENALTY[withBlanks];
  else if (behind.indent > indent) penalty += OUTDENT_PENALTY[withBlanks];
  else penalty += DEDENT_PENALTY[withBlanks];
  return { indent, penalty };
}

/** The blank lines next to a line in one direction, and the indentation of the first line that is
 * not blank. */
function lookFrom(lines: TextLines, line: number, step: 1 | -1): { blanks: number; indent: number } {
  let blanks = 0;
  for (let i = line + step; i >= 0 && i < lines.count; i += step) {
    const indent = indentOf(lines, i);
    if (indent !== NO_INDENT) return { blanks, indent };
    if (++blanks === MAX_BLANKS) return { blanks, indent: 0 };
  }
  return { blanks, indent: NO_INDENT };
}

/** The columns before a line's text. */
function indentOf(lines: TextLines, line: number): number {
  const end = lines.starts[line + 1]!;
  let columns = 0;
  for (let at = lines.starts[line]!; at < end; at++) {
    const byte = lines.bytes[at]!;
    if (byte === SPACE) columns++;
    else if (byte === 0x09) columns += TAB_COLUMNS - (columns % TAB_COLUMNS);
    else if (byte !== LF && byte !== CR) return columns;
    if (columns >= MAX_INDENT) return MAX_INDENT;
  }
  return NO_INDENT;
}
