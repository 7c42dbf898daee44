import { GitError } from "../format/errors.ts";
import type { CodecInstance } from "./module.ts";

/** Bytes of input, and of output, in the module at a time. */
const PIECE_BYTES = 64 * 1024;

/** Results of `inflate_stream_step`. */
const STATUS = { more: 0, done: 1, badData: 2 } as const;

/** The result of one step. */
interface InflateStep {
  readonly consumed: number;
  /** A copy. */
  readonly output: Uint8Array;
  readonly done: boolean;
}

/** An inflation that can be continued. */
export interface SavedInflate {
  readonly state: Uint8Array;
  /** Bytes produced so far, and in all. */
  readonly produced: number;
  readonly sizeBytes: number;
}

/** Inflates all streams of a codec. One at a time has its state in the module; the others keep
 * theirs outside, 40 KB each, so that a hundred responses that nobody reads cost no more than
 * that. */
export class SharedInflater {
  readonly #instance: CodecInstance;
  readonly #stream: number;
  readonly #stateBytes: number;
  readonly #input: number;
  readonly #output: number;
  readonly #result: number;
  /** The stream whose state is in the module. */
  #present: InflateStream | null = null;

  /** @param instance of its own */
  constructor(instance: CodecInstance) {
    this.#instance = instance;
    this.#stream = instance.exports.inflate_stream_new();
    this.#stateBytes = instance.exports.inflate_stream_bytes();
    this.#input = instance.take(PIECE_BYTES);
    this.#output = instance.take(PIECE_BYTES);
    this.#result = instance.take(8);
  }

  /** A copy of the state in the module. */
  state(): Uint8Array {
    return this.#instance.bytes(this.#stream, this.#stateBytes).slice();
  }

  /** Whether this stream's state is in the module. */
  holds(stream: InflateStream): boolean {
    return this.#present === stream;
  }

  /** Inflates what a piece of input allows.
   * @param state the stream's; null: it begins
   * @returns null when the input is not a zlib stream */
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

/** A zlib stream inflated piece by piece, in constant memory.
 * @see RFC 1950 */
export class InflateStream {
  readonly #inflater: SharedInflater;
  readonly #sizeBytes: number;
  /** Null: it has not begun, or its state is in the module. */
  #state: Uint8Array | null = null;
  #produced = 0;
  #done = false;

  /** @param sizeBytes the expected size
   * @param saved where to continue; default: the beginning */
  constructor(inflater: SharedInflater, sizeBytes: number, saved?: SavedInflate) {
    this.#inflater = inflater;
    this.#sizeBytes = sizeBytes;
    this.#state = saved?.state ?? null;
    this.#produced = saved?.produced ?? 0;
  }

  /** Whether the stream has ended. */
  get done(): boolean {
    return this.#done;
  }

  /** Inflates what the next piece of input allows.
   * @param bytes input; what follows the end of the stream is not consumed
   * @yields content, in pieces of at most 64 KiB
   * @returns input bytes consumed: all of them unless the stream is done
   * @throws GitError "corrupt-pack" when it is not a zlib stream of that size */
  *push(bytes: Uint8Array): Generator<Uint8Array, number> {
    let taken = 0;
    let produced = 0;
    // After a full output there may be more, even when the input is used up.
    while (!this.#done && (taken < bytes.length || produced === PIECE_BYTES)) {
      const { consumed, output } = this.step(bytes.subarray(taken));
      taken += consumed;
      produced = output.length;
      if (produced > 0) yield output;
    }
    return taken;
  }

  /** Saves the state of a stream that has begun and is not done, to continue later: 40 KB. */
  save(): SavedInflate {
    const state = this.#inflater.holds(this) ? this.#inflater.state() : this.#state!;
    return { state, produced: this.#produced, sizeBytes: this.#sizeBytes };
  }

  /** Declares the end of the input.
   * @throws GitError "corrupt-pack" when the stream is not done */
  end(): void {
    if (!this.#done) throw this.#corrupt();
  }

  /** Moves its state out of the module to make way for another stream; called by the inflater. */
  leave(): void {
    this.#state = this.#inflater.state();
  }

  /** Inflates at most 64 KiB of input and of output. Without progress it needs more input.
   * @throws GitError as `push` */
  step(input: Uint8Array): InflateStep {
    const step = this.#inflater.step(this, this.#state, input.subarray(0, PIECE_BYTES));
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
