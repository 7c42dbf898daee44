import type { ChunkId, ObjectNumber } from "../../base/numbers/kinds.ts";
import { createHash } from "node:crypto";
import { readDeltaSizes } from "../../base/codec/apply-delta.ts";
import { GitError } from "../../base/format/errors.ts";
import { BLOB, fromTypeNumber, objectHeader, type ObjectTypeNumber } from "../../base/format/object.ts";
import { equalOids, toHex } from "../../base/format/oid.ts";
import { OFS_DELTA, REF_DELTA } from "../../base/format/pack.ts";
import type { ChunkStore } from "../../base/chunks/chunk-store.ts";
import type { ChunkRow } from "../store/index/chunk-row.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import type { ObjectRow } from "../store/index/object-columns.ts";
import type { RowAudit } from "../store/index/row-audit.ts";
import type { Tables } from "../store/tables.ts";
import { ByteCache } from "../../base/bytes/byte-cache.ts";
import type { DeltaCodec, WholeObject } from "../../base/bytes/delta-chains.ts";
import { freeBytes } from "../../base/bytes/held-bytes.ts";
import { WHOLE_READ_BYTES } from "../../base/bytes/read-extent.ts";
import { decodeEntryHead } from "../../base/bytes/entry-head.ts";
import { streamEntry } from "../../base/bytes/entry-stream.ts";
import { ObjectCache } from "./object-cache.ts";
import type { FsckProblem } from "../../contract/upkeep.ts";

/** Bytes of chunks and of objects that are cached, because other objects may be deltas on them. */
const CHUNK_BYTES = 8 * 1024 * 1024;
const OBJECT_BYTES = 12 * 1024 * 1024;

/** How much is read at a time of a chunk too large to be read whole: many small entries precede the
 * large one. */
const WINDOW_BYTES = 1024 * 1024;

/** Blobs of at least this size are hashed while they stream, unless they are deltas. */
const STREAM_BYTES = 4 * 1024 * 1024;

/** How often an object is read again because a job moved it meanwhile. */
const ATTEMPTS = 3;

/** The chunk being checked. It stays readable in this form, whatever maintenance does meanwhile. */
interface EnteredChunk {
  readonly chunk: ChunkRow;
  readonly rows: ReadonlyMap<ObjectNumber, ObjectRow>;
  /** Null: it is too large to hold. */
  readonly bytes: Uint8Array | null;
}

/** Reads objects from what is stored now. It does not use the isolate's caches, which may hold
 * correct bytes that the store has lost, and it does not trust rows that their delta chains end. */
export class StoredEntries {
  readonly #audit: RowAudit;
  readonly #tablesNow: () => Tables;
  readonly #store: ChunkStore;
  readonly #codec: DeltaCodec;
  readonly #chunks = new ByteCache<Uint8Array>(CHUNK_BYTES, null, freeBytes);
  readonly #objects = new ObjectCache(OBJECT_BYTES);
  readonly #failed = new Set<number>();
  readonly #lost = new Set<ChunkId>();
  #entered: EnteredChunk | null = null;
  /** Rows of chunks, and of objects and their bases, as first read. */
  readonly #chunkRows = new Map<ChunkId, ChunkRow>();
  #known: ReadonlyMap<ObjectNumber, ObjectRow> = new Map();
  #window: { readonly chunk: ChunkId; readonly start: number; readonly bytes: Uint8Array } | null = null;

  constructor(audit: RowAudit, tablesNow: () => Tables, store: ChunkStore, codec: DeltaCodec) {
    this.#audit = audit;
    this.#tablesNow = tablesNow;
    this.#store = store;
    this.#codec = codec;
  }

