import { STREAM_THRESHOLD_BYTES } from "../../format/limits.ts";
import { type ChunkStore, newChunkCounters } from "../../store/chunk-store.ts";
import { DeltaChains, type LinkPlan } from "../delta-chains.ts";
import { LINK_STRIDE, NO_BASE } from "../pack-plan.ts";
import type { ReadEvent } from "../repository-event.ts";
import type { BlobPlan } from "./blob-plan.ts";
import { type EntrySource, streamEntry } from "./entry-stream.ts";
import { gatherEntries } from "./entry-window.ts";
import type { WrittenFile } from "./locate-file.ts";
import type { Reading } from "./reading.ts";

/** Whether a blob is read piece by piece: it is large, and no delta, which could only be resolved whole.
 * @param base row of `links`, or `NO_BASE` */
export function isStreamed(base: number, sizeBytes: number): boolean {
  return base === NO_BASE && sizeBytes > STREAM_THRESHOLD_BYTES;
}

/** Reads blobs in the Worker, where the object says they lie. One for each request; `finish` tells of what it did. */
export class BlobReader {
  readonly #reading: Reading;
  readonly #store: ChunkStore;
  readonly #what: ReadEvent["what"];
  readonly #operations = newChunkCounters();
  #blobs = 0;
  #sentBytes = 0;

  constructor(reading: Reading, what: ReadEvent["what"]) {
    this.#reading = reading;
    this.#what = what;
    this.#store = reading.openChunks(this.#operations);
  }

  /** Brings the blobs of a plan within reach: all but the large ones are read now, as they are stored.
   * @param sizes of the blobs, bytes
   * @throws GitError "storage-failed" */
  async open(plan: BlobPlan, sizes: readonly number[]): Promise<OpenBlobs> {
    const { links, rows } = plan;
    const needed = new Set<number>();
    for (const [i, row] of rows.entries()) {
      if (isStreamed(baseOf(plan, row), sizes[i]!)) continue;
      for (let at = row; at !== NO_BASE && !needed.has(at); at = links[at * LINK_STRIDE + 3]!) needed.add(at);
    }
    this.#blobs += rows.length;
    const gathered = await gatherEntries(plan, needed, this.#store);
    const { codec } = this.#reading;
    return new OpenBlobs(plan, sizes, new DeltaChains(gathered, this.#store, codec), { store: this.#store, codec });
  }

  /** Opens what a worktree has written, as the bucket's own stream: no code runs per piece.
   * @param length at least 1
   * @returns null when it is gone, or another version */
  openWritten({ key, etag }: WrittenFile, start: number, length: number): Promise<ReadableStream<Uint8Array> | null> {
    return this.#store.openFile(key, etag, start, length);
  }

  /** Counts bytes that went to the client. */
  sent(bytes: number): void {
    this.#sentBytes += bytes;
  }

  /** Tells what was done. @param complete whether the client got all */
  finish(complete: boolean): void {
    const operations = { ...this.#operations };
    const [what, blobs, sentBytes] = [this.#what, this.#blobs, this.#sentBytes];
    this.#reading.observe({ event: "read", what, blobs, sentBytes, complete, operations });
  }
}

/** The blobs of one plan, in its order. */
export class OpenBlobs {
  readonly #plan: BlobPlan;
  readonly #sizes: readonly number[];
  readonly #chains: DeltaChains;
  readonly #source: EntrySource;

  /** @see BlobReader.open */
  constructor(plan: BlobPlan, sizes: readonly number[], chains: DeltaChains, source: EntrySource) {
    this.#plan = plan;
    this.#sizes = sizes;
    this.#chains = chains;
    this.#source = source;
  }

  /** Whether a blob comes in pieces. */
  isStreamed(i: number): boolean {
    return isStreamed(baseOf(this.#plan, this.#plan.rows[i]!), this.#sizes[i]!);
  }

  /** Reads a blob whole that does not come in pieces. Its bytes are shared: not to be changed.
   * @throws GitError "corrupt-pack", "corrupt-delta" */
  async read(i: number): Promise<Uint8Array> {
    return (await this.#chains.resolve(this.#plan.rows[i]!)).bytes;
  }

  /** Streams a blob that comes in pieces. @throws GitError "storage-failed", "corrupt-pack" */
  async stream(i: number): Promise<ReadableStream<Uint8Array>> {
    const at = this.#plan.rows[i]! * LINK_STRIDE;
    const { extents, links } = this.#plan;
    return streamEntry(this.#source, { extent: extents[links[at]!]!, offset: links[at + 1]!, length: links[at + 2]! });
  }
}

function baseOf({ links }: LinkPlan, row: number): number {
  return links[row * LINK_STRIDE + 3]!;
}
