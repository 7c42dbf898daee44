// A database that was lost or cut is told as such: its repository must not look as if it had never
// been.
import { GitError, isGitError } from "../format/errors.ts";

/** What SQLite says of a damaged database. */
const DAMAGED = /SQLITE_(CORRUPT|NOTADB)|malformed|file is not a database/;

/** What the runtime says where it cannot open a database at all; its own log has the reason. */
const UNOPENED = /^internal error; reference/;

/** How `damaged-data` reads. An object that cannot start is reset, and only the message reaches its
 * caller. */
const TOLD = /the (\w[\w' ]*) is lost or damaged: (.*)/s;

/** The GitError for what a damaged database failed with; null for any other error.
 * @param what is stored there: `repository's database`, `registry's database` */
export function whenUnreadable(error: unknown, what: string): GitError | null {
  if (isGitError(error) || !(error instanceof Error) || !DAMAGED.test(error.message)) return null;
  const reason = `it cannot be read (${error.message}); bring it back from a backup`;
  return new GitError("damaged-data", { what, reason }, { cause: error });
}

/** The GitError for damaged data, from its message if need be, and for a database that does not
 * open; null for any other error. */
export function whenDamaged(error: unknown): GitError | null {
  if (isGitError(error)) return error.code === "damaged-data" ? error : null;
  if (!(error instanceof Error)) return null;
  if (UNOPENED.test(error.message)) {
    const reason =
      `it does not open (${error.message}): the disk is full, or the database is damaged ` +
      "and must be brought back from a backup; the server's log has more";
    return new GitError("unavailable", { subject: "database", reason }, { cause: error });
  }
  const found = TOLD.exec(error.message);
  if (found === null) return null;
  return new GitError("damaged-data", { what: found[1], reason: found[2] }, { cause: error });
}
