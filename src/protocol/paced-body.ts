import { GitError } from "../format/errors.ts";
import { BODY_WAIT_MS, MIN_BODY_BYTES } from "../format/limits.ts";

/** Bytes of the largest read: bodies arrive in pieces of about 4 KiB, and a read for each would cost more than the work on it. */
const READ_BYTES = 256 * 1024;

/** A read that was filled faster than this (ms) is followed by a larger one, one slower by the smallest. */
const FAST_READ_MS = 100;
const SLOW_READ_MS = 1_000;

/** Reads a body piece by piece, in larger pieces the faster it comes, and gives up on a client that keeps the server waiting.
 * Only the time spent in a read counts: what the server does between reads is not the client's fault. Buffers are filled to
 * their end: the many pieces of a slow body take no more memory than their bytes. */
export class PacedBody {
  readonly #reader: ReadableStreamBYOBReader;
  #wantedBytes = MIN_BODY_BYTES;

  /** @param body a byte stream, as the body of every request is */
  constructor(body: ReadableStream<Uint8Array>) {
    this.#reader = body.getReader({ mode: "byob" });
  }

  /** Reads on.
   * @returns at least 1 byte in a buffer of its own, or null at the end
   * @throws GitError "timeout" after `BODY_WAIT_MS` without what the read wanted, "bad-request" when the body was cut */
  async read(): Promise<Uint8Array | null> {
    const startMs = Date.now();
    const { value } = await this.#inTime(
      this.#reader.readAtLeast(this.#wantedBytes, new Uint8Array(this.#wantedBytes)),
    );
    const tookMs = Date.now() - startMs;
    if (tookMs < FAST_READ_MS) this.#wantedBytes = Math.min(8 * this.#wantedBytes, READ_BYTES);
    else if (tookMs > SLOW_READ_MS) this.#wantedBytes = MIN_BODY_BYTES;
    return value === undefined || value.length === 0 ? null : value;
  }

  async #inTime<Result>(reading: Promise<Result>): Promise<Result> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new GitError("timeout", { what: "request's body" })), BODY_WAIT_MS);
    });
    const read = reading.catch((cause: unknown) => {
      throw new GitError("bad-request", { reason: "the body was cut" }, { cause });
    });
    try {
      return await Promise.race([read, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}
