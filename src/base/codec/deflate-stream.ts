import type { CodecInstance } from "./module.ts";

/** Bytes of input, and of output, in the module at a time. */
const PIECE_BYTES = 64 * 1024;

/** What `deflate_stream_step` returns when the stream is complete. */
const DONE = 1;

/** A zlib stream made piece by piece, in constant memory. Nothing is made before it is read.
 * @see RFC 1950 */
export class DeflateStream {
  readonly #instance: CodecInstance;
  readonly #stream: number;
  readonly #input: number;
  readonly #output: number;
  readonly #result: number;

  /** @param instance of its own: its memory is freed with the stream
   * @param level 0 only stores, 9 searches longest
   * @param isRaw omits the header and the checksum
   * @see RFC 1951 */
  constructor(instance: CodecInstance, level: number, isRaw: boolean) {
    this.#instance = instance;
    this.#stream = instance.exports.deflate_stream_begin(level, isRaw ? 1 : 0);
    this.#input = instance.take(PIECE_BYTES);
    this.#output = instance.take(PIECE_BYTES);
    this.#result = instance.take(8);
  }

  /** Deflates the next bytes.
   * @yields the finished part of the stream, in pieces of at most 64 KiB */
  *push(bytes: Uint8Array): Generator<Uint8Array, void> {
    for (let at = 0; at < bytes.length;) {
      const { consumed, output } = this.#step(bytes.subarray(at, at + PIECE_BYTES), false);
      at += consumed;
      if (output.length > 0) yield output;
    }
  }

  /** Ends the stream.
   * @yields the rest of it */
  *end(): Generator<Uint8Array, void> {
    for (let isDone = false; !isDone;) {
      const { output, done } = this.#step(new Uint8Array(0), true);
      isDone = done;
      if (output.length > 0) yield output;
    }
  }

  #step(input: Uint8Array, isLast: boolean): { consumed: number; output: Uint8Array; done: boolean } {
    const instance = this.#instance;
    instance.bytes(this.#input, input.length).set(input);
    const status = instance.exports.deflate_stream_step(
      this.#stream,
      this.#input,
      input.length,
      this.#output,
      PIECE_BYTES,
      isLast ? 1 : 0,
      this.#result,
    );
    const result = new DataView(instance.exports.memory.buffer, this.#result, 8);
    const output = instance.bytes(this.#output, result.getUint32(4, true)).slice();
    return { consumed: result.getUint32(0, true), output, done: status === DONE };
  }
}
