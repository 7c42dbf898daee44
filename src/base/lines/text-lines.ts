import { CR, LF, SPACE } from "../format/byte-string.ts";

/** A text as lines. A line includes its LF. The last line may lack it, and then differs from the
 * same line with LF. An empty text has no lines. */
export interface TextLines {
  readonly bytes: Uint8Array;
  readonly count: number;
  /** Line `i` is the bytes from `starts[i]` to `starts[i + 1]`; there are at least `count + 1`
   * entries. */
  readonly starts: Uint32Array;
}

/** Splits a text after each LF. */
export function splitLines(bytes: Uint8Array): TextLines {
  let starts = new Uint32Array((bytes.length >>> 4) + 2);
  let count = 0;
  const end = (at: number): void => {
    if (++count === starts.length) {
      const larger = new Uint32Array(starts.length * 2);
      larger.set(starts);
      starts = larger;
    }
    starts[count] = at;
  };
  // Uses a plain loop: lines are short, and each call of indexOf costs as much as a look at a
  // hundred bytes.
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === LF) end(at + 1);
  if (starts[count] !== bytes.length) end(bytes.length);
  return { bytes, count, starts };
}

/** Takes the bytes of some lines, without copying.
 * @param start the first line
 * @param end the line after the last */
export function linesBytes(lines: TextLines, start: number, end: number): Uint8Array {
  return lines.bytes.subarray(lines.starts[start], lines.starts[end]);
}

/** Whether line `i` ends in LF. */
export function endsInNewline(lines: TextLines, i: number): boolean {
  return lines.bytes[lines.starts[i + 1]! - 1] === LF;
}

/** Whitespace for `git diff -w`: space, tab, LF and CR.
 * @see git's ctype.c: isspace() */
const BLANKS: ReadonlySet<number> = new Set([SPACE, 0x09, LF, CR]);

/** Copies the lines without their whitespace. */
export function withoutBlanks({ bytes, count, starts }: TextLines): TextLines {
  const kept = new Uint8Array(bytes.length);
  const keptStarts = new Uint32Array(count + 1);
  let end = 0;
  for (let i = 0; i < count; i++) {
    for (let at = starts[i]!; at < starts[i + 1]!; at++) if (!BLANKS.has(bytes[at]!)) kept[end++] = bytes[at]!;
    keptStarts[i + 1] = end;
  }
  return { bytes: kept.subarray(0, end), count, starts: keptStarts };
}

/** Size of the blocks in which git compares tails, in bytes. */
const TAIL_BLOCK_BYTES = 1024;

/** Cuts off most of the common end of both texts, as git does before a diff without context
 * lines (`git diff -U0`, `git blame`). Only whole lines are cut, so line numbers stay. */
export function trimCommonTail(old: TextLines, next: TextLines): [TextLines, TextLines] {
  const cutBytes = commonTailBytes(old.bytes, next.bytes);
  if (cutBytes === 0) return [old, next];
  return [linesUpTo(old, old.bytes.length - cutBytes), linesUpTo(next, next.bytes.length - cutBytes)];
}

/** Counts the bytes of the common tail that `trimCommonTail` cuts off. */
function commonTailBytes(a: Uint8Array, b: Uint8Array): number {
  return wholeLinesOfTail(a, equalTailBytes(a, b, Math.min(a.length, b.length)));
}

/** Counts the bytes of a common tail that git cuts off.
 * @param common bytes of the whole common tail */
export function wholeLinesOfTail(bytes: Uint8Array, common: number): number {
  const trimmed = common - (common % TAIL_BLOCK_BYTES);
  // Keeps the first line of the cut blocks, which may begin before them.
  const newline = bytes.subarray(bytes.length - trimmed).indexOf(LF);
  return newline === -1 ? 0 : trimmed - newline - 1;
}

/** Counts the equal bytes at the beginning of two texts. */
export function equalHeadBytes(a: Uint8Array, b: Uint8Array): number {
  const limit = Math.min(a.length, b.length);
  const [words, others] = [viewOf(a), viewOf(b)];
  let at = 0;
  // Compares eight bytes at a time: most of two versions is the same.
  while (at + 8 <= limit && words.getBigInt64(at) === others.getBigInt64(at)) at += 8;
  while (at < limit && a[at] === b[at]) at++;
  return at;
}

/** Counts the equal bytes at the end of two texts, up to `limit`. */
export function equalTailBytes(a: Uint8Array, b: Uint8Array, limit: number): number {
  const [words, others] = [viewOf(a), viewOf(b)];
  let count = 0;
  const [end, otherEnd] = [a.length - 8, b.length - 8];
  while (count + 8 <= limit && words.getBigInt64(end - count) === others.getBigInt64(otherEnd - count)) count += 8;
  while (count < limit && a[a.length - 1 - count] === b[b.length - 1 - count]) count++;
  return count;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** Takes the lines that begin before an offset, which is a line's beginning. */
export function linesUpTo(lines: TextLines, end: number): TextLines {
  let low = 0;
  let high = lines.count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (lines.starts[middle]! < end) low = middle + 1;
    else high = middle;
  }
  return { bytes: lines.bytes, starts: lines.starts, count: low };
}

/** Number of bytes that git searches for a NUL. */
const SNIFFED_BYTES = 8_000;

/** Whether git treats a content as binary: it has a NUL near its beginning. */
export function isBinary(content: Uint8Array): boolean {
  return content.subarray(0, SNIFFED_BYTES).includes(0);
}
