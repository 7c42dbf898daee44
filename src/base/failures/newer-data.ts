// What is stored tells the version of its shape. What a newer release wrote is refused, and left as
// it is: this one would misread it, and write over what it does not know.
import { GitError, isGitError } from "../format/errors.ts";

/** How `newer-data` reads. An object that refuses to start is reset, and only the message reaches
 * its caller. */
const NEWER = /the (\w[\w ]*) was stored by a newer release \(schema (\d+), and this one knows (\d+)\)/;

/** Refuses what a newer release stored.
 * @param what is stored: `repository`, `registry`, …
 * @param stored version of its shape
 * @param known newest version that this release knows
 * @throws GitError "newer-data" */
export function refuseNewer(what: string, stored: number, known: number): void {
  if (stored > known) throw new GitError("newer-data", { what, stored, known });
}

/** The GitError for data of a newer release; null for any other error. */
export function whenNewer(error: unknown): GitError | null {
  if (isGitError(error)) return error.code === "newer-data" ? error : null;
  const found = error instanceof Error ? NEWER.exec(error.message) : null;
  if (found === null) return null;
  const [, what, stored, known] = found;
  return new GitError("newer-data", { what, stored: Number(stored), known: Number(known) }, { cause: error });
}
