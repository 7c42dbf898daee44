import { FREE_CONTENT_BYTES } from "../../base/codec/pack-indexer.ts";
import { MAX_DELTA_BLOB_BYTES } from "../../base/format/limits.ts";
import { BLOB, TREE } from "../../base/format/object.ts";
import type { ChunkStore } from "../../base/chunks/chunk-store.ts";
import type { ChunkId } from "../../base/numbers/kinds.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import type { ObjectReader } from "../objects/object-reader.ts";
import { keptTree } from "../objects/tree-contents.ts";
import type { RepositoryState } from "../state/repository-state.ts";
import type { BaseObject } from "./indexed-pack.ts";
import type { LargeBase } from "./made-objects.ts";

/** The stored objects that a pushed pack's deltas begin from: the pack leaves them out. */
export class StoredBases {
  readonly #repository: RepositoryState;
  readonly #chunks: ChunkStore;
  readonly #openReader: () => ObjectReader;

  constructor(repository: RepositoryState, chunks: ChunkStore, openReader: () => ObjectReader) {
    this.#repository = repository;
    this.#chunks = chunks;
    this.#openReader = openReader;
  }

  /** Reads a base; a blob that is too large to hold is opened where it is stored.
   * @param hold waits for the memory that a large content takes
   * @returns null: the repository has no such object */
  async read(oid: Uint8Array, hold: () => Promise<void>): Promise<BaseObject | LargeBase | null> {
    const { tables, platform } = this.#repository;
    const number = tables?.objects.find(oid)?.number;
    if (number === undefined) return null;
    const row = tables!.objects.locate(NumberSet.of(number));
    const maxBlobBytes = Math.min(platform.limits.maxResidentObjectBytes, MAX_DELTA_BLOB_BYTES);
    if (row.base[0] === 0 && row.type[0] === BLOB && row.size[0]! > maxBlobBytes)
      return this.#openLarge(row.size[0]!, row.chunk[0]!, row.offset[0]!, row.length[0]!);
    const kept = keptTree(oid);
    if (kept !== undefined) return { type: TREE, content: kept };
    if (row.size[0]! > FREE_CONTENT_BYTES) await hold();
    const { type, bytes } = await this.#openReader().read(number);
    return { type, content: bytes };
  }

  /** Whether a stored blob has passed the checks of these names.
   * @param names bits, as in the table `vetted_blobs` */
  isVetted(oid: Uint8Array, names: number): boolean {
    const { tables } = this.#repository;
    const number = tables?.objects.find(oid)?.number;
    // A missing blob is refused as missing, not here.
    return number === undefined || (tables!.vetted.names(number) & names) === names;
  }

  /** Maintenance keeps old places for long enough. */
  #openLarge(sizeBytes: number, chunk: ChunkId, offset: number, lengthBytes: number): LargeBase {
    const { chunks } = this.#repository.tables!;
    const { key, start } = chunks.byIds([chunk])[0]!;
    const bytes = key === null ? chunks.hotBytesOf(chunk)! : null;
    const read = async (at: number, length: number): Promise<Uint8Array> =>
      bytes === null
        ? this.#chunks.read(key!, start + offset + at, length)
        : bytes.subarray(offset + at, offset + at + length);
    return { sizeBytes, entry: { lengthBytes, read } };
  }
}
