import { GitError } from "../format/errors.ts";
import { BODY_WAIT_MS, MIN_BODY_BYTES } from "../format/limits.ts";
import { ArrivalPace } from "./arrival-pace.ts";

/** Bytes of the largest read: bodies arrive in pieces of about 4 KiB, and one read for each would
 * cost more than processing it. */
const READ_BYTES = 256 * 1024;

/** After a read faster than this (ms) the next one is larger; after one slower than the other, it
 * is the smallest. */
const FAST_READ_MS = 100;
const SLOW_READ_MS = 1_000;

/** Reads a body piece by piece, in larger pieces the faster it arrives, and gives up on a client
 * that keeps the server waiting. Only the time spent in reads counts, not the server's own work.
 * Buffers are filled completely, so the many pieces of a slow body take no more memory than their
 * bytes. */
export class PacedBody {
  readonly #reader: ReadableStreamBYOBReader;
  readonly #smallestBytes: number;
  #wantedBytes: number;
  readonly #pace: ArrivalPace;
  readonly #waitMs: number;

  /** @param body a byte stream, as the body of every request is
   * @param minBytes called after each `BODY_WAIT_MS` of waiting; returns how many bytes must have
   * arrived in that time
   * @param smallestBytes of the first read, and of one after a slow one
   * @param waitMs for the bytes of a read */
  constructor(
    body: ReadableStream<Uint8Array>,
    minBytes: () => number = () => 0,
    smallestBytes: number = MIN_BODY_BYTES,
    waitMs: number = BODY_WAIT_MS,
  ) {
    this.#waitMs = waitMs;
    this.#smallestBytes = this.#wantedBytes = smallestBytes;
    this.#reader = body.getReader({ mode: "byob" });
    this.#pace = new ArrivalPace("request's body", minBytes);
  }

  /** Reads the next bytes.
   * @returns at least 1 byte in a buffer of its own, or null at the end
   * @throws GitError "timeout" after `waitMs` without the wanted bytes, or with fewer bytes
   * than required; "bad-request" when the body was cut */
  async read(): Promise<Uint8Array | null> {
    const startMs = Date.now();
    const { value } = await this.#inTime(
      this.#reader.readAtLeast(this.#wantedBytes, new Uint8Array(this.#wantedBytes)),
    );
    const tookMs = Date.now() - startMs;
    if (tookMs < FAST_READ_MS) this.#wantedBytes = Math.min(8 * this.#wantedBytes, READ_BYTES);
    else if (tookMs > SLOW_READ_MS) this.#wantedBytes = this.#smallestBytes;
    if (value === undefined || value.length === 0) return null;
    this.#pace.count(tookMs, value.length);
    return value;
  }

  /** Gives up the rest of the body. */
  cancel(reason?: unknown): Promise<void> {
    return this.#reader.cancel(reason);
  }

  async #inTime<Result>(reading: Promise<Result>): Promise<Result> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new GitError("timeout", { what: "request's body" })), this.#waitMs);
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
