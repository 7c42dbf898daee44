import { safeContentType } from "../../base/format/content-type.ts";
import type { ChunkId, ObjectNumber } from "../../base/numbers/kinds.ts";
import { toHex } from "../../base/format/oid.ts";
import type { ChunkStore, SizedStream, FileLabel } from "../../base/chunks/chunk-store.ts";
import { formatMode, SYMLINK_MODE } from "../../base/format/tree.ts";
import type { ChunkRow } from "../store/index/chunk-row.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import type { PendingFile, WrittenFile } from "../store/jobs/worktree-table.ts";
import type { Tables } from "../store/tables.ts";
import type { DeltaCodec } from "../../base/bytes/delta-chains.ts";
import { type PlainEntry, streamEntry } from "../../base/bytes/entry-stream.ts";
import { HeldBytes } from "../../base/bytes/held-bytes.ts";
import { ObjectReader } from "../objects/object-reader.ts";
import type { Extent } from "../../base/bytes/pack-plan.ts";
import type { RepositoryState } from "../state/repository-state.ts";
import { worktreeFileKey } from "./file-key.ts";

/** Writes in flight: the platform allows a request six connections that wait for an answer. */
const PUTS_IN_FLIGHT = 6;

/** Bytes of the writes in flight, unless a single file is larger. */
const IN_FLIGHT_BYTES = 8 * 1024 * 1024;

/** Files of at least this size are streamed, unless they are stored as deltas. */
const STREAM_BYTES = 4 * 1024 * 1024;

/** Files up to this size are copied to reused buffers: thousands of copies would be garbage. */
const POOLED_BYTES = 1024 * 1024;
const MIN_BUFFER_BYTES = 16 * 1024;

/** A worker that rests to let other requests run, and may be interrupted. */
interface Worker {
  readonly isInterrupted: boolean;
  readonly isRestDue: boolean;
  rest(): Promise<void>;
}

/** Writes the files of one branch to R2, and removes them. */
export class FileWriter {
  readonly #store: ChunkStore;
  readonly #codec: DeltaCodec;
  readonly #keyOf: (path: string) => string;
  readonly #worker: Worker;
  readonly #puts: PutWindow;
  readonly #buffers = new Buffers();

  constructor({ key, platform }: RepositoryState, store: ChunkStore, worker: Worker, branch: string) {
    this.#store = store;
    this.#worker = worker;
    this.#puts = new PutWindow(worker);
    this.#codec = platform.codec;
    this.#keyOf = (path) => worktreeFileKey(key, branch, path);
  }

  /** The largest sum of the contents of files being written. */
  get peakBytes(): number {
    return this.#puts.held.peakBytes;
  }

