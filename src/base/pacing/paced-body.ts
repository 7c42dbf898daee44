import { GitError } from "../format/errors.ts";
import { MIN_BODY_BYTES, BODY_WAIT_MS } from "../format/limits.ts";

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

/** Whether what a client sends keeps a pace: so many bytes in each `BODY_WAIT_MS` of waiting for
 * it. */
export class ArrivalPace {
  readonly #what: string;
  readonly #minBytes: () => number;
  /** Since the last check: milliseconds spent waiting, and bytes that came. */
  #waitedMs = 0;
  #broughtBytes = 0;

  /** @param what the noun for the message
   * @param minBytes called after each `BODY_WAIT_MS`; returns how many bytes must have come */
  constructor(what: string, minBytes: () => number) {
    this.#what = what;
    this.#minBytes = minBytes;
  }

  /** Counts a wait, and what it brought.
   * @throws GitError "timeout" when that was too little */
  count(tookMs: number, sizeBytes: number): void {
    this.#waitedMs += tookMs;
    this.#broughtBytes += sizeBytes;
    if (this.#waitedMs < BODY_WAIT_MS) return;
    const minBytes = this.#minBytes();
    if (this.#broughtBytes < minBytes) {
      const reason = `while others wait, a client must send at least ${minBytes} bytes in ${BODY_WAIT_MS / 1_000} seconds`;
      throw new GitError("timeout", { what: this.#what, reason });
    }
    this.#waitedMs = 0;
    this.#broughtBytes = 0;
  }
}

/** A client that sends nothing for so long (ms) waits for its answer. */
const SILENCE_MS = 2_000;

/** Reads what nobody has read of a request's body, once its answer is known: a client that still
 * sends may not read the answer. A body that began to be read, that is larger than the limit or
 * does not say its length, or that does not come, is left as it is.
 * @param largestBytes of a body that is read */
export async function readRest({ body, headers }: Request, largestBytes: number): Promise<void> {
  if (body === null || body.locked || Number(headers.get("Content-Length") ?? Infinity) > largestBytes) return;
  const rest = new PacedBody(body, () => 0, MIN_BODY_BYTES, SILENCE_MS);
  try {
    while ((await rest.read()) !== null);
  } catch {
    // The answer is what counts.
  }
}
