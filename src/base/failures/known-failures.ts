import { GitError, isGitError } from "../format/errors.ts";

/** Turns a storage failure with a known cause into a GitError: storage is full or damaged, or a
 * newer release wrote it. Such errors come from an object that was reset, so only the message can
 * be examined.
 * @returns any other value unchanged */
export function explainFailure(thrown: unknown): unknown {
  return whenFull(thrown) ?? whenNewer(thrown) ?? whenDamaged(thrown) ?? thrown;
}

// A lost or truncated database is reported as such: its repository must not look as if it had never
// existed.

/** SQLite's messages about a damaged database. */
const DAMAGED = /SQLITE_(CORRUPT|NOTADB)|malformed|file is not a database/;

/** The runtime's message when it cannot open a database at all; its own log has the reason. */
const UNOPENED = /^internal error; reference/;

/** The message of `damaged-data`. An object that cannot start is reset, and only the message
 * reaches its caller. */
const TOLD = /the (\w[\w' ]*) is lost or damaged: (.*)/s;

/** Finds the GitError for the failure of a damaged database; null for any other error.
 * @param what the stored thing: `repository's database`, `registry's database` */
export function whenUnreadable(error: unknown, what: string): GitError | null {
  if (isGitError(error) || !(error instanceof Error) || !DAMAGED.test(error.message)) return null;
  const reason = `it cannot be read (${error.message}); bring it back from a backup`;
  return new GitError("damaged-data", { what, reason }, { cause: error });
}

/** Finds the GitError for damaged data, from the message alone if need be, and for a database
 * that does not open; null for any other error. */
function whenDamaged(error: unknown): GitError | null {
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

/** Messages of SQLite and the operating system about failed writes, in any error: an object that
 * could not commit is reset, and only the message reaches its caller.
 * @see https://www.sqlite.org/rescode.html#full */
const FULL = /SQLITE_FULL|SQLITE_IOERR|ENOSPC|No space left on device/;

/** Finds the GitError for full storage; null for any other error. */
export function whenFull(error: unknown): GitError | null {
  if (isGitError(error)) return error.code === "storage-full" ? error : null;
  if (!(error instanceof Error) || !FULL.test(error.message)) return null;
  return new GitError("storage-full", {}, { cause: error });
}

// Stored data carries the version of its schema. Data of a newer release is refused and left
// unchanged, because this release would misread it and overwrite fields that it does not know.

/** The message of `newer-data`. An object that refuses to start is reset, and only the message
 * reaches its caller. */
const NEWER = /the (\w[\w ]*) was stored by a newer release \(schema (\d+), and this one knows (\d+)\)/;

/** Refuses data that a newer release stored.
 * @param what the stored thing: `repository`, `registry`, …
 * @param stored version of its schema
 * @param known newest version that this release knows
 * @throws GitError "newer-data" */
export function refuseNewer(what: string, stored: number, known: number): void {
  if (stored > known) throw new GitError("newer-data", { what, stored, known });
}

/** Finds the GitError for data of a newer release; null for any other error. */
function whenNewer(error: unknown): GitError | null {
  if (isGitError(error)) return error.code === "newer-data" ? error : null;
  const found = error instanceof Error ? NEWER.exec(error.message) : null;
  if (found === null) return null;
  const [, what, stored, known] = found;
  return new GitError("newer-data", { what, stored: Number(stored), known: Number(known) }, { cause: error });
}
