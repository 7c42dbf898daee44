import { NO_INDEX, NODE_SPECIAL_MASK, oidOf, type PackNode } from "../../base/codec/pack-index.ts";
import {
  FREE_CONTENT_BYTES,
  type IndexNeed,
  PackIndexer,
  type PackIndexerOptions,
} from "../../base/codec/pack-indexer.ts";
import { GitError, packTooLarge } from "../../base/format/errors.ts";
import { HOT_PUSH_BYTES, MAX_DELTA_BLOB_BYTES, MIN_CONTENDED_BYTES } from "../../base/format/limits.ts";
import { BLOB } from "../../base/format/object.ts";
import { decodePackHeader, PACK_HEADER_BYTES, PACK_TRAILER_BYTES } from "../../base/format/pack.ts";
import { ChunkWriter } from "./chunk-writer.ts";
import type { PackSource } from "../state/push.ts";
import { MadeObjects } from "./made-objects.ts";
import { NeededEntries } from "./needed-entries.ts";
import type { IndexedPack, IndexPackOptions } from "./indexed-pack.ts";
import { findBoundary, PackTrailer, READ_BYTES } from "./pack-framing.ts";
import { pause, TimeSlice } from "../../base/pacing/time-slice.ts";
import { PushMemory } from "./push-memory.ts";
import type { Permit } from "../../base/pacing/semaphore.ts";

/** Bytes of contents kept for deltas. A push that fits its first read rarely needs more than the
 * small size. */
const SMALL_RING_BYTES = 2 * 1024 * 1024;
const LARGE_RING_BYTES = 8 * 1024 * 1024;

/** The memory target of a push, and the writer's share besides the bytes it keeps for deltas: the
 * open chunk and a part being uploaded. */
const MEMORY_BYTES = 60 * 1024 * 1024;
const WRITER_BYTES = 12 * 1024 * 1024;

/** Deltas left to resolve for which the entries that they need are kept, not pieces of the pack. */
const MANY_DELTAS = 100;

/** Objects that the module holds at once besides its ring, and the least size that each may have,
 * however large the tables are. */
const HELD_CONTENTS = 3;
const MIN_CONTENT_BYTES = 2 * FREE_CONTENT_BYTES;

/** Bytes of the tables that every push may have. */
const FREE_TABLE_BYTES = 4 * 1024 * 1024;

/** Indexes a pack as it arrives and stores its entries, in constant memory.
 * @throws GitError "corrupt-pack", "bad-object", "too-large", "sha1-collision", "wrong-type": the
 * pack is refused; "storage-failed", and the source's errors. What was stored until then is garbage
 * below the key prefix */
export async function indexPack(source: PackSource, options: IndexPackOptions): Promise<IndexedPack> {
  const writer = new ChunkWriter(options);
  try {
    return await new Indexing(source, options, writer).run();
  } catch (error) {
    await writer.abort();
    throw error;
  }
}

class Indexing {
  readonly #source: PackSource;
  readonly #options: IndexPackOptions;
  readonly #writer: ChunkWriter;
  readonly #trailer = new PackTrailer();
  #permit: Permit | null = null;
  #memory!: PushMemory;
  #packBytes = 0;
  #peakBytes = 0;

  constructor(source: PackSource, options: IndexPackOptions, writer: ChunkWriter) {
    this.#source = source;
    this.#options = options;
    this.#writer = writer;
  }

