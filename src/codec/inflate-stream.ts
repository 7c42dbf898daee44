import { GitError } from "../format/errors.ts";
import type { CodecInstance } from "./module.ts";

/** Bytes of input, and of output, that are in the module at a time. */
const PIECE_BYTES = 64 * 1024;

/** What `inflate_stream_step` returns. */
const STATUS = { more: 0, done: 1, badData: 2 } as const;

/** A zlib stream inflated piece by piece, in the same memory whatever its size.
 * @see RFC 1950 */
export class InflateStream {
  readonly #instance: CodecInstance;
  readonly #sizeBytes: number;
  readonly #stream: number;
  readonly #input: number;
  readonly #output: number;
  readonly #result: number;
  #produced = 0;
  #done = false;

  /** @param instance its own: its memory goes with the stream
   * @param sizeBytes what the stream must inflate to */
  constructor(instance: CodecInstance, sizeBytes: number) {
    this.#instance = instance;
    this.#sizeBytes = sizeBytes;
    this.#stream = instance.exports.inflate_stream_begin();
    this.#input = instance.take(PIECE_BYTES);
    this.#output = instance.take(PIECE_BYTES);
    this.#result = instance.take(8);
  }

  /** Whether the stream has come to its end. */
  get done(): boolean {
    return this.#done;
  }

  /** Inflates what the next piece of input allows.
   * @param bytes input; what follows the end of the stream is left alone
   * @yields content, in pieces of at most 64 KiB
   * @returns bytes taken from the input: all of them unless the stream is done
   * @throws GitError "corrupt-pack" when it is no zlib stream, or not of that size */
  *push(bytes: Uint8Array): Generator<Uint8Array, number> {
    let taken = 0;
    let produced = 0;
    // A full output may have more behind it, also when the input is used up.
    while (!this.#done && (taken < bytes.length || produced === PIECE_BYTES)) {
      const piece = bytes.subarray(taken, taken + PIECE_BYTES);
      const step = this.#step(piece);
      taken += step.consumed;
      produced = step.produced;
      if (produced > 0) yield this.#instance.bytes(this.#output, produced).slice();
    }
    return taken;
  }

  /** States that there is no more input.
   * @throws GitError "corrupt-pack" when the stream is not done */
  end(): void {
    if (!this.#done) throw this.#corrupt();
  }

  #step(input: Uint8Array): { consumed: number; produced: number } {
    const instance = this.#instance;
    instance.bytes(this.#input, input.length).set(input);
    const status = instance.exports.inflate_stream_step(
      this.#stream,
      this.#input,
      input.length,
      this.#output,
      PIECE_BYTES,
      this.#result,
    );
    if (status === STATUS.badData) throw this.#corrupt();
    const result = new DataView(instance.exports.memory.buffer, this.#result, 8);
    const produced = result.getUint32(4, true);
    this.#produced += produced;
    this.#done = status === STATUS.done;
    if (this.#produced > this.#sizeBytes || (this.#done && this.#produced < this.#sizeBytes)) throw this.#corrupt();
    return { consumed: result.getUint32(0, true), produced };
  }

  #corrupt(): GitError {
    const sizeBytes = this.#sizeBytes;
    return new GitError("corrupt-pack", { reason: `an entry does not inflate to ${sizeBytes} bytes`, sizeBytes });
  }
}
