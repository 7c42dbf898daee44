import { GitError } from "../../../base/format/errors.ts";
import { checkOnce, checkParameters, isWholeNumber } from "../../../base/format/known-parameters.ts";

/** Default maximum of a number in a query. */
const MOST = 9_999_999;

/** Refuses a query with unknown or repeated parameters.
 * @throws GitError "invalid" */
export function checkQuery(query: URLSearchParams, known: readonly string[]): void {
  checkParameters(query.keys(), known);
  checkOnce(query);
}

/** Reads a number in a query; null: absent.
 * @throws GitError "invalid" */
export function readNumber(query: URLSearchParams, field: string, least = 0, most = MOST): number | null {
  const text = query.get(field);
  if (text === null) return null;
  const number = isWholeNumber(text) ? Number(text) : -1;
  if (number >= least && number <= most) return number;
  const reason = `it must be a number from ${least} to ${most}`;
  throw new GitError("invalid", { what: field, actual: text.slice(0, 100), field, reason });
}

/** Whether a parameter with a single possible value is present.
 * @throws GitError "invalid" */
export function readFlag(query: URLSearchParams, field: string, value: string): boolean {
  const text = query.get(field);
  if (text === null || text === value) return text !== null;
  throw new GitError("invalid", { what: field, actual: text.slice(0, 100), field, reason: `it must be ${value}` });
}