  /** Sets the chunk whose objects are read next.
   * @param bytes in a buffer of their own, which is freed with the next chunk; null: it is too
   * large */
  enter(chunk: ChunkRow, rows: readonly ObjectRow[], bytes: Uint8Array | null): void {
    if (this.#entered?.bytes) freeBytes(this.#entered.bytes);
    this.#entered = { chunk, rows: new Map(rows.map((row) => [row.number, row])), bytes };
  }

  /** Reads the rows of the delta chains of objects that are read next. */
  prepare(rows: readonly ObjectRow[]): void {
    const numbers = NumberSet.fromUnsorted(rows.map(({ number }) => number));
    this.#known = this.#audit.namedObjects(this.#tablesNow().objects.withBases(numbers).toArray());
  }

  /** Records that a chunk's bytes are missing. */
  lose(chunk: ChunkId): void {
    this.#lost.add(chunk);
  }

  /** Whether an object is never held in memory whole. Only `hashStreamed` accepts such an
   * object. */
  isStreamed({ base, type, size }: ObjectRow): boolean {
    return base === 0 && type === BLOB && size >= STREAM_BYTES;
  }

  /** The id and size of a streamed blob's content.
   * @throws GitError "storage-failed", "corrupt-pack" */
  async hashStreamed(row: ObjectRow): Promise<{ oid: Uint8Array; sizeBytes: number }> {
    const chunk = this.#chunkOf(row);
    const { key, start, size } = chunk;
    const extent = key === null ? { bytes: this.#hotBytes(chunk) } : { key, start, length: size };
    const hash = createHash("sha1").update(objectHeader("blob", row.size));
    let sizeBytes = 0;
    const source = { store: this.#store, codec: this.#codec };
    const content = await streamEntry(source, { extent, offset: row.offset, length: row.length });
    try {
      for await (const piece of content) {
        hash.update(piece);
        sizeBytes += piece.length;
        if (sizeBytes > row.size) break;
      }
    } catch (cause) {
      if (cause instanceof GitError) throw cause;
      throw new GitError("corrupt-pack", { reason: "an entry does not inflate" }, { cause });
    }
    return { oid: new Uint8Array(hash.digest()), sizeBytes };
  }

  /** The bytes of an entry as stored, valid until the next call.
   * @throws GitError "storage-failed" */
  async read(row: ObjectRow): Promise<Uint8Array> {
    const chunk = this.#chunkOf(row);
    const { offset, length } = row;
    if (chunk.key !== null && chunk.size > WHOLE_READ_BYTES) return this.#readWindow(chunk, offset, length);
    let bytes = this.#entered?.chunk === chunk ? this.#entered.bytes : this.#chunks.get(String(chunk.id));
    if (bytes === undefined || bytes === null) {
      bytes = chunk.key === null ? this.#hotBytes(chunk) : await this.#fetch(chunk, 0, chunk.size);
      this.#chunks.set(String(chunk.id), bytes, bytes.length);
    }
    return bytes.subarray(offset, offset + length);
  }

  /** Reads an object: its entry, or its delta chain from the base on. It is valid until the next
   * call, and calls must not overlap.
   * @throws GitError "storage-failed", with `damage` when the stored data is wrong; "corrupt-pack",
   * "corrupt-delta", "too-large" */
  async readObject(row: ObjectRow): Promise<WholeObject> {
    for (let attempt = 1, at: ObjectRow | undefined = row; ; attempt++) {
      const chain: ObjectRow[] = [];
      try {
        return await this.#resolve(at, chain);
      } catch (error) {
        const isMoved = chain.some((link) => this.#isMoved(link));
        this.#known = new Map();
        this.#chunkRows.clear();
        at = isMoved ? this.#audit.namedObjects([row.number]).get(row.number) : undefined;
        if (at !== undefined && attempt < ATTEMPTS) continue;
        this.#failed.add(row.number);
        throw error;
      }
    }
  }

  /** @param chain receives the rows on the way to a cached object, or to one that is not a delta */
  async #resolve(row: ObjectRow, chain: ObjectRow[]): Promise<WholeObject> {
    const seen = new Set<number>();
    let object: WholeObject | undefined;
    for (let at = row; (object = this.#objects.get(at.number)) === undefined;) {
      if (at !== row && this.#failed.has(at.number)) throw damaged(`its delta base ${toHex(at.oid)} cannot be read`);
      if (seen.has(at.number)) throw damaged("its delta chain is a cycle");
      seen.add(at.number);
      chain.push(at);
      if (at.base === 0) break;
      const base = this.#rowOf(at.base);
      if (base === undefined) throw damaged(`its delta base, object number ${at.base}, is missing`);
      at = base;
    }
    for (const link of chain.toReversed()) {
      object = await this.#link(link, object ?? null);
      this.#objects.set(link.number, object);
    }
    return object!;
  }

  async #link(row: ObjectRow, base: WholeObject | null): Promise<WholeObject> {
    const entry = await this.read(row);
    const { type, sizeBytes, dataOffset } = decodeEntryHead(entry);
    const target = row.base === 0 ? this.#objects.take(sizeBytes) : undefined;
    const { content, consumed } = this.#codec.inflate(entry.subarray(dataOffset), sizeBytes, target);
    if (dataOffset + consumed !== entry.length) throw damaged("the length of its entry differs from its row");
    const isDelta = type === OFS_DELTA || type === REF_DELTA;
    if (isDelta !== (row.base !== 0))
      throw damaged(`its entry is ${isDelta ? "a" : "not a"} delta, but its row says otherwise`);
    if (!isDelta) return { type, bytes: content };
    const result = this.#objects.take(readDeltaSizes(content).resultBytes);
    return { type: base!.type, bytes: this.#codec.applyDelta(base!.bytes, content, result) };
  }

  #rowOf(number: ObjectNumber): ObjectRow | undefined {
    return this.#entered?.rows.get(number) ?? this.#known.get(number) ?? this.#audit.namedObjects([number]).get(number);
  }

  #isMoved({ number, chunk, offset, base }: ObjectRow): boolean {
    const now = this.#audit.namedObjects([number]).get(number);
    if (now?.chunk !== chunk || now.offset !== offset || now.base !== base) return true;
    // Sealed meanwhile: the object's row did not change.
    return this.#chunkRows.get(chunk)?.key === null && this.#tablesNow().chunks.find(chunk)?.key !== null;
  }

  #chunkOf(row: ObjectRow): ChunkRow {
    const entered = this.#entered?.chunk;
    const chunk =
      entered?.id === row.chunk
        ? entered
        : (this.#chunkRows.get(row.chunk) ?? this.#tablesNow().chunks.find(row.chunk));
    if (chunk === null) throw damaged(`its chunk ${row.chunk} is missing`);
    this.#chunkRows.set(chunk.id, chunk);
    if (this.#lost.has(chunk.id)) throw lost(chunk.id);
    if (row.offset + row.length > chunk.size) throw damaged("its entry extends beyond its chunk");
    return chunk;
  }

  #hotBytes(chunk: ChunkRow): Uint8Array {
    const bytes =
      this.#entered?.chunk === chunk ? this.#entered.bytes : this.#tablesNow().objects.hot.bytesOf(chunk.id);
    if (bytes?.length !== chunk.size) throw lost(chunk.id);
    return bytes;
  }

  async #fetch(chunk: ChunkRow, offset: number, length: number): Promise<Uint8Array> {
    try {
      return await this.#store.read(chunk.key!, chunk.start + offset, length);
    } catch (error) {
      if ((await findLoss(this.#store, chunk)) === null) throw error;
      this.lose(chunk.id);
      throw lost(chunk.id);
    }
  }

  async #readWindow(chunk: ChunkRow, offset: number, length: number): Promise<Uint8Array> {
    if (length > WINDOW_BYTES) return this.#fetch(chunk, offset, length);
    const at = this.#window;
    if (at?.chunk !== chunk.id || offset < at.start || offset + length > at.start + at.bytes.length) {
      const bytes = await this.#fetch(chunk, offset, Math.min(WINDOW_BYTES, chunk.size - offset));
      if (at !== null) freeBytes(at.bytes);
      this.#window = { chunk: chunk.id, start: offset, bytes };
    }
    const { start, bytes } = this.#window!;
    return bytes.subarray(offset - start, offset - start + length);
  }
}

/** Why a chunk's bytes cannot be read from R2, null: they exist, and only the store failed. */
export async function findLoss(
  store: ChunkStore,
  { key, start, size }: Pick<ChunkRow, "key" | "start" | "size">,
): Promise<Pick<FsckProblem, "kind" | "detail"> | null> {
  const stat = await store.stat(key!);
  if (stat === null) return { kind: "chunk-missing", detail: "its R2 object is missing" };
  if (stat.sizeBytes >= start + size) return null;
  return {
    kind: "chunk-short",
    detail: `its R2 object has ${stat.sizeBytes} bytes, but the chunk ends at ${start + size}`,
  };
}

/** Whether content has an id. */
export function hasOid(type: ObjectTypeNumber, content: Uint8Array, oid: Uint8Array): boolean {
  const header = objectHeader(fromTypeNumber(type), content.length);
  return equalOids(new Uint8Array(createHash("sha1").update(header).update(content).digest()), oid);
}

function lost(chunk: ChunkId): GitError {
  return damaged(`the bytes of its chunk ${chunk} are missing`);
}

/** An error for wrong stored data, as opposed to a failure of the store. */
function damaged(reason: string): GitError {
  return new GitError("storage-failed", { damage: true, reason });
}
