import { createReadStream } from "node:fs";
import type { Part } from "./packs.ts";

/** Bytes of a file that are read at once. */
const READ_BYTES = 256 * 1024;

/** Limits for a slow connection: after this many ms of waiting for the network, a body is given up
 * if its average speed is below this many bytes per ms. So an interruption costs at most half a
 * minute of repeated sending. */
const JUDGED_AFTER_MS = 2_000;
const FAST_BYTES_PER_MS = 3_000;

/** The first parts of a pack, sent as one body while they are made. The server stores nothing of a
 * body: after an interruption it is sent again, as parts. */
export class PackBody {
  /** The number of the first part after the body. */
  readonly from: number;
  readonly #pathOf: (part: number) => string;
  readonly #parts: Part[] = [];
  #isWhole = false;
  #isGivenUp = false;
  /** Bytes sent, and time spent waiting for the network. */
  #sentBytes = 0;
  #waitedMs = 0;
  #wake: () => void = () => undefined;

  /** @param first the number of the pack's first part
   * @param sizes of the parts
   * @param mostBytes maximum size of the body */
  constructor(first: number, sizes: Iterator<number, never>, mostBytes: number, pathOf: (part: number) => string) {
    this.#pathOf = pathOf;
    this.from = first;
    for (let bytes = sizes.next().value; bytes <= mostBytes; bytes += sizes.next().value) this.from += 1;
  }

  /** Adds a part, if it belongs to the body. @returns whether it does */
  takes(part: Part): boolean {
    if (this.#isGivenUp || part.number >= this.from) return false;
    this.#parts.push(part);
    this.#wake();
    return true;
  }

  /** Marks the end of the pack, complete or failed. */
  end(): void {
    this.#isWhole = true;
    this.#wake();
  }

  /** Stops taking parts.
   * @returns the parts of the body, which must be sent otherwise */
  giveUp(): readonly Part[] {
    this.#isGivenUp = true;
    this.#wake();
    return this.#parts;
  }

  /** Whether the connection is too slow to send the body. */
  get isSlow(): boolean {
    return this.#waitedMs > JUDGED_AFTER_MS && this.#sentBytes < FAST_BYTES_PER_MS * this.#waitedMs;
  }

  /** Yields the bytes, as they are made.
   * @throws Error when the connection is slow, or a file cannot be read */
  async *read(): AsyncGenerator<Buffer, void, void> {
    for (let i = 0; ; i++) {
      while (i === this.#parts.length) {
        if (this.#isWhole || this.#isGivenUp || this.#parts.at(-1)?.number === this.from - 1) return;
        await new Promise<void>((resolve) => (this.#wake = resolve));
      }
      const file = createReadStream(this.#pathOf(this.#parts[i]!.number), { highWaterMark: READ_BYTES });
      for await (const piece of file as AsyncIterable<Buffer>) {
        const startMs = performance.now();
        yield piece;
        this.#sentBytes += piece.length;
        this.#waitedMs += performance.now() - startMs;
        if (this.isSlow) throw new Error("the line is slow");
      }
    }
  }
}
