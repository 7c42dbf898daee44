import { isGitError } from "../../base/format/errors.ts";
import { isBinary } from "../../base/lines/text-lines.ts";
import { pause } from "../../base/pacing/time-slice.ts";
import type { LinePattern } from "./line-pattern.ts";
import { type PlannedFile, readWhole } from "./planned-files.ts";
import { readLine, readWindows, skipLines, skipLinesBack } from "./text-windows.ts";

/** Size of the largest file that is searched, in bytes. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;

/** Work limits of one request: bytes, files and steps of the pattern, about a second in all. Beyond
 * them the response says where to continue. The clock ends a search only where the store is slow,
 * so that its result does not depend on the machine's load. */
const MAX_BYTES = 32 * 1024 * 1024;
const MAX_FILES = 10_000;
const MAX_STEPS = 20_000_000;
const LONGEST_MS = 10_000;

/** Characters of a line that are searched, and characters that are shown. */
const MAX_LINE_CHARS = 256 * 1024;
const SHOWN_CHARS = 1_000;

/** Steps of the pattern between pauses for other requests: 100 ms for the worst pattern. */
const SLICE_STEPS = 2_000_000;

/** A line with a match. */
export interface GrepMatch {
  /** Byte string. */
  readonly path: string;
  /** Id of the file, hex. */
  readonly oid: string;
  /** From 1. */
  readonly line: number;
  /** Start of the first match, from 1, in UTF-16 units. */
  readonly column: number;
  /** Cut at `SHOWN_CHARS`. */
  readonly text: string;
  /** Lines before and after the match. */
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** The place where a search continues. */
export interface GrepPlace {
  /** Byte string: the last file that was searched completely; "": none. */
  readonly after: string;
  /** Number of lines already searched in the file that follows `after`; 0: none. */
  readonly line: number;
}

/** The result of a search. */
export interface GrepResult {
  readonly matches: GrepMatch[];
  /** The place to continue at; null: everything was searched. */
  readonly next: GrepPlace | null;
  readonly searched: { files: number; bytes: number };
  /** Byte strings: paths of files too large to search. */
  readonly skipped: string[];
}

/** Searches files line by line, without binary ones, until all are searched, enough matches are
 * found, or the work limit is reached.
 * @param from where the previous search ended; `files` are those after it
 * @param context lines shown before and after a match
 * @throws GitError as reading the first of `files`, "storage-failed"
 * @see git-grep(1) -n --column -I */
export async function grepFiles(
  files: AsyncIterable<PlannedFile>,
  pattern: LinePattern,
  { from, context, limit }: { from: GrepPlace; context: number; limit: number },
): Promise<GrepResult> {
  const endMs = Date.now() + LONGEST_MS;
  const endSteps = pattern.steps + MAX_STEPS;
  const result = { matches: [] as GrepMatch[], searched: { files: 0, bytes: 0 }, skipped: [] as string[] };
  let place = from;
  const searchAll = async (): Promise<GrepPlace | null> => {
    for await (const file of files) {
      const { path, sizeBytes } = file;
      if (sizeBytes > MAX_FILE_BYTES) result.skipped.push(path);
      else {
        const { searched } = result;
        const isSpent =
          searched.bytes > MAX_BYTES || searched.files === MAX_FILES || pattern.steps >= endSteps || Date.now() > endMs;
        // Each response must make progress.
        if (isSpent && searched.files > 0) return place;
        const content = await readWhole(file);
        result.searched.files += 1;
        result.searched.bytes += content.length;
        if (!isBinary(content)) {
          const until = await searchLines(content, pattern, place.line, endSteps, (line, at, column) => {
            result.matches.push(showMatch(file, content, { line, at, column }, context));
            return result.matches.length < limit;
          });
          if (until !== null) return { after: place.after, line: until };
          if (result.matches.length === limit) return { after: path, line: 0 };
        }
      }
      place = { after: path, line: 0 };
    }
    return null;
  };
  try {
    return { ...result, next: await searchAll() };
  } catch (error) {
    // If a limit was hit after the first file, the response returns the matches so far; the next
    // request then reports the error.
    if (!isGitError(error, "too-large") || result.searched.files === 0) throw error;
    return { ...result, next: place };
  }
}

/** @param done lines that are already searched
 * @param found called for each match with the line's index, its offset in bytes and the match's
 * column; returns whether to continue
 * @returns the number of searched lines; null: all */
async function searchLines(
  content: Uint8Array,
  pattern: LinePattern,
  done: number,
  endSteps: number,
  found: (line: number, at: number, column: number) => boolean,
): Promise<number | null> {
  let sliceEnd = pattern.steps + SLICE_STEPS;
  for (const { lines, first, start, end } of readWindows(content, done)) {
    // Index and offset of the last match in the window; at first those of the window's first line.
    let [known, at] = [0, start];
    for (const [i, line] of lines.entries()) {
      const column = pattern.find(line.length > MAX_LINE_CHARS ? line.slice(0, MAX_LINE_CHARS) : line);
      const isLast = i === lines.length - 1 && end === content.length;
      if (column >= 0) {
        at = skipLines(content, at, i - known);
        known = i;
        if (!found(first + i, at, column)) return isLast ? null : first + i + 1;
      }
      if (pattern.steps < sliceEnd) continue;
      sliceEnd = pattern.steps + SLICE_STEPS;
      await pause();
      if (pattern.steps >= endSteps && !isLast) return first + i + 1;
    }
  }
  return null;
}

function showMatch(
  { path, oid }: PlannedFile,
  content: Uint8Array,
  { line, at, column }: { line: number; at: number; column: number },
  context: number,
): GrepMatch {
  const shown = (from: number, count: number): string[] => {
    const lines: string[] = [];
    for (let next = from; lines.length < count && next < content.length; next = skipLines(content, next, 1)) {
      lines.push(readLine(content, next, SHOWN_CHARS));
    }
    return lines;
  };
  const before = Math.min(line, context);
  return {
    path,
    oid,
    line: line + 1,
    column: column + 1,
    text: readLine(content, at, SHOWN_CHARS),
    before: shown(skipLinesBack(content, at, before), before),
    after: shown(skipLines(content, at, 1), context),
  };
}
