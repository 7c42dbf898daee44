import { GitError } from "./errors.ts";

/** Refuses unknown parameters of a query: a misspelt condition must not be ignored.
 * @param sent the names of the query's parameters
 * @param known the names that the route has
 * @throws GitError "invalid" */
export function checkParameters(sent: Iterable<string>, known: readonly string[]): void {
  for (const field of sent) {
    if (known.includes(field)) continue;
    const reason = known.length === 0 ? "there is none" : `there are ${known.join(", ")}`;
    throw new GitError("invalid", { unknown: field.slice(0, 100), field, reason });
  }
}
