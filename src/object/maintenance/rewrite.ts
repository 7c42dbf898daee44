import type { ChunkId, ObjectNumber } from "../../base/numbers/kinds.ts";
import { OID_BYTES } from "../../base/format/oid.ts";
import { encodeEntryHeader } from "../../base/format/pack.ts";
import type { ChunkStore } from "../../base/chunks/chunk-store.ts";
import type { ChunkRow, NewChunk } from "../store/index/chunk-row.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import { lowest, type MovedObjects, newObjectColumns, type ObjectColumns } from "../store/index/object-columns.ts";
import { BLOB_MAX_BYTES } from "../store/sql/sql.ts";
import type { Tables } from "../store/tables.ts";
import type { DeltaCodec } from "../../base/bytes/delta-chains.ts";
import { WHOLE_READ_BYTES } from "../../base/bytes/read-extent.ts";
import { decodeEntryHead, encodeOfsHead, encodeRefHead } from "../../base/bytes/entry-head.ts";
import { ObjectReader } from "../objects/object-reader.ts";
import { hashChunk, readChunk } from "../objects/chunk-bytes.ts";

/** What to rewrite. */
interface Rewrite {
  readonly numbers: NumberSet;
  /** Starts a new chunk where object numbers are missing, so that each chunk can be sent whole.
   * Otherwise objects simply follow each other. */
  readonly splitAtGaps: boolean;
  /** Objects to store whole. Other deltas stay deltas. */
  readonly undeltified: ReadonlySet<ObjectNumber>;
}

/** The rewritten entries, not in any table yet. */
export interface Rewritten {
  /** At most `BLOB_MAX_BYTES` each, except for a single larger entry. */
  readonly chunks: (Omit<NewChunk, "key" | "bytes"> & { readonly bytes: Uint8Array })[];
  /** The new places of the objects; `chunk` is an index into `chunks`. */
  readonly objects: MovedObjects;
  /** The chunks that held them, by id. */
  readonly sources: readonly ChunkRow[];
  /** The largest sum of bytes held, the codec's included. */
  readonly peakBytes: number;
}

/** Reads entries and lays them out as new chunks, in the order of their numbers. Changes nothing
 * that is stored.
 * @throws GitError "storage-failed" */
export function rewriteEntries(
  tables: Tables,
  store: ChunkStore,
  codec: DeltaCodec,
  rewrite: Rewrite,
): Promise<Rewritten> {
  return new Rewriting(tables, store, codec, rewrite).run();
}

/** An entry in its new form. */
interface Entry {
  readonly head: Uint8Array;
  readonly body: Uint8Array;
  /** As in `ObjectColumns`. */
  readonly base: ObjectNumber;
  readonly distance: number;
}

const NO_HEAD = new Uint8Array(0);

class Rewriting {
  readonly #tables: Tables;
  readonly #store: ChunkStore;
  readonly #codec: DeltaCodec;
  readonly #rewrite: Rewrite;
  /** The objects to store whole, in the order of their numbers. Each continues the delta chain from
   * the one before: to start each chain anew would take the square of the chain's length. */
  readonly #wholes: ReturnType<ObjectReader["lendEach"]>;
  readonly #rows: ObjectColumns;
  readonly #sources: Map<ChunkId, ChunkRow>;
  readonly #baseOids: Map<ObjectNumber, Uint8Array>;
  readonly #pruned: NumberSet;
  readonly #moved: ObjectColumns;
  readonly #chunks: Rewritten["chunks"] = [];
  /** The chunk that was read last. */
  #source: { id: number; bytes: Uint8Array } | null = null;
  /** The open chunk: its entries' bytes, and the offset of each object. */
  #open: Uint8Array[] = [];
  #openBytes = 0;
  readonly #positions = new Map<ObjectNumber, number>();
  #doneBytes = 0;
  #peakBytes = 0;

  constructor(tables: Tables, store: ChunkStore, codec: DeltaCodec, rewrite: Rewrite) {
    this.#tables = tables;
    this.#store = store;
    this.#codec = codec;
    this.#rewrite = rewrite;
    const reader = new ObjectReader(tables, store, codec);
    this.#wholes = reader.lendEach(rewrite.numbers.intersection(NumberSet.fromUnsorted(rewrite.undeltified)));
    this.#rows = tables.objects.locate(rewrite.numbers);
    this.#sources = new Map(tables.chunks.byIds(this.#rows.chunk).map((row) => [row.id, row]));
    this.#baseOids = this.#readBaseOids();
    this.#pruned = tables.objects.pruned();
    this.#moved = newObjectColumns(this.#rows.number.length);
  }

