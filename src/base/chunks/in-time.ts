import { GitError } from "../format/errors.ts";

/** Runs an operation that may never end, such as a write to a full disk, and waits for it no longer
 * than allowed. The operation is not stopped; a late result is ignored.
 * @throws GitError "storage-full" when the time is over */
export async function inTime<T>(run: () => Promise<T>, waitMs: number): Promise<T> {
  const { promise: over, reject } = Promise.withResolvers<never>();
  const reason = `no answer within ${Math.round(waitMs / 1_000)} seconds`;
  const timer = setTimeout(() => reject(new GitError("storage-full", { reason })), waitMs);
  try {
    const running = run();
    // A late failure has no listener any more.
    running.catch(() => {});
    return await Promise.race([running, over]);
  } finally {
    clearTimeout(timer);
  }
}
