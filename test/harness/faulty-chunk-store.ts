import { GitError } from "../../src/base/format/errors.ts";
import {
  type ChunkStore,
  type FileLabel,
  type MultipartWrite,
  type ObjectStat,
  type SharedWrite,
  type SizedStream,
  wrongLength,
} from "../../src/base/chunks/chunk-store.ts";

/** A planned fault of a call: it fails before or after its effect; what it reads is truncated by a
 * byte or has one bit flipped (a write fails before its effect instead); or the process crashes:
 * the call has no effect, and every later one fails. */
export type Fault = "before" | "after" | "truncate" | "flip" | "crash";

/** One call of a store. */
export interface ChunkCall {
  /** 1 for the store's first call. */
  readonly number: number;
  readonly operation:
    | "put"
    | "putStream"
    | "createMultipart"
    | "putPart"
    | "complete"
    | "abort"
    | "read"
    | "stream"
    | "open"
    | "putFile"
    | "openFile"
    | "delete"
    | "stat"
    | "list";
  /** The object's key, a delete's first key, or a list's prefix. */
  readonly key: string;
}

/** Chooses the fault of a call; null: none. */
export type FaultPlan = (call: ChunkCall) => Fault | null;

/** A plan without faults. */
export const NO_FAULTS: FaultPlan = () => null;

/** Only the call with this number has a fault. */
export function faultAt(number: number, fault: Fault): FaultPlan {
  return (call) => (call.number === number ? fault : null);
}

/** Every call has a fault with the given probability, of one of the given kinds; the same seed
 * gives the same faults. */
export function seededFaults(seed: number, probability: number, faults: readonly Fault[]): FaultPlan {
  let state = seed >>> 0;
  // mulberry32: random enough for a test, and the same everywhere.
  const random = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return () => (random() < probability ? faults[Math.floor(random() * faults.length)]! : null);
}

/** A store that fails as planned, to test how the layers above react. */
export class FaultyChunkStore implements ChunkStore {
  readonly #inner: ChunkStore;
  readonly #plan: FaultPlan;
  readonly #calls: ChunkCall[] = [];
  #crashed = false;

  constructor(inner: ChunkStore, plan: FaultPlan) {
    this.#inner = inner;
    this.#plan = plan;
  }

  /** The calls so far, including failed ones. */
  get calls(): readonly ChunkCall[] {
    return this.#calls;
  }

  put(key: string, bytes: Uint8Array, sha1?: Uint8Array): Promise<void> {
    return this.#write("put", key, () => this.#inner.put(key, bytes, sha1));
  }

  putStream(key: string, bytes: ReadableStream<Uint8Array>, length: number, waitMs?: number): Promise<void> {
    return this.#write("putStream", key, () => this.#inner.putStream(key, bytes, length, waitMs));
  }

  async createMultipart(key: string): Promise<MultipartWrite> {
    const write = await this.#write("createMultipart", key, () => this.#inner.createMultipart(key));
    return {
      id: write.id,
      putPart: (number, bytes) => this.#write("putPart", key, () => write.putPart(number, bytes)),
      complete: () => this.#write("complete", key, () => write.complete()),
      abort: () => this.#write("abort", key, () => write.abort()),
    };
  }

  resumeMultipart(key: string, id: string): SharedWrite {
    const write = this.#inner.resumeMultipart(key, id);
    return {
      putPart: (number, ...part) => this.#write("putPart", key, () => write.putPart(number, ...part)),
      complete: (tags) => this.#write("complete", key, () => write.complete(tags)),
      abort: () => this.#write("abort", key, () => write.abort()),
    };
  }

  /** A truncated read is one that the underlying store detected; a flipped bit is one that nobody
   * did. */
  async read(key: string, offset: number, length: number): Promise<Uint8Array> {
    const fault = this.#fault("read", key);
    if (fault === "before") throw planned(key, fault);
    const bytes = await this.#inner.read(key, offset, length);
    if (fault === "after") throw planned(key, fault);
    if (fault === "truncate") throw wrongLength(key, length, Math.max(0, length - 1));
    return fault === "flip" ? flipped(bytes, length >>> 1) : bytes;
  }