  async run(): Promise<Rewritten> {
    const { number } = this.#rows;
    for (let i = 0; i < number.length; i++) {
      if (this.#rewrite.splitAtGaps && i > 0 && this.#countBetween(number[i - 1]!, number[i]!) > 0) this.#close(i);
      await this.#add(i);
    }
    this.#close(number.length);
    return {
      chunks: this.#chunks,
      objects: this.#moved,
      sources: [...this.#sources.values()],
      peakBytes: this.#peakBytes,
    };
  }

  async #add(i: number): Promise<void> {
    const number = this.#rows.number[i]!;
    const stored = await this.#read(i);
    const whole = this.#rewrite.undeltified.has(number) ? await this.#undeltifyNext() : null;
    // An id is the longest form of a base's name.
    const bound = (whole?.body.length ?? stored.length) + OID_BYTES;
    if (this.#openBytes > 0 && this.#openBytes + bound > BLOB_MAX_BYTES) this.#close(i);
    const { head, body, base, distance } = whole ?? this.#keep(i, stored);
    this.#positions.set(number, this.#openBytes);
    this.#moved.number[i] = number;
    this.#moved.chunk[i] = this.#chunks.length;
    this.#moved.offset[i] = this.#openBytes;
    this.#moved.length[i] = head.length + body.length;
    this.#moved.base[i] = base;
    this.#moved.distance[i] = distance;
    // Views are copied: otherwise each entry would keep its whole chunk in memory.
    this.#open.push(head, whole === null ? body.slice() : body);
    this.#openBytes += head.length + body.length;
    const heldBytes = this.#doneBytes + this.#openBytes + (this.#source?.bytes.length ?? 0) + this.#codec.memoryBytes;
    this.#peakBytes = Math.max(this.#peakBytes, heldBytes);
  }

  /** A stored entry, with its base named anew. */
  #keep(i: number, stored: Uint8Array): Entry {
    const base = this.#rows.base[i]!;
    if (base === 0) return { head: NO_HEAD, body: stored, base, distance: 0 };
    const { sizeBytes, dataOffset } = decodeEntryHead(stored);
    const body = stored.subarray(dataOffset);
    const position = this.#positions.get(base);
    if (position === undefined)
      return { head: encodeRefHead(sizeBytes, this.#baseOids.get(base)!), body, base, distance: 0 };
    const distance = this.#openBytes - position;
    return { head: encodeOfsHead(sizeBytes, distance), body, base, distance };
  }

  async #undeltifyNext(): Promise<Entry> {
    const { value } = await this.#wholes.next();
    const [, { type, bytes }] = value!;
    return { head: encodeEntryHeader(type, bytes.length), body: this.#codec.deflate(bytes), base: 0, distance: 0 };
  }

  async #read(i: number): Promise<Uint8Array> {
    const chunk = this.#rows.chunk[i]!;
    const offset = this.#rows.offset[i]!;
    const length = this.#rows.length[i]!;
    const row = this.#sources.get(chunk)!;
    // Such a chunk is mostly one entry of gigabytes, which is never rewritten.
    if (row.size > WHOLE_READ_BYTES) return this.#store.read(row.key!, row.start + offset, length);
    if (this.#source?.id !== chunk) {
      this.#source = null;
      this.#source = { id: chunk, bytes: await readChunk(this.#tables.chunks, this.#store, row) };
    }
    return this.#source.bytes.subarray(offset, offset + length);
  }

  /** Ends the open chunk before row `end`. */
  #close(end: number): void {
    if (this.#openBytes === 0) return;
    const bytes = new Uint8Array(this.#openBytes);
    let at = 0;
    for (const piece of this.#open) {
      bytes.set(piece, at);
      at += piece.length;
    }
    const { number, base, distance } = this.#moved;
    const from = end - this.#positions.size;
    const bases = base.subarray(from, end);
    const isGapless = this.#countBetween(number[from]!, number[end - 1]!) === end - from - 2;
    const firstNumber = number[from]!;
    const lastNumber = number[end - 1]!;
    this.#chunks.push({
      bytes,
      size: bytes.length,
      checksum: hashChunk(bytes),
      push: this.#rows.chunk.subarray(from, end).reduce((push, id) => Math.max(push, this.#sources.get(id)!.push), 0),
      packOffset: 0,
      firstNumber,
      lastNumber,
      whole: isGapless && bases.every((base, k) => base < number[from + k]!),
      ofsFloor: lowest(bases.filter((_, k) => distance[from + k] !== 0)),
      baseFloor: lowest(bases),
      objects: null,
    });
    this.#doneBytes += bytes.length;
    this.#open = [];
    this.#openBytes = 0;
    this.#positions.clear();
  }

  /** How many objects have numbers between two; −1 when these are equal. */
  #countBetween(first: ObjectNumber, last: ObjectNumber): number {
    if (first === last) return -1;
    if (last === first + 1) return 0;
    return NumberSet.range(first + 1, last).difference(this.#pruned).size;
  }

  /** Ids of all delta bases, by number. */
  #readBaseOids(): Map<ObjectNumber, Uint8Array> {
    const bases = NumberSet.fromSorted(new Uint32Array(this.#rows.base.filter((base) => base !== 0)).sort());
    const { number, oid } = this.#tables.objects.locate(bases);
    return new Map(Array.from(number, (base, k) => [base, oid.subarray(k * OID_BYTES, (k + 1) * OID_BYTES)]));
  }
}
