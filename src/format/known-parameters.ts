import { GitError } from "./errors.ts";

/** Refuses parameters of a query that there are not: a misspelt condition must not count as none.
 * @param sent the names in a query
 * @param known those that there are
 * @throws GitError "invalid" */
export function checkParameters(sent: Iterable<string>, known: readonly string[]): void {
  for (const field of sent) {
    if (known.includes(field)) continue;
    const reason = known.length === 0 ? "there is none" : `there are ${known.join(", ")}`;
    throw new GitError("invalid", { unknown: field.slice(0, 100), field, reason });
  }
}
