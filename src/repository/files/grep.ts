import { isGitError } from "../../format/errors.ts";
import { CALL_MS } from "../../format/limits.ts";
import { isBinary } from "../diff/binary-patch.ts";
import type { LinePattern } from "./line-pattern.ts";
import { type PlannedFile, readWhole } from "./planned-files.ts";

/** Bytes of a file up to which it is searched. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;

/** Bytes and files that are searched for one request: then the answer tells where to go on. The clock stands still while code runs, and
 * small files that are at hand give it no time. */
const MAX_BYTES = 32 * 1024 * 1024;
const MAX_FILES = 10_000;

/** Characters of a line that are searched, and of one that are shown. */
const MAX_LINE_CHARS = 256 * 1024;
const SHOWN_CHARS = 1_000;

/** Steps of the pattern between two looks at the clock, which stands still while code runs: 100 ms of the worst pattern. */
const SLICE_STEPS = 2_000_000;

/** A line with a match. */
export interface GrepMatch {
  /** Byte string. */
  readonly path: string;
  /** Of the file, hex. */
  readonly oid: string;
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 units: where the first match begins. */
  readonly column: number;
  /** Lines are cut at `SHOWN_CHARS`. */
  readonly text: string;
  /** Lines before and behind it. */
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** Where a search goes on. */
export interface GrepPlace {
  /** Byte string: the last file that was searched to its end, "" for none. */
  readonly after: string;
  /** Of the file behind it, the last line that was searched; 0 for none. */
  readonly line: number;
}

/** What was found. */
export interface GrepResult {
  readonly matches: GrepMatch[];
  /** Where to go on, null: everything was searched. */
  readonly next: GrepPlace | null;
  readonly searched: { files: number; bytes: number };
  /** Files that were left out because they are too large: byte strings. */
  readonly skipped: string[];
}

/** Searches files line by line, binary ones left out, until all are searched, or there are matches, or work, enough.
 * @param from where the search before this one ended; the files are those behind it
 * @param context lines before and behind a match that are shown with it
 * @throws GitError as finding the first file does, "storage-failed"
 * @see git-grep(1) -n --column -I */
export async function grepFiles(
  files: AsyncIterable<PlannedFile>,
  pattern: LinePattern,
  { from, context, limit }: { from: GrepPlace; context: number; limit: number },
): Promise<GrepResult> {
  const endMs = Date.now() + CALL_MS;
  const result = { matches: [] as GrepMatch[], searched: { files: 0, bytes: 0 }, skipped: [] as string[] };
  let place = from;
  const searchAll = async (): Promise<GrepPlace | null> => {
    for await (const file of files) {
      const { path, sizeBytes } = file;
      if (sizeBytes > MAX_FILE_BYTES) result.skipped.push(path);
      else {
        const { searched } = result;
        const isSpent = searched.bytes > MAX_BYTES || searched.files === MAX_FILES || Date.now() > endMs;
        // Each answer gets further.
        if (isSpent && searched.files > 0) return place;
        const content = await readWhole(file);
        result.searched.files += 1;
        result.searched.bytes += content.length;
        if (!isBinary(content)) {
          const lines = splitLines(content);
          const until = await searchLines(lines, pattern, place.line, endMs, (line, column) => {
            result.matches.push(showMatch(file, lines, line, column, context));
            return result.matches.length < limit;
          });
          if (until < lines.length) return { after: place.after, line: until };
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
    // Where what comes next is too much, the next answer says so.
    if (!isGitError(error, "too-large") || result.searched.files === 0) throw error;
    return { ...result, next: place };
  }
}

/** @param done lines that are not searched again
 * @param found told each match by the line's index, and the column; returns whether to go on
 * @returns how many lines are done */
async function searchLines(
  lines: readonly string[],
  pattern: LinePattern,
  done: number,
  endMs: number,
  found: (line: number, column: number) => boolean,
): Promise<number> {
  let sliceEnd = pattern.steps + SLICE_STEPS;
  for (let i = done; i < lines.length; i++) {
    const line = lines[i]!;
    const column = pattern.find(line.length > MAX_LINE_CHARS ? line.slice(0, MAX_LINE_CHARS) : line);
    if (column >= 0 && !found(i, column)) return i + 1;
    if (pattern.steps < sliceEnd) continue;
    sliceEnd = pattern.steps + SLICE_STEPS;
    await new Promise((resolve) => setTimeout(resolve, 0));
    if (Date.now() > endMs) return i + 1;
  }
  return lines.length;
}

function showMatch(
  { path, oid }: PlannedFile,
  lines: readonly string[],
  line: number,
  column: number,
  context: number,
): GrepMatch {
  const shown = (start: number, end: number): string[] =>
    lines.slice(start, end).map((one) => one.slice(0, SHOWN_CHARS));
  return {
    path,
    oid,
    line: line + 1,
    column: column + 1,
    text: lines[line]!.slice(0, SHOWN_CHARS),
    before: shown(Math.max(0, line - context), line),
    after: shown(line + 1, line + 1 + context),
  };
}

/** Lines without their ends; what is no UTF-8 is U+FFFD. */
function splitLines(content: Uint8Array): string[] {
  const lines = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true }).decode(content).split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
