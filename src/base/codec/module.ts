/** One instance of the WebAssembly module: its functions and its memory. `wasm/src/main.zig` is its
 * counterpart. The module is passed in, since runtimes differ in how they import it. */
import { GitError } from "../format/errors.ts";

/** The exports of main.zig that the codec uses. Addresses and lengths are bytes, below 2^32. */
interface CodecExports {
  readonly memory: WebAssembly.Memory;
  alloc(sizeBytes: number): number;
  mark(): number;
  release(mark: number): void;
  inflate_whole(input: number, inputLength: number, output: number, outputLength: number): number;
  deflate_bound(sizeBytes: number): number;
  deflate_whole(input: number, inputLength: number, output: number, outputLength: number, level: number): number;
  inflate_stream_new(): number;
  inflate_stream_bytes(): number;
  inflate_stream_reset(stream: number): void;
  inflate_stream_step(
    stream: number,
    input: number,
    inputLength: number,
    output: number,
    outputLength: number,
    result: number,
  ): number;
  deflate_stream_begin(level: number, isRaw: number): number;
  deflate_stream_step(
    stream: number,
    input: number,
    inputLength: number,
    output: number,
    outputLength: number,
    isLast: number,
    result: number,
  ): number;
  sha1_begin(): number;
  sha1_update(hash: number, bytes: number, length: number): void;
  sha1_final(hash: number, oid: number): number;
  hash_all(jobs: number, count: number): void;
  delta_result_size(delta: number, length: number, baseLength: number): number;
  delta_apply(
    base: number,
    baseLength: number,
    delta: number,
    deltaLength: number,
    output: number,
    outputLength: number,
  ): number;
  fsck_object(subject: number, content: number, length: number, report: number, capacity: number): void;
}

/** An instance of the module, with memory of its own that never shrinks. */
export class CodecInstance {
  readonly exports: CodecExports;
  #inScope = false;

  /** Takes less than 0.1 ms and 1.4 MB. */
  constructor(module: WebAssembly.Module) {
    // Only the indexer calls them, and the codec does not use the indexer.
    const none = (): number => 0;
    const imports = { holdfast: { read_back: none, page_out: none, page_in: none } };
    this.exports = new WebAssembly.Instance(module, imports).exports as unknown as CodecExports;
  }

  /** Bytes of linear memory. */
  get memoryBytes(): number {
    return this.exports.memory.buffer.byteLength;
  }

  /** Allocates memory until the end of the scope, or for good outside of one.
   * @returns its address, a multiple of 16
   * @throws GitError "unavailable" when the memory cannot grow that far */
  take(sizeBytes: number): number {
    const address = this.exports.alloc(sizeBytes);
    if (address === 0) throw new GitError("unavailable", { what: "memory", reason: `${sizeBytes} bytes are too many` });
    return address >>> 0;
  }

  /** Allocates memory and copies bytes into it.
   * @returns their address */
  put(bytes: Uint8Array): number {
    const address = this.take(bytes.length);
    this.bytes(address, bytes.length).set(bytes);
    return address;
  }

  /** A view of the memory, valid until memory is allocated or freed. */
  bytes(address: number, length: number): Uint8Array {
    return new Uint8Array(this.exports.memory.buffer, address, length);
  }

  /** Runs `use`, then frees what it allocated.
   * @throws Error inside another scope, whose views could become invalid */
  scope<Result>(use: () => Result): Result {
    if (this.#inScope) throw new Error("the codec is in use by a caller further up");
    this.#inScope = true;
    const mark = this.exports.mark();
    try {
      return use();
    } finally {
      this.exports.release(mark);
      this.#inScope = false;
    }
  }
}
