import { GitError } from "../../format/errors.ts";

/** Runs something that may never end, as what is written to a disk without space, and waits for it no longer than it may take. Nothing ends
 * it: what comes of it later is nobody's.
 * @throws GitError "storage-full" when its time is over */
export async function inTime<T>(run: () => Promise<T>, waitMs: number): Promise<T> {
  const { promise: over, reject } = Promise.withResolvers<never>();
  const reason = `no answer within ${Math.round(waitMs / 1_000)} seconds`;
  const timer = setTimeout(() => reject(new GitError("storage-full", { reason })), waitMs);
  try {
    const running = run();
    // If it is late, nobody listens any more.
    running.catch(() => {});
    return await Promise.race([running, over]);
  } finally {
    clearTimeout(timer);
  }
}