  stream(key: string, offset: number, length: number): Promise<ReadableStream<Uint8Array>> {
    return this.#stream("stream", key, length, () => this.#inner.stream(key, offset, length));
  }

  open(key: string, offset: number, length: number): Promise<ReadableStream<Uint8Array>> {
    return this.#stream("open", key, length, () => this.#inner.open(key, offset, length));
  }

  putFile(key: string, body: Uint8Array | SizedStream, label: FileLabel): Promise<string> {
    return this.#write("putFile", key, () => this.#inner.putFile(key, body, label));
  }

  openFile(key: string, etag: string, offset: number, length: number): Promise<ReadableStream<Uint8Array> | null> {
    return this.#stream("openFile", key, length, () => this.#inner.openFile(key, etag, offset, length));
  }

  async #stream<T extends ReadableStream<Uint8Array> | null>(
    operation: "stream" | "open" | "openFile",
    key: string,
    length: number,
    open: () => Promise<T>,
  ): Promise<T | ReadableStream<Uint8Array>> {
    const fault = this.#fault(operation, key);
    if (fault === "before") throw planned(key, fault);
    const source = await open();
    if (fault === null || source === null) return source;
    let seen = 0;
    const reader = source.getReader();
    return new ReadableStream({
      type: "bytes",
      async pull(controller) {
        const { value: piece, done } = await reader.read();
        if (done) {
          controller.close();
          controller.byobRequest?.respond(0);
          return;
        }
        const target = (length >>> 1) - seen;
        seen += piece.length;
        if (target < 0 || target >= piece.length) return controller.enqueue(piece);
        if (fault === "flip") return controller.enqueue(flipped(piece, target));
        controller.enqueue(piece.subarray(0, target));
        controller.error(fault === "truncate" ? wrongLength(key, length, seen) : planned(key, fault));
      },
      cancel: (reason) => reader.cancel(reason),
    });
  }

  delete(keys: readonly string[]): Promise<void> {
    return this.#write("delete", keys[0] ?? "", () => this.#inner.delete(keys));
  }

  /** Truncating or flipping is a failure here: there are no bytes. */
  async stat(key: string): Promise<ObjectStat | null> {
    const fault = this.#fault("stat", key);
    if (fault !== null) throw planned(key, fault);
    return this.#inner.stat(key);
  }

  async *list(prefix: string, after?: string): AsyncGenerator<string> {
    const fault = this.#fault("list", prefix);
    if (fault === "before") throw planned(prefix, fault);
    yield* this.#inner.list(prefix, after);
    if (fault !== null) throw planned(prefix, fault);
  }

  async #write<T>(operation: ChunkCall["operation"], key: string, run: () => Promise<T>): Promise<T> {
    const fault = this.#fault(operation, key);
    if (fault !== null && fault !== "after") throw planned(key, fault);
    const result = await run();
    if (fault === "after") throw planned(key, fault);
    return result;
  }

  #fault(operation: ChunkCall["operation"], key: string): Exclude<Fault, "crash"> | null {
    const call = { number: this.#calls.length + 1, operation, key };
    this.#calls.push(call);
    const fault = this.#plan(call);
    this.#crashed ||= fault === "crash";
    if (this.#crashed || fault === "crash") throw planned(key, "crash");
    return fault;
  }
}

function planned(key: string, fault: Fault): GitError {
  return new GitError("storage-failed", { key, reason: `planned fault: ${fault}` });
}

function flipped(bytes: Uint8Array, at: number): Uint8Array {
  const copy = bytes.slice();
  if (at < copy.length) copy[at]! ^= 0x10;
  return copy;
}