  async run(): Promise<IndexedPack> {
    const first = await this.#source.read(HOT_PUSH_BYTES);
    if (first === null) throw new GitError("corrupt-pack", { reason: "it is empty" });
    // Refuse an excess of the quota before waiting for other pushes.
    const entryBytes = Math.max(0, first.length - PACK_HEADER_BYTES - PACK_TRAILER_BYTES);
    this.#options.checkQuota(entryBytes, decodePackHeader(first));
    const isSmall = first.length < HOT_PUSH_BYTES;
    const { smallPacks, largePacks } = this.#options.traffic;
    const permit = await (isSmall ? smallPacks : largePacks).acquire();
    this.#permit = permit;
    let memory: PushMemory | null = null;
    let indexer: PackIndexer | null = null;
    const release = (): void => {
      indexer?.release();
      memory?.free();
      permit.release();
    };
    try {
      memory = this.#memory = await PushMemory.take(isSmall);
      this.#keepResident(memory);
      const isContended = () => largePacks.isWanted || this.#memory.isWanted;
      if (!isSmall) this.#source.demandPace?.(() => (isContended() ? MIN_CONTENDED_BYTES : 0));
      const hasManyObjects = memory.outgrows(0, decodePackHeader(first));
      if (hasManyObjects) await memory.takeLarge(() => permit.renew());
      indexer = new PackIndexer(this.#options.module, { ...this.#indexerOptions(isSmall), hasManyObjects });
      if (hasManyObjects) await this.#hold(indexer);
      return { ...(await this.#indexWith(indexer, first)), release };
    } catch (error) {
      release();
      throw error;
    }
  }

  async #indexWith(indexer: PackIndexer, first: Uint8Array): Promise<Omit<IndexedPack, "release">> {
    let piece: Uint8Array | null = first;
    while (piece !== null && !indexer.done) {
      const left = await this.#take(indexer, piece);
      piece = left.length > 0 || indexer.done ? left : await this.#source.read(READ_BYTES);
      this.#options.progress("Receiving objects", indexer.count, indexer.declaredCount);
    }
    if (indexer.done) {
      const rest = [indexer.rest().slice(), ...(piece === null ? [] : [piece])];
      await this.#trailer.check(rest, this.#source);
    }
    await this.#finish(indexer);
    const chunks = await this.#writer.finish();
    return {
      indexer,
      chunks,
      packBytes: this.#packBytes + PACK_TRAILER_BYTES,
      peakBytes: this.#peakBytes,
    };
  }

  #indexerOptions(isSmall: boolean): PackIndexerOptions {
    const { limits, refused } = this.#options;
    return {
      limits,
      refused,
      pages: this.#options.pages,
      ringBytes: isSmall ? SMALL_RING_BYTES : LARGE_RING_BYTES,
      readBack: (offset, out) => this.#writer.readBack(offset, out),
    };
  }

  /** Feeds one piece of the body.
   * @returns its rest after the last entry */
  async #take(indexer: PackIndexer, piece: Uint8Array): Promise<Uint8Array> {
    let left = piece;
    while (left.length > 0 && !indexer.done) {
      const input = indexer.input();
      const taken = left.subarray(0, input.length);
      input.set(taken);
      left = left.subarray(taken.length);
      await this.#finishStep(indexer, indexer.step(taken.length), piece.length);
      while (indexer.isPaused) {
        await (indexer.needsMemory ? this.#hold(indexer) : pause());
        // Removes the consumed bytes first.
        indexer.input();
        await this.#finishStep(indexer, indexer.step(0), piece.length);
      }
    }
    return left;
  }

  /** Stores what the indexer has finished. */
  async #finishStep(indexer: PackIndexer, consumed: Uint8Array, pieceBytes: number): Promise<void> {
    this.#trailer.update(consumed);
    await this.#store(indexer, consumed);
    this.#packBytes += consumed.length;
    const { maxPackSizeBytes } = this.#options.limits;
    if (this.#packBytes > maxPackSizeBytes) throw packTooLarge("the pack (bytes)", maxPackSizeBytes, this.#packBytes);
    this.#options.checkQuota(Math.max(0, this.#packBytes - PACK_HEADER_BYTES), indexer.declaredCount);
    await this.#noteStep(indexer, pieceBytes);
  }

  /** Updates the memory after a step: counts the bytes held, makes the writer hold less of the pack
   * the more the index needs, and waits for more memory when the index has outgrown its share. */
  async #noteStep(indexer: PackIndexer, pieceBytes: number): Promise<void> {
    this.#renew();
    this.#peakBytes = Math.max(this.#peakBytes, indexer.memoryBytes + this.#writer.memoryBytes + pieceBytes);
    const { residentBytes } = this.#writer;
    const freeBytes = Math.min(
      MEMORY_BYTES - WRITER_BYTES - indexer.memoryBytes,
      residentBytes + this.#memory.freeBytes,
    );
    this.#writer.limitResident(Math.max(0, freeBytes));
    if (this.#memory.outgrows(indexer.memoryBytes, 0)) await this.#hold(indexer);
  }

  /** The bytes of the pack that the writer keeps make way for other requests. */
  #keepResident(memory: PushMemory): void {
    const writer = this.#writer;
    memory.keep({
      get sizeBytes() {
        return writer.residentBytes;
      },
      shrink: (limitBytes) => writer.limitResident(limitBytes),
    });
  }

