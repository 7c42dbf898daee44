// Reads the lines of a large text in windows: strings of all its lines would take more than ten
// times its bytes.
import { LF } from "../../base/format/byte-string.ts";

/** Bytes of lines decoded together; a longer first line makes the window longer. */
const WINDOW_BYTES = 256 * 1024;

/** Bytes decoded of a line that is longer. */
const MAX_LINE_BYTES = 1024 * 1024;

/** Consecutive lines of a text. */
interface TextWindow {
  /** Index of the first line in the text. */
  readonly first: number;
  /** Without line ends; invalid UTF-8 becomes U+FFFD. */
  readonly lines: readonly string[];
  /** Range of the lines in the text, bytes. */
  readonly start: number;
  readonly end: number;
}

const UTF_8 = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });

/** Decodes a text window by window.
 * @param from number of lines before the first window */
export function* readWindows(text: Uint8Array, from: number): Generator<TextWindow, void, void> {
  let start = skipLines(text, 0, from);
  for (let first = from; start < text.length;) {
    const end = windowEnd(text, start);
    const bytes = text.subarray(start, Math.min(end, start + MAX_LINE_BYTES));
    const lines = UTF_8.decode(bytes).split("\n");
    if (text[end - 1] === LF && end - start === bytes.length) lines.pop();
    yield { first, lines, start, end };
    first += lines.length;
    start = end;
  }
}

/** Skips lines forward. @returns the offset after `count` more lines, or the end of the text */
export function skipLines(text: Uint8Array, from: number, count: number): number {
  let at = from;
  for (let left = count; left > 0 && at < text.length; left--) at = lineEnd(text, at);
  return at;
}

/** Skips lines backward. @returns the offset of the line `count` lines before the one at `from`, or
 * 0 */
export function skipLinesBack(text: Uint8Array, from: number, count: number): number {
  let at = from;
  for (let left = count; left > 0 && at > 0; left--) at = at === 1 ? 0 : text.lastIndexOf(LF, at - 2) + 1;
  return at;
}

/** Decodes the beginning of the line at `at` into a string of its own: a slice of a longer string
 * would keep all of that in memory. */
export function readLine(text: Uint8Array, at: number, chars: number): string {
  const end = lineEnd(text, at);
  const bytes = text.subarray(at, text[end - 1] === LF ? end - 1 : end);
  // A UTF-16 unit has at most three bytes.
  return UTF_8.decode(bytes.subarray(0, 3 * chars + 3)).slice(0, chars);
}

function lineEnd(text: Uint8Array, at: number): number {
  const newline = text.indexOf(LF, at);
  return newline < 0 ? text.length : newline + 1;
}

function windowEnd(text: Uint8Array, start: number): number {
  const full = start + WINDOW_BYTES;
  if (full >= text.length) return text.length;
  const last = text.lastIndexOf(LF, full - 1);
  return last < start ? lineEnd(text, full) : last + 1;
}
