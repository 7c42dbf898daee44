import { GitError } from "./errors.ts";

/** Refuses unknown parameters of a query: a misspelt condition must not be ignored.
 * @param sent names of the query's parameters
 * @param known names of the route's parameters
 * @throws GitError "invalid" */
export function checkParameters(sent: Iterable<string>, known: readonly string[]): void {
  for (const field of sent) {
    if (known.includes(field)) continue;
    const reason = known.length === 0 ? "there is none" : `there are ${known.join(", ")}`;
    throw new GitError("invalid", { unknown: field.slice(0, 100), field, reason });
  }
}

/** Refuses a query that has a parameter more than once.
 * @throws GitError "invalid" */
export function checkOnce(query: URLSearchParams): void {
  const field = [...query.keys()].find((name) => query.getAll(name).length > 1);
  if (field === undefined) return;
  throw new GitError("invalid", { what: field, field, reason: "it is there more than once" });
}

/** Whether a number is written as digits. Other forms that JavaScript reads, such as `1.0` and
 * `0x1`, would make several URLs of one answer. */
export function isWholeNumber(text: string): boolean {
  return /^(0|[1-9]\d{0,14})$/.test(text);
}
