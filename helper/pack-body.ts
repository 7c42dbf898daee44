import { createReadStream } from "node:fs";
import type { Part } from "./packs.ts";

/** Bytes of a file that are read at a time. */
const READ_BYTES = 256 * 1024;

/** Milliseconds of waiting for the line after which a body is given up that got ahead by fewer than
 * so many bytes in each: what a cut loses goes again in half a minute, at most. */
const JUDGED_AFTER_MS = 2_000;
const FAST_BYTES_PER_MS = 3_000;

/** The first parts of a pack, sent as one body while they are made. The server keeps nothing of a
 * body: what is cut goes again, as parts. */
export class PackBody {
  /** The number of the part in which the pack goes on behind it. */
  readonly from: number;
  readonly #pathOf: (part: number) => string;
  readonly #parts: Part[] = [];
  #isWhole = false;
  #isGivenUp = false;
  /** Bytes that went out, and how long the line had to be waited for. */
  #sentBytes = 0;
  #waitedMs = 0;
  #wake: () => void = () => undefined;

  /** @param first the number of the pack's first part
   * @param sizes of the parts
   * @param mostBytes of the body */
  constructor(first: number, sizes: Iterator<number, never>, mostBytes: number, pathOf: (part: number) => string) {
    this.#pathOf = pathOf;
    this.from = first;
    for (let bytes = sizes.next().value; bytes <= mostBytes; bytes += sizes.next().value) this.from += 1;
  }

  /** Whether a part goes with it: if so, it is noted. */
  takes(part: Part): boolean {
    if (this.#isGivenUp || part.number >= this.from) return false;
    this.#parts.push(part);
    this.#wake();
    return true;
  }

  /** The pack is made, or cannot be made. */
  end(): void {
    this.#isWhole = true;
    this.#wake();
  }

  /** Takes no more.
   * @returns its parts, which must be sent otherwise */
  giveUp(): readonly Part[] {
    this.#isGivenUp = true;
    this.#wake();
    return this.#parts;
  }

  /** Whether it is not read to its end because the line is slow. */
  get isSlow(): boolean {
    return this.#waitedMs > JUDGED_AFTER_MS && this.#sentBytes < FAST_BYTES_PER_MS * this.#waitedMs;
  }

  /** Its bytes, as they are made.
   * @throws Error when the line is slow, or a file cannot be read */
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
