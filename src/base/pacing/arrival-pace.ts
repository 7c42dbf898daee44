import { GitError } from "../format/errors.ts";
import { BODY_WAIT_MS } from "../format/limits.ts";

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
