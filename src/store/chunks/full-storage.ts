import { GitError, isGitError } from "../../format/errors.ts";

/** What SQLite and the operating system say when they cannot write, in whatever error it comes: an object that could not commit is
 * reset, and only the words reach who asked it.
 * @see https://www.sqlite.org/rescode.html#full */
const FULL = /SQLITE_FULL|SQLITE_IOERR|ENOSPC|No space left on device/;

/** The failure of a storage that is full; null: an error is something else. */
export function whenFull(error: unknown): GitError | null {
  if (isGitError(error)) return error.code === "storage-full" ? error : null;
  if (!(error instanceof Error) || !FULL.test(error.message)) return null;
  return new GitError("storage-full", {}, { cause: error });
}