  /** Writes files in the order of their object numbers, until it is interrupted. No write is in
   * flight when it returns or throws.
   * @param written receives each file as soon as it is written
   * @throws GitError "storage-failed", "corrupt-pack" */
  async write(tables: Tables, files: readonly PendingFile[], written: WrittenFile[]): Promise<void> {
    const filesOf = Map.groupBy(files, ({ source }) => source);
    const numbers = NumberSet.fromUnsorted(filesOf.keys());
    const streamed = findStreamed(tables, numbers);
    const put = async (file: PendingFile, body: Uint8Array | SizedStream): Promise<void> => {
      const etag = await this.#store.putFile(this.#keyOf(file.path), body, labelFile(file));
      written.push({ ...file, etag });
    };
    const reader = new ObjectReader(tables, this.#store, this.#codec);
    const isPooled = (number: number): boolean => filesOf.get(number)![0]!.sizeBytes <= POOLED_BYTES;
    try {
      const read = numbers.toArray().filter((number) => !streamed.has(number));
      const pooled = NumberSet.fromSorted(read.filter(isPooled));
      for await (const [number, { bytes }] of reader.lendEach(pooled)) {
        if (this.#worker.isInterrupted) return;
        for (const file of filesOf.get(number)!) {
          await this.#puts.start(bytes.length, () => this.#buffers.withCopy(bytes, (copy) => put(file, copy)));
        }
      }
      const others = NumberSet.fromSorted(read.filter((number) => !isPooled(number)));
      for await (const [number, { bytes }] of reader.readEach(others)) {
        if (this.#worker.isInterrupted) return;
        for (const file of filesOf.get(number)!) await this.#puts.start(bytes.length, () => put(file, bytes));
      }
      for (const [number, entry] of streamed) {
        if (this.#worker.isInterrupted) return;
        for (const file of filesOf.get(number)!) {
          await this.#puts.start(0, async () => {
            const source = { store: this.#store, codec: this.#codec };
            const stream = await streamEntry(source, { ...entry, extent: extentOf(tables, entry.chunk) });
            await put(file, { stream, sizeBytes: file.sizeBytes });
          });
        }
      }
    } finally {
      await this.#puts.settled();
      this.#puts.check();
    }
  }

  /** Removes files. */
  remove(paths: readonly string[]): Promise<void> {
    return this.#store.delete(paths.map(this.#keyOf));
  }
}

/** An entry in a chunk that is not a delta. */
type ChunkEntry = Omit<PlainEntry, "extent"> & { readonly chunk: ChunkId };

/** Where the objects to stream are stored, by number. */
function findStreamed(tables: Tables, numbers: NumberSet): Map<ObjectNumber, ChunkEntry> {
  const rows = tables.objects.locate(numbers);
  const streamed = new Map<ObjectNumber, ChunkEntry>();
  rows.number.forEach((number, i) => {
    if (rows.size[i]! < STREAM_BYTES || rows.base[i] !== 0) return;
    streamed.set(number, { chunk: rows.chunk[i]!, offset: rows.offset[i]!, length: rows.length[i]! });
  });
  return streamed;
}

function extentOf({ chunks }: Tables, chunk: ChunkId): Extent {
  const [{ key, start, size }] = chunks.byIds([chunk]) as [ChunkRow];
  return key === null ? { bytes: chunks.hotBytesOf(chunk)! } : { key, start, length: size };
}

/** Reused buffers, at most one for each write in flight. */
class Buffers {
  readonly #free: Uint8Array[] = [];

  /** Copies the bytes synchronously.
   * @param use receives the copy, which is valid until it ends */
  async withCopy(bytes: Uint8Array, use: (copy: Uint8Array) => Promise<void>): Promise<void> {
    const fitting = this.#free.findIndex(({ length }) => length >= bytes.length);
    const [buffer = new Uint8Array(Math.max(MIN_BUFFER_BYTES, 2 * bytes.length))] =
      fitting < 0 ? [] : this.#free.splice(fitting, 1);
    buffer.set(bytes);
    await use(buffer.subarray(0, bytes.length));
    // Not after a failure: a write that timed out may still read it.
    if (this.#free.push(buffer) > PUTS_IN_FLIGHT) this.#free.shift();
  }
}

/** The writes in flight, limited in number and bytes. */
class PutWindow {
  readonly held = new HeldBytes();
  readonly #worker: Worker;
  readonly #puts = new Set<Promise<void>>();
  #bytes = 0;
  #failure: { readonly reason: unknown } | null = null;

  constructor(worker: Worker) {
    this.#worker = worker;
  }

  /** Starts a write as soon as the limits allow.
   * @throws the error of an earlier write */
  async start(sizeBytes: number, put: () => Promise<void>): Promise<void> {
    await this.#rest();
    while (this.#puts.size === PUTS_IN_FLIGHT || (this.#bytes > 0 && this.#bytes + sizeBytes > IN_FLIGHT_BYTES)) {
      await Promise.race(this.#puts);
    }
    this.check();
    this.#count(sizeBytes);
    const running = put()
      .catch((reason: unknown) => void (this.#failure ??= { reason }))
      .finally(() => {
        this.#puts.delete(running);
        this.#count(-sizeBytes);
      });
    this.#puts.add(running);
  }

  /** Waits until no write is in flight. */
  async settled(): Promise<void> {
    await Promise.all(this.#puts);
  }

  /** @throws the error of the first write that failed */
  check(): void {
    if (this.#failure !== null) throw this.#failure.reason;
  }

  /** When a rest is due, waits for all writes and lets other requests run. */
  async #rest(): Promise<void> {
    if (this.#worker.isRestDue) await this.settled();
    await this.#worker.rest();
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    this.held.add(bytes);
  }
}

/** Types that make a site of the bucket's files. Nobody is logged in to the bucket's origin, so
 * scripts in them do no harm. */
const SITE_TYPES: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  csv: "text/csv; charset=utf-8",
  htm: "text/html; charset=utf-8",
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  md: "text/markdown; charset=utf-8",
  mjs: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
  xml: "application/xml",
};

/** The metadata of a file's R2 object: media type by extension, object id in hex, mode in octal. */
function labelFile({ path, oid, mode }: PendingFile): FileLabel {
  return { contentType: mediaType(path, mode), metadata: { oid: toHex(oid), mode: formatMode(mode) } };
}

function mediaType(path: string, mode: number): string {
  if (mode === SYMLINK_MODE) return "inode/symlink";
  const extension = /\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
  return Object.hasOwn(SITE_TYPES, extension) ? SITE_TYPES[extension]! : safeContentType(path);
}
