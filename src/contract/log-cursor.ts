// Where a log continues, as URLs carry it.
import { decodeCursor, encodeCursor, MAX_CURSOR_LENGTH } from "../base/format/cursor.ts";
import { GitError } from "../base/format/errors.ts";
import type { LogPlace } from "./history.ts";

/** @throws GitError "invalid" for a cursor that this server did not give out */
export function decodeLogPlace(cursor: string): LogPlace {
  return decodeCursor(cursor, (value) => {
    const { open, walked, path } = value as Readonly<Record<string, unknown>>;
    if (!isNumbers(open) || open.length === 0 || !isNumbers(walked)) throw new TypeError("it lacks numbers");
    if (path !== null && typeof path !== "string") throw new TypeError("its path is no text");
    return { open: sum(open), walked: sum(walked), path };
  });
}

/** Object numbers are written as the difference from the previous one: neighbours in a history have
 * close numbers.
 * @throws GitError "too-large" when more parallel lines of history are open than fit into a
 * cursor */
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
