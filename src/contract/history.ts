import { decodeCursor, encodeCursor, MAX_CURSOR_LENGTH } from "../base/format/cursor.ts";
import type { ObjectNumber } from "../base/numbers/kinds.ts";
import type { CommitRecord } from "./commits.ts";
import { GitError } from "../base/format/errors.ts";

/** A request for a blame. */
export interface BlameQuery {
  /** Id in hex of a commit that a ref reaches. */
  readonly commit: string;
  /** Byte string. */
  readonly path: string;
  /** First and last line, from 1; null: all lines. */
  readonly lines: readonly [first: number, last: number] | null;
}

/** Consecutive lines that one commit introduced. */
export interface BlameRange {
  /** First line; line numbers start at 1 throughout. */
  readonly start: number;
  readonly count: number;
  /** null: not found yet. */
  readonly commit: string | null;
  /** Number of the first line in that commit. */
  readonly originalStart: number;
  /** The file's path in that commit, byte string. */
  readonly originalPath: string;
}

/** The origin of a file's lines. */
export interface BlameResult {
  readonly commit: string;
  /** Byte string. */
  readonly path: string;
  /** The id of the file's blob. */
  readonly oid: string;
  readonly ranges: BlameRange[];
  /** The commits in `ranges`, newest first. */
  readonly commits: CommitRecord[];
  /** Whether another request finds more. */
  readonly truncated: boolean;
}

/** A search for text in commits. */
export interface WantedTexts {
  /** Text to find in the author's `name <email>`; null: any author. */
  readonly author: string | null;
  /** Text to find in the message; null: any message. */
  readonly text: string | null;
  /** Whether case is ignored. */
  readonly ignoreCase: boolean;
}

/** The relation of two commits; ids in hex. */
export interface Comparison {
  readonly base: string;
  readonly head: string;
  /** The best common ancestor, the newest if there are several; null: none. */
  readonly mergeBase: string | null;
  /** Number of commits that head reaches and base does not. */
  readonly ahead: number;
  /** Number of commits that base reaches and head does not. */
  readonly behind: number;
}

/** The order in which a walk visits commits. */
export type WalkOrder =
  /** As `git log`: the newest commit first; of commits with the same second, the one queued
   * first. A parent may come before a child. */
  | "dates"
  /** As `git log --date-order`: a commit counts as new as the newest commit that it reaches, and
   * no commit comes before its children. */
  | "children first";

/** The state of a walk, complete enough for another walk to continue it. Holds object numbers,
 * which never change. */
export interface WalkPlace {
  /** Queue of commits that were met but not visited, in order. */
  readonly open: readonly ObjectNumber[];
  /** Visited commits that an unvisited one reaches. There are some where clocks were wrong or
   * equal. */
  readonly walked: readonly ObjectNumber[];
}

/** A filter of a history's commits. */
export interface LogFilter extends WantedTexts {
  /** Byte string: only commits that change this path. */
  readonly path: string | null;
  /** Seconds since 1970. Ancestors of an older commit are not visited either. */
  readonly since: number | null;
  /** Seconds since 1970. */
  readonly until: number | null;
  /** Default: as `git log`. */
  readonly order?: WalkOrder;
  /** Whether only the first parent of a merge is followed. */
  readonly firstParent: boolean;
  /** Whether the file at the path is followed across renames, through a history that is not
   * simplified. */
  readonly follow: boolean;
}

/** The state of a log. */
export interface LogPlace extends WalkPlace {
  /** Byte string: the followed file's name at this point; null: no file is followed. */
  readonly path: string | null;
}

/** A request for a log. */
export interface LogQuery extends LogFilter {
  /** The start of the first page: byte string, a revision. */
  readonly ref: string;
  /** The start of this page; null: at `ref`. */
  readonly place: LogPlace | null;
  readonly limit: number;
}

/** A commit of a history. */
export interface LogEntry extends CommitRecord {
  /** Byte string: the followed file's name in this commit; null: no file is followed. */
  readonly path: string | null;
}

/** A page of a history. */
export interface LogPage {
  readonly commits: LogEntry[];
  /** The start of the next page; null: this is the last. */
  readonly next: LogPlace | null;
}

/** @throws GitError "invalid" for a cursor that this server did not give out */
export function decodeLogPlace(cursor: string): LogPlace {
  return decodeCursor(cursor, (value) => {
    const { open, walked, path } = value as Readonly<Record<string, unknown>>;
    if (!isNumbers(open) || open.length === 0 || !isNumbers(walked)) throw new TypeError("it lacks numbers");
    if (path !== null && typeof path !== "string") throw new TypeError("its path is no text");
    return { open: sum(open), walked: sum(walked), path };
  });
}

/** Writes each object number as the difference from the previous one: neighbours in a history have
 * close numbers.
 * @throws GitError "too-large" when more parallel lines of history are open than fit into a
 *   cursor */
export function encodeLogPlace({ open, walked, path }: LogPlace): string {
  const cursor = encodeCursor({ open: differences(open), walked: differences(walked), path });
  if (cursor.length > MAX_CURSOR_LENGTH) {
    throw new GitError("too-large", {
      what: "the number of lines of history",
      limit: "what fits into a cursor",
      actual: open.length,
    });
  }
  return cursor;
}

function isNumbers(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((one) => Number.isSafeInteger(one));
}

function differences(numbers: readonly number[]): number[] {
  return numbers.map((number, i) => number - (numbers[i - 1] ?? 0));
}

function sum(steps: readonly number[]): number[] {
  let at = 0;
  return steps.map((step) => (at += step));
}
