import type { PackEntry } from "../../base/codec/pack-index.ts";
import type { Codec } from "../../base/codec/codec.ts";
import type { IndexNeed, PackIndexer } from "../../base/codec/pack-indexer.ts";
import type { Limits } from "../../base/format/configured-limits.ts";
import { checkLimit } from "../../base/format/limits.ts";
import { PACK_HEADER_BYTES } from "../../base/format/pack.ts";
import type { ChunkWriter } from "./chunk-writer.ts";
import { inflateStored, LARGE_CONTENT_BYTES, LargeContent, type StoredEntry } from "./large-content.ts";
import { baseOf, type DeltaBase, storeLarge } from "./large-delta.ts";
import { pause } from "../../base/pacing/time-slice.ts";

/** Bytes of work, about 10 ms, after which other requests run. */
const SLICE_BYTES = 4 * 1024 * 1024;

/** A stored blob that a pack needs and that is too large to hold. It is not a delta. */
export interface LargeBase {
  readonly sizeBytes: number;
  readonly entry: StoredEntry;
}

interface MadeObjectsOptions {
  readonly limits: Limits;
  readonly codec: Codec;
  checkQuota(entryBytes: number, objects: number): void;
  /** Called while an object is made, to show that the push is alive. */
  alive(): void;
  /** Waits for the memory of a large object. */
  hold(): Promise<void>;
}

/** Undeltifies the blobs of a pack that arrive as deltas and are too large to hold, or whose bases
 * are. Each is made piece by piece and stored whole, after the pack, as if the pack had contained
 * it. */
export class MadeObjects {
  readonly #indexer: PackIndexer;
  readonly #writer: ChunkWriter;
  readonly #options: MadeObjectsOptions;
  readonly #made = new Set<PackEntry>();
  /** Large bases outside the pack, by entry. */
  readonly #bases = new Map<PackEntry, LargeBase>();
  /** The base used last: versions of one file often share a base. */
  #present: { readonly entry: PackEntry; readonly content: LargeContent } | null = null;
  #end: number;
  #sliceBytes = 0;

  /** @param end the end of the pack's entries, bytes */
  constructor(indexer: PackIndexer, writer: ChunkWriter, options: MadeObjectsOptions, end: number) {
    this.#indexer = indexer;
    this.#writer = writer;
    this.#options = options;
    this.#end = end;
  }

  /** Bytes held for a base. */
  get memoryBytes(): number {
    return this.#present === null ? 0 : LARGE_CONTENT_BYTES;
  }

  has(entry: PackEntry): boolean {
    return this.#made.has(entry);
  }

  /** Adds a stored base that is not in the pack. */
  addBase(entry: PackEntry, base: LargeBase): void {
    this.#bases.set(entry, base);
    this.#indexer.supplyLarge(entry, base.sizeBytes);
  }

  /** The content of an object that was made. */
  async read(entry: PackEntry): Promise<Uint8Array> {
    await this.#options.hold();
    const pieces: Uint8Array[] = [];
    for await (const piece of inflateStored(this.#storedEntry(entry), this.#options.codec, this.#count))
      pieces.push(piece);
    return Buffer.concat(pieces);
  }

  /** Makes an object.
   * @throws GitError "corrupt-pack", "too-large", "sha1-collision": the pack is refused;
   * "storage-failed" */
  async make({ delta, base, content }: Extract<IndexNeed, { kind: "large" }>): Promise<void> {
    await this.#options.hold();
    // The bytes read meanwhile must not be in an unfinished write.
    await this.#writer.closeChunk();
    const entry = new Entry(this.#writer, this.#end);
    const made = await storeLarge({
      delta: this.#storedEntry(delta),
      base: content === null ? this.#largeBase(base) : baseOf(content),
      codec: this.#options.codec,
      maxObjectBytes: this.#options.limits.maxObjectSizeBytes,
      count: this.#count,
      store: async (bytes) => {
        const end = await entry.add(bytes);
        checkLimit("the pack with its large deltas undeltified (bytes)", this.#options.limits.maxPackSizeBytes, end);
        this.#options.checkQuota(end - PACK_HEADER_BYTES, this.#indexer.declaredCount);
      },
    });
    const end = await entry.end();
    this.#made.add(delta);
    this.#indexer.placeLarge(delta, made.oid, made.sizeBytes, { offset: this.#end, length: end - this.#end });
    this.#end = end;
  }

  #largeBase(entry: PackEntry): DeltaBase {
    if (this.#present?.entry !== entry) {
      const { sizeBytes, entry: stored } = this.#bases.get(entry) ?? {
        sizeBytes: this.#indexer.sizeOf(entry),
        entry: this.#storedEntry(entry),
      };
      this.#present = { entry, content: new LargeContent(sizeBytes, stored, this.#options.codec, this.#count) };
    }
    return this.#present.content;
  }

  #storedEntry(entry: PackEntry): StoredEntry {
    const { offset, length } = this.#indexer.place(entry);
    return { lengthBytes: length, read: (at, lengthBytes) => this.#writer.read(offset + at, lengthBytes) };
  }

  readonly #count = async (bytes: number): Promise<void> => {
    this.#indexer.countWork(bytes);
    this.#sliceBytes += bytes;
    if (this.#sliceBytes < SLICE_BYTES) return;
    this.#sliceBytes = 0;
    this.#options.alive();
    await pause();
  };
}

/** An entry on its way to the writer. Its last bytes are held back until it is known that they are
 * its end. */
class Entry {
  readonly #writer: ChunkWriter;
  #at: number;
  #held: Uint8Array = new Uint8Array(0);

  constructor(writer: ChunkWriter, offset: number) {
    this.#writer = writer;
    this.#at = offset;
  }

  /** @returns its current end */
  async add(bytes: Uint8Array): Promise<number> {
    await this.#append(null);
    this.#held = bytes;
    return this.#at + bytes.length;
  }

  /** @returns its end */
  async end(): Promise<number> {
    await this.#append(this.#at + this.#held.length);
    return this.#at;
  }

  async #append(end: number | null): Promise<void> {
    await this.#writer.append(this.#held, this.#at, (from, to) =>
      end !== null && end > from && end <= to ? end : null,
    );
    this.#at += this.#held.length;
  }
}
