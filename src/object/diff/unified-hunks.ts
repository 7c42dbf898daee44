import { SPACE, toByteString } from "../../base/format/byte-string.ts";
import type { ByteWriter } from "./byte-writer.ts";
import type { LineChange } from "../../base/lines/line-diff.ts";
import { endsInNewline, linesBytes, type TextLines } from "../../base/lines/text-lines.ts";

/** The most bytes of a hunk's heading. */
const MAX_HEADING_BYTES = 80;

/** Well-formed UTF-8 as a byte string: git cuts a heading where it is malformed. */
const UTF8 =
  // oxlint-disable-next-line no-control-regex -- all of ASCII is meant.
  /^(?:[\0-\x7f]|[\xc2-\xdf][\x80-\xbf]|(?:\xe0[\xa0-\xbf]|\xed[\x80-\x9f]|[\xe1-\xec\xee\xef][\x80-\xbf])[\x80-\xbf]|(?:\xf0[\x90-\xbf]|[\xf1-\xf3][\x80-\xbf]|\xf4[\x80-\x8f])[\x80-\xbf]{2})*/;

const MINUS = 0x2d;
const PLUS = 0x2b;

/** Writes the hunks of a patch as git does: changes with the lines around them, headed by the last
 * line before the hunk that looks like the beginning of a function.
 * @param contextLines lines shown around each change */
export function writeHunks(
  into: ByteWriter,
  old: TextLines,
  next: TextLines,
  changes: readonly LineChange[],
  contextLines: number,
): void {
  let heading = "";
  let searched = 0;
  for (let first = 0, behind: number; first < changes.length; first = behind) {
    behind = endOfHunk(changes, first, contextLines);
    const { oldStart, nextStart } = changes[first]!;
    const last = changes[behind - 1]!;
    const oldEnd = Math.min(last.oldStart + last.oldLines + contextLines, old.count);
    const nextEnd = Math.min(last.nextStart + last.nextLines + contextLines, next.count);
    const linesBefore = Math.min(contextLines, oldStart);
    const start = oldStart - linesBefore;
    // Without a new heading between two hunks, the second repeats the first one's.
    heading = findHeading(old, start, searched) ?? heading;
    searched = start;

    const oldSpan = formatSpan(start, oldEnd - start);
    const nextStartLine = nextStart - linesBefore;
    const nextSpan = formatSpan(nextStartLine, nextEnd - nextStartLine);
    into.writeByteString(`@@ -${oldSpan} +${nextSpan} @@${heading === "" ? "" : ` ${heading}`}\n`);
    // Where blanks are ignored, lines that count as equal need not be: the next ones are shown.
    let at = nextStartLine;
    for (let i = first; i < behind; i++) {
      const change = changes[i]!;
      writeLines(into, SPACE, next, at, change.nextStart);
      at = change.nextStart + change.nextLines;
      writeLines(into, MINUS, old, change.oldStart, change.oldStart + change.oldLines);
      writeLines(into, PLUS, next, change.nextStart, at);
    }
    writeLines(into, SPACE, next, at, nextEnd);
  }
}

/** The first change too far from the previous one to share its hunk. */
function endOfHunk(changes: readonly LineChange[], first: number, contextLines: number): number {
  let end = first + 1;
  for (; end < changes.length; end++) {
    const before = changes[end - 1]!;
    if (changes[end]!.oldStart - before.oldStart - before.oldLines > 2 * contextLines) break;
  }
  return end;
}

/** The first line, counted from 1, and the number of lines. An empty span names the line before
 * it. */
function formatSpan(start: number, count: number): string {
  if (count === 0) return `${start},0`;
  return count === 1 ? `${start + 1}` : `${start + 1},${count}`;
}

function writeLines(into: ByteWriter, sign: number, lines: TextLines, start: number, end: number): void {
  if (end <= start) return;
  into.writeLines(sign, linesBytes(lines, start, end), end - start);
  if (!endsInNewline(lines, end - 1)) into.writeByteString("\n\\ No newline at end of file\n");
}

/** The last line from `start` to before `end` that begins like an identifier.
 * @returns byte string */
function findHeading(lines: TextLines, end: number, start: number): string | undefined {
  for (let i = end - 1; i >= start; i--) {
    const line = linesBytes(lines, i, i + 1);
    if (!startsIdentifier(line[0]!)) continue;
    const heading = toByteString(line.subarray(0, MAX_HEADING_BYTES)).replace(/[ \t\r\n]+$/, "");
    return UTF8.exec(heading)![0];
  }
  return undefined;
}

/** A letter, `_` or `$`. */
function startsIdentifier(byte: number): boolean {
  const letter = byte | 0x20;
  return (letter >= 0x61 && letter <= 0x7a) || byte === 0x5f || byte === 0x24;
}
