import { GitError } from "../format/errors.ts";
import { STORE_BYTES_PER_SECOND, STORE_WAIT_MS } from "../format/limits.ts";
import { whenFull } from "../failures/known-failures.ts";

/** Runs one bucket operation. Errors name the operation when it fails or takes too long.
 * @param givenBytes bytes that the bucket must receive
 * @param sourceMs time that the bytes may take to arrive, if longer than the bucket's own
 *   limit */
export async function storing<T>(
  key: string,
  operation: string,
  run: () => Promise<T>,
  givenBytes = 0,
  sourceMs = 0,
): Promise<T> {
  const waitMs = STORE_WAIT_MS + Math.max((givenBytes / STORE_BYTES_PER_SECOND) * 1_000, sourceMs);
  try {
    return await inTime(run, waitMs);
  } catch (cause) {
    const reason = `${operation} failed: ${cause instanceof Error ? cause.message : String(cause)}`;
    throw whenFull(cause) ?? new GitError("storage-failed", { key, reason }, { cause });
  }
}

/** Runs a bucket operation that reads a stream of known length; a bucket accepts no other streams.
 * @param put receives the stream, which errors on more or fewer bytes
 * @param sourceMs time that the bytes may take to arrive, if longer than the bucket's own limit
 * @throws GitError as `storing`; then the producer of the bytes is stopped */
export async function storingStream<T>(
  key: string,
  operation: string,
  bytes: ReadableStream<Uint8Array>,
  length: number,
  put: (readable: ReadableStream<Uint8Array>) => Promise<T>,
  sourceMs = 0,
): Promise<T> {
  const { readable, writable } = new FixedLengthStream(length);
  const given = new AbortController();
  try {
    const run = (): Promise<[T, unknown]> => Promise.all([put(readable), bytes.pipeTo(writable, given)]);
    const [stored] = await storing(key, operation, run, length, sourceMs);
    return stored;
  } catch (error) {
    given.abort(error);
    throw error;
  }
}

/** Runs an operation that may never end, such as a write to a full disk, and waits no longer than
 * allowed. The operation is not stopped; a late result is ignored.
 * @throws GitError "storage-full" on a timeout */
async function inTime<T>(run: () => Promise<T>, waitMs: number): Promise<T> {
  const { promise: over, reject } = Promise.withResolvers<never>();
  const reason = `no answer within ${Math.round(waitMs / 1_000)} seconds`;
  const timer = setTimeout(() => reject(new GitError("storage-full", { reason })), waitMs);
  try {
    const running = run();
    // Ignores a late failure: nothing listens for it any more.
    running.catch(() => {});
    return await Promise.race([running, over]);
  } finally {
    clearTimeout(timer);
  }
}
