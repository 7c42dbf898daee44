import { GitError, isGitError } from "../format/errors.ts";

/** Messages of SQLite and the operating system when they cannot write, in any error: an object that
 * could not commit is reset, and only the message reaches its caller.
 * @see https://www.sqlite.org/rescode.html#full */
const FULL = /SQLITE_FULL|SQLITE_IOERR|ENOSPC|No space left on device/;

/** The GitError for full storage; null for any other error. */
export function whenFull(error: unknown): GitError | null {
  if (isGitError(error)) return error.code === "storage-full" ? error : null;
  if (!(error instanceof Error) || !FULL.test(error.message)) return null;
  return new GitError("storage-full", {}, { cause: error });
}