  #renew(): void {
    this.#permit?.renew();
    this.#memory.renew();
  }

  /** Waits for the memory of large objects and tables. The larger the tables, the smaller the blobs
   * that may still be held for deltas. */
  async #hold(indexer: PackIndexer): Promise<void> {
    await this.#memory.takeLarge(() => this.#permit?.renew());
    const tableBytes = Math.max(0, indexer.tableBytes - FREE_TABLE_BYTES);
    const contentBytes = MAX_DELTA_BLOB_BYTES - tableBytes / HELD_CONTENTS;
    indexer.allow(Math.floor(Math.max(MIN_CONTENT_BYTES, contentBytes)));
  }

  async #store(indexer: PackIndexer, consumed: Uint8Array): Promise<void> {
    const entries = indexer.entries();
    // The pack's header is not part of any entry.
    const skip = this.#packBytes === 0 ? Math.min(consumed.length, PACK_HEADER_BYTES) : 0;
    await this.#writer.append(consumed.subarray(skip), this.#packBytes + skip, (from, to) =>
      findBoundary(entries, from, to),
    );
  }

  async #finish(indexer: PackIndexer): Promise<void> {
    const total = indexer.deferredCount;
    const hold = () => this.#hold(indexer);
    // The tables hardly grow any more, except for names in deltas.
    if (this.#memory.hasLarge) await hold();
    if (total >= MANY_DELTAS) await this.#keepNeeded(new NeededEntries(indexer.index()));
    const made = new MadeObjects(
      indexer,
      this.#writer,
      { ...this.#options, alive: () => this.#renew(), hold },
      this.#packBytes,
    );
    await this.#meetNeeds(indexer, total, made);
    if (this.#addUnvetted(indexer)) await this.#meetNeeds(indexer, total, made);
    indexer.seal();
    if (total > 0) this.#options.progress("Resolving deltas", total, total);
  }

  async #keepNeeded(needed: NeededEntries): Promise<void> {
    const { wantedBytes } = needed;
    if (wantedBytes > 0 && this.#memory.tryTakeMore(wantedBytes)) needed.allow(wantedBytes);
    await this.#writer.keepNeeded(needed);
  }

  /** Blobs that the pack names as `.gitmodules` or `.gitattributes`, and that are stored but were
   * never checked as such.
   * @returns whether there are any */
  #addUnvetted(indexer: PackIndexer): boolean {
    const index = indexer.index();
    const unvetted: PackNode[] = [];
    for (let packNode: PackNode = 0; packNode < index.nodeCount; packNode++) {
      const names = index.flags(packNode) & NODE_SPECIAL_MASK;
      if (names === 0 || index.entryOf(packNode) !== NO_INDEX) continue;
      if (!this.#options.isVetted(oidOf(index, packNode), names)) unvetted.push(packNode);
    }
    for (const packNode of unvetted) indexer.addExternal(packNode);
    return unvetted.length > 0;
  }

  async #meetNeeds(indexer: PackIndexer, total: number, made: MadeObjects): Promise<void> {
    // What is at hand is read without a wait, thousands of bases of a thin pack among it.
    const slice = new TimeSlice();
    for (let need = indexer.finish(); need !== null; need = indexer.finish()) {
      await slice.pause();
      if (need.kind === "pause") await pause();
      else if (need.kind === "memory") await this.#hold(indexer);
      else if (need.kind === "bytes") await this.#writer.load(need.offset, need.length);
      else if (need.kind === "large") await made.make(need);
      else if (made.has(need.entry)) indexer.supply(need.entry, BLOB, await made.read(need.entry));
      else await this.#supplyBase(indexer, made, need);
      this.#options.progress("Resolving deltas", total - indexer.deferredCount, total);
      await this.#noteStep(indexer, made.memoryBytes);
    }
  }

  async #supplyBase(
    indexer: PackIndexer,
    made: MadeObjects,
    { entry, oid }: Extract<IndexNeed, { kind: "base" }>,
  ): Promise<void> {
    const base = await this.#options.readBase(oid, () => this.#hold(indexer));
    if (base === null) return indexer.lack(entry);
    if (!("content" in base)) return made.addBase(entry, base);
    if (base.content.length > FREE_CONTENT_BYTES) await this.#hold(indexer);
    indexer.supply(entry, base.type, base.content);
  }
}
