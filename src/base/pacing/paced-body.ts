import { GitError } from "../format/errors.ts";
import { MIN_BODY_BYTES, BODY_WAIT_MS } from "../format/limits.ts";

/** Size of the largest read: bodies arrive in pieces of about 4 KiB, and one read for each would
 * cost more than processing it. */
const READ_BYTES = 256 * 1024;

/** Durations of a read, in ms: after a faster one than the first, the next read is larger; after
 * a slower one than the second, it is the smallest. */
const FAST_READ_MS = 100;
const SLOW_READ_MS = 1_000;

/** Reads a body piece by piece, in larger pieces the faster it arrives, and gives up on a client
 * that keeps the server waiting. Only the time spent in reads counts, not the server's own
 * work. Buffers are filled completely, so the many pieces of a slow body take no more memory
 * than their bytes. */
export class PacedBody {
  readonly #reader: ReadableStreamBYOBReader;
  readonly #smallestBytes: number;
  #wantedBytes: number;
  readonly #pace: ArrivalPace;
  readonly #waitMs: number;

  /** @param body a byte stream, as every request's body is
   * @param minBytes called after each `BODY_WAIT_MS` of waiting; returns the number of bytes
   *   that must have arrived in that time
   * @param smallestBytes size of the first read, and of a read after a slow one
   * @param waitMs time limit for the bytes of a read */
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

  /** Cancels the rest of the body. */
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

/** Checks that a client's bytes keep a pace: a minimum in each `BODY_WAIT_MS` of waiting. */
export class ArrivalPace {
  readonly #what: string;
  readonly #minBytes: () => number;
  /** Milliseconds of waiting, and bytes received, since the last check. */
  #waitedMs = 0;
  #broughtBytes = 0;

  /** @param what noun for the message
   * @param minBytes called after each `BODY_WAIT_MS`; returns the number of bytes that must
   *   have arrived */
  constructor(what: string, minBytes: () => number) {
    this.#what = what;
    this.#minBytes = minBytes;
  }

  /** Counts a wait, and the bytes that it brought.
   * @throws GitError "timeout" when the bytes were too few */
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

/** Silence after which a client is taken to wait for its answer, in ms. */
const SILENCE_MS = 2_000;

/** Reads and discards the unread body of a request whose answer is known: a client that is still
 * sending may not read the answer. A body is left alone if reading had begun, if it is larger than
 * the limit or of unknown length, or if it does not arrive.
 * @param largestBytes limit of a body that is read */
export async function readRest({ body, headers }: Request, largestBytes: number): Promise<void> {
  if (body === null || body.locked || Number(headers.get("Content-Length") ?? Infinity) > largestBytes) return;
  const rest = new PacedBody(body, () => 0, MIN_BODY_BYTES, SILENCE_MS);
  try {
    while ((await rest.read()) !== null);
  } catch {
    // Ignores the failure, because only the answer matters.
  }
}
