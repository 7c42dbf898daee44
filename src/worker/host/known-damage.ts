// The repositories whose databases this isolate has found damaged, for `/healthz`.
import { isGitError } from "../../base/format/errors.ts";
import { explainFailure } from "../../base/failures/known-failures.ts";

/** Maximum number of remembered repositories. */
const MAX_DAMAGED = 1_000;

const damaged = new Set<string>();

/** Counts the repositories known to be damaged. */
export function countDamaged(): number {
  return damaged.size;
}

/** Runs a call to a repository's object, and remembers whether its database is damaged.
 * @param id of the repository */
export async function watchingDamage<T>(id: string, ask: () => Promise<T>): Promise<T> {
  try {
    const answer = await ask();
    damaged.delete(id);
    return answer;
  } catch (thrown) {
    const error = explainFailure(thrown);
    const isUnopened = isGitError(error, "unavailable") && error.data.subject === "database";
    if ((isUnopened || isGitError(error, "damaged-data")) && damaged.size < MAX_DAMAGED) damaged.add(id);
    throw error;
  }
}
