/** R2 behind a network: every call takes time, may fail before or after its effect, and outlives
 * the process that made it. */
import { GitError } from "../../../src/base/format/errors.ts";
import { type ChunkStore, type MultipartWrite, wrongLength } from "../../../src/base/chunks/chunk-store.ts";
import type { Fault } from "../../harness/faulty-chunk-store.ts";
import { MemoryChunkStore } from "../../harness/memory-chunk-store.ts";
import type { Random } from "../../harness/random.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** The process that calls: it receives nothing after it has died. */
export interface Caller {
  readonly isAlive: boolean;
  /** Rejects when the process dies. */
  readonly life: Promise<never>;
  /** Whether it is a Worker, which serves one request for some minutes: before a clock has gone on
   * by hours, its writes are done. */
  readonly isWorker?: boolean;
}

/** Reads have no effect. Writes may take effect after their caller has given up, writes of files
 * may not. */
type CallKind = "read" | "write" | "file";

/** A call that has not taken effect yet, except a read by a dead process. */
interface CallUnderWay {
  readonly caller: Caller;
  readonly isLate: boolean;
  take(): Promise<void>;
}

/** How badly a bucket behaves: shares of its calls. */
export interface BucketTemper {
  readonly failing: number;
  readonly slow: number;
}

const LATENCY_MS = 30;
const SLOW_MS = 90_000;

/** How long after its failure a write may still take effect. */
const LATE_MS = 30_000;

/** The objects of a run, which every process opens anew. */
export class SimulatedBucket {
  /** The stored objects, for checks that make no call. */
  readonly objects = new MemoryChunkStore();
  readonly #time: VirtualTime;
  readonly #random: Random;
  readonly #note: (text: string) => void;
  temper: BucketTemper;
  /** While true, every call fails. */
  isOut = false;
  faults = 0;
  calls = 0;
  /** Calls that have not taken effect yet. */
  readonly #underWay = new Set<CallUnderWay>();

  constructor(time: VirtualTime, random: Random, temper: BucketTemper, note: (text: string) => void) {
    this.#time = time;
    this.#random = random;
    this.temper = temper;
    this.#note = note;
  }

  /** The bucket for one process. */
  open(caller: Caller): ChunkStore {
    const { objects } = this;
    const write = <T>(operation: string, effect: () => Promise<T>): Promise<T> =>
      this.#call(caller, operation, "write", effect);
    const read = <T>(operation: string, effect: () => Promise<T>): Promise<T> =>
      this.#call(caller, operation, "read", effect);
    const list = (prefix: string, after?: string): Promise<string[]> =>
      read("list", () => Array.fromAsync(objects.list(prefix, after)));
    return {
      put: (key, bytes) => {
        const copy = bytes.slice();
        return write("put", () => objects.put(key, copy));
      },
      putStream: async (key, stream, length) => {
        const bytes = await collect(stream);
        if (bytes.length !== length) throw wrongLength(key, length, bytes.length);
        await write("putStream", () => objects.put(key, bytes));
      },
      createMultipart: async (key) =>
        this.#openMultipart(write, await write("begin", () => objects.createMultipart(key))),
      resumeMultipart: (key, id) => {
        const shared = objects.resumeMultipart(key, id);
        return {
          putPart: async (number, stream, length) => {
            const bytes = await collect(stream);
            return write("part", () => shared.putPart(number, new Blob([bytes]).stream(), length));
          },
          complete: (tags) => write("complete", () => shared.complete(tags)),
          abort: () => write("abort", () => shared.abort()),
        };
      },
      read: (key, offset, length) => read("read", () => objects.read(key, offset, length)),
      stream: (key, offset, length) => read("stream", () => objects.stream(key, offset, length)),
      open: (key, offset, length) => read("open", () => objects.open(key, offset, length)),
      putFile: async (key, body, label) => {
        const bytes = body instanceof Uint8Array ? body.slice() : await collect(body.stream);
        // Keys of worktrees are written many times: a late write would overwrite the newest.
        return this.#call(caller, "putFile", "file", () => objects.putFile(key, bytes, label));
      },
      openFile: (key, etag, offset, length) => read("openFile", () => objects.openFile(key, etag, offset, length)),
      delete: (keys) => write("delete", () => objects.delete(keys)),
      stat: (key) => read("stat", () => objects.stat(key)),
      async *list(prefix, after) {
        yield* await list(prefix, after);
      },
    };
  }

  /** Lets writes that no process waits for take effect now: they are late, but not by hours. */
  async land(): Promise<void> {
    for (const call of this.#underWay) {
      if (call.isLate || !call.caller.isAlive || call.caller.isWorker === true) await call.take();
    }
  }

  #openMultipart(
    write: <T>(operation: string, effect: () => Promise<T>) => Promise<T>,
    multipart: MultipartWrite,
  ): MultipartWrite {
    return {
      id: multipart.id,
      putPart: (number, bytes) => {
        const copy = bytes.slice();
        return write("part", () => multipart.putPart(number, copy));
      },
      complete: () => write("complete", () => multipart.complete()),
      abort: () => write("abort", () => multipart.abort()),
    };
  }

  async #call<T>(caller: Caller, operation: string, kind: CallKind, effect: () => Promise<T>): Promise<T> {
    if (!caller.isAlive) return caller.life;
    this.calls += 1;
    const number = this.calls;
    const random = this.#random;
    const fault = this.#drawFault(kind);
    const isSlow = random.below(1_000) < this.temper.slow * 1_000;
    const delayMs = random.below(isSlow ? SLOW_MS : LATENCY_MS);
    const isLost = random.below(2) === 0;
    const outcome = Promise.withResolvers<T>();
    const answer = (settle: () => void): void => {
      this.#time.after(random.below(LATENCY_MS), () => caller.isAlive && settle());
    };
    const take = async (): Promise<void> => {
      if (!this.#underWay.delete(call)) return;
      // A dead process's request may have been sent, or not.
      if (!caller.isAlive && (isLost || kind !== "write")) return;
      try {
        const value = await effect();
        if (fault === null) answer(() => outcome.resolve(value));
      } catch (error) {
        if (fault === null) answer(() => outcome.reject(error));
      }
    };
    const call: CallUnderWay = { caller, isLate: fault === "late", take };
    if (fault !== "before") this.#underWay.add(call);
    this.#note(`R2 ${number} ${operation}${fault === null ? "" : ` fails ${fault}`}${isSlow ? ", slow" : ""}`);
    if (fault === null || fault === "after") this.#time.after(delayMs, take);
    if (fault === "late") this.#time.after(delayMs + random.below(LATE_MS), take);
    if (fault !== null) {
      this.faults += 1;
      this.#time.after(delayMs, () =>
        answer(() => outcome.reject(new GitError("storage-failed", { key: operation, reason: `planned: ${fault}` }))),
      );
    }
    // Whatever a dead process would do after its calls must not happen: it holds objects of the
    // isolate.
    return Promise.race([outcome.promise, caller.life]);
  }

  /** "late": it fails, and takes effect afterwards. */
  #drawFault(kind: CallKind): Extract<Fault, "before" | "after"> | "late" | null {
    const isFailing = this.#random.below(1_000) < this.temper.failing * 1_000;
    const choice = this.#random.below({ read: 1, file: 2, write: 3 }[kind]);
    return this.isOut || isFailing ? (["before", "after", "late"] as const)[this.isOut ? 0 : choice]! : null;
  }
}

async function collect(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  return new Uint8Array(await new Response(stream as never).arrayBuffer());
}
