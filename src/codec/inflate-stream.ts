import { GitError } from "../format/errors.ts";
import type { CodecInstance } from "./module.ts";

/** Bytes of input, and of output, that are in the module at a time. */
const PIECE_BYTES = 64 * 1024;

/** What `inflate_stream_step` returns. */
const STATUS = { more: 0, done: 1, badData: 2 } as const;

/** What one step of an inflater came to. */
export interface InflateStep {
  readonly consumed: number;
  /** A copy. */
  readonly output: Uint8Array;
  readonly done: boolean;
}

/** An inflation that can be gone on with. */
export interface SavedInflate {
  readonly state: Uint8Array;
  /** Bytes made so far, and in all. */
  readonly produced: number;
  readonly sizeBytes: number;
}

/** The place where all streams of a codec are inflated: one at a time has its state in the module, the others theirs outside, 40 KB
 * each, so that a hundred responses which nobody takes cost no more than their states. */
export class InflateDesk {
  readonly #instance: CodecInstance;
  readonly #stream: number;
  readonly #stateBytes: number;
  readonly #input: number;
  readonly #output: number;
  readonly #result: number;
  /** Whose state is in the module. */
  #present: InflateStream | null = null;

  /** @param instance its own */
  constructor(instance: CodecInstance) {
    this.#instance = instance;
    this.#stream = instance.exports.inflate_stream_new();
    this.#stateBytes = instance.exports.inflate_stream_bytes();
    this.#input = instance.take(PIECE_BYTES);
    this.#output = instance.take(PIECE_BYTES);
    this.#result = instance.take(8);
  }

  /** A copy of the state that is in the module. */
  state(): Uint8Array {
    return this.#instance.bytes(this.#stream, this.#stateBytes).slice();
  }

  /** Whether this stream's state is in the module. */
  holds(stream: InflateStream): boolean {
    return this.#present === stream;
  }

  /** Inflates what a piece of input allows.
   * @param state the stream's, null: it begins
   * @returns null when the input is no zlib stream */
  step(stream: InflateStream, state: Uint8Array | null, input: Uint8Array): InflateStep | null {
    const { exports } = this.#instance;
    if (this.#present !== stream) {
      this.#present?.leave();
      if (state === null) exports.inflate_stream_reset(this.#stream);
      else this.#instance.bytes(this.#stream, this.#stateBytes).set(state);
      this.#present = stream;
    }
    this.#instance.bytes(this.#input, input.length).set(input);
    const [from, to] = [this.#input, this.#output];
    const status = exports.inflate_stream_step(this.#stream, from, input.length, to, PIECE_BYTES, this.#result);
    const result = new DataView(exports.memory.buffer, this.#result, 8);
    const output = this.#instance.bytes(to, status === STATUS.badData ? 0 : result.getUint32(4, true)).slice();
    const isOver = status !== STATUS.more;
    if (isOver) this.#present = null;
    return status === STATUS.badData ? null : { consumed: result.getUint32(0, true), output, done: isOver };
  }
}

/** A zlib stream inflated piece by piece, in the same memory whatever its size.
 * @see RFC 1950 */
export class InflateStream {
  readonly #desk: InflateDesk;
  readonly #sizeBytes: number;
  /** Null: it has not begun, or the desk has it. */
  #state: Uint8Array | null = null;
  #produced = 0;
  #done = false;

  /** @param sizeBytes what the stream must inflate to
   * @param saved where to go on, without it at the beginning */
  constructor(desk: InflateDesk, sizeBytes: number, saved?: SavedInflate) {
    this.#desk = desk;
    this.#sizeBytes = sizeBytes;
    this.#state = saved?.state ?? null;
    this.#produced = saved?.produced ?? 0;
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
      const { consumed, output } = this.step(bytes.subarray(taken));
      taken += consumed;
      produced = output.length;
      if (produced > 0) yield output;
    }
    return taken;
  }

  /** Where the stream stands, to go on from there another time: 40 KB. It has begun, and is not done. */
  save(): SavedInflate {
    const state = this.#desk.holds(this) ? this.#desk.state() : this.#state!;
    return { state, produced: this.#produced, sizeBytes: this.#sizeBytes };
  }

  /** States that there is no more input.
   * @throws GitError "corrupt-pack" when the stream is not done */
  end(): void {
    if (!this.#done) throw this.#corrupt();
  }

  /** Takes its state out of the module, where another stream goes in; called by the desk. */
  leave(): void {
    this.#state = this.#desk.state();
  }

  /** Inflates as much as 64 KiB of input and of output allow; with no progress it wants more input.
   * @throws GitError as `push` */
  step(input: Uint8Array): InflateStep {
    const step = this.#desk.step(this, this.#state, input.subarray(0, PIECE_BYTES));
    this.#state = null;
    if (step === null) throw this.#corrupt();
    this.#produced += step.output.length;
    this.#done = step.done;
    if (this.#produced > this.#sizeBytes || (this.#done && this.#produced < this.#sizeBytes)) throw this.#corrupt();
    return step;
  }

  #corrupt(): GitError {
    const sizeBytes = this.#sizeBytes;
    return new GitError("corrupt-pack", { reason: `an entry does not inflate to ${sizeBytes} bytes`, sizeBytes });
  }
}
