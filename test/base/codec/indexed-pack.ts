/** Runs the pack indexer as the repository does, with input in pieces of any size, and formats its
 * results like git's. */
import wasm from "../../../src/base/codec/holdfast.wasm";
import { maskRefused } from "../../../src/base/codec/fsck-messages.ts";
import { NO_INDEX, oidOf as readOid, readReferences, STORED } from "../../../src/base/codec/pack-index.ts";
import type { PageStore } from "../../../src/base/codec/indexer-instance.ts";
import { PackIndexer } from "../../../src/base/codec/pack-indexer.ts";
import { DEFAULT_LIMITS, type Limits } from "../../../src/base/format/configured-limits.ts";
import { GitError } from "../../../src/base/format/errors.ts";
import { toHex } from "../../../src/base/format/oid.ts";
import type { MadeObject } from "../../harness/pack-builder.ts";

/** How a pack is fed, and how much of it stays in memory. */
export interface Feeding {
  /** Bytes of each piece; default: the whole pack. */
  readonly pieceBytes?: number;
  /** Default 2 MiB. */
  readonly ringBytes?: number;
  /** Says for each request whether stored bytes are in memory; default: always. Bytes that were
   * requested and loaded stay. */
  readonly isResident?: () => boolean;
  /** Objects that the repository holds besides the pack. */
  readonly stored?: readonly MadeObject[];
  readonly limits?: Partial<Limits>;
  readonly refused?: bigint;
  readonly pages?: MemoryPages;
}

/** An entry in the terms of `git verify-pack -v`. */
export interface IndexedEntry {
  readonly oid: string;
  readonly type: string;
  readonly sizeBytes: number;
  readonly offset: number;
  readonly base: string | null;
}

/** The indexer's results for a pack. */
export interface Indexed {
  readonly entries: IndexedEntry[];
  /** Where the last entry ends. */
  readonly end: number;
  /** Ids that each commit, tree and tag refers to, in its order; a commit's time comes first. */
  readonly edges: Map<string, (string | number)[]>;
  readonly memoryBytes: number;
  /** How often bytes had to be loaded. */
  readonly loads: number;
}

/** Pages that memory does not take. */
export class MemoryPages implements PageStore {
  readonly #pages = new Map<number, Uint8Array>();
  /** How many were put out, and read back. */
  puts = 0;
  gets = 0;

  put(key: number, page: Uint8Array): void {
    this.puts += 1;
    this.#pages.set(key, page.slice());
  }

  get(key: number, page: Uint8Array): void {
    this.gets += 1;
    page.set(this.#pages.get(key)!);
  }
}

const TYPES = ["none", "commit", "tree", "blob", "tag"];
export const TRAILER_BYTES = 20;

/** Indexes a pack; the bytes after its entries are ignored.
 * @throws GitError as the indexer does
 * @throws Error when it requests bytes without end */
export function indexPack(pack: Uint8Array, feeding: Feeding = {}): Indexed {
  const { pieceBytes = pack.length, isResident = () => true } = feeding;
  let loaded: { offset: number; end: number } | null = null;
  let loads = 0;
  const indexer = new PackIndexer(wasm, {
    limits: { ...DEFAULT_LIMITS, ...feeding.limits },
    ringBytes: feeding.ringBytes ?? 2 * 1024 * 1024,
    refused: feeding.refused ?? maskRefused("default"),
    pages: feeding.pages ?? new MemoryPages(),
    readBack: (offset, out) => {
      const isLoaded = loaded !== null && offset >= loaded.offset && offset < loaded.end;
      if (!isLoaded && !isResident()) return 0;
      const end = Math.min(offset + out.length, isLoaded ? loaded!.end : pack.length);
      out.set(pack.subarray(offset, end));
      return end - offset;
    },
  });
  try {
    feed(indexer, pack, pieceBytes);
    meetNeeds();
    return layOut(indexer, loads);
  } finally {
    indexer.release();
  }

  function meetNeeds(): void {
    for (let need = indexer.finish(); need !== null; need = indexer.finish()) {
      if (need.kind === "bytes") {
        if (++loads > 200_000) throw new Error("the indexer asks without end");
        loaded = { offset: need.offset, end: need.offset + need.length };
        continue;
      }
      if (need.kind === "pause") continue;
      if (need.kind === "memory") {
        indexer.allow();
        continue;
      }
      // No sample has such a delta, but a damaged one may claim to be one.
      // `repository/large-deltas` handles these requests.
      if (need.kind === "large") throw new GitError("too-large", { what: "object (bytes)", limit: 0 });
      const oid = toHex(need.oid);
      const base = feeding.stored?.find((object) => object.oid === oid);
      if (base === undefined) indexer.lack(need.entry);
      else indexer.supply(need.entry, TYPES.indexOf(base.type), base.content);
    }
  }
}

function feed(indexer: PackIndexer, pack: Uint8Array, pieceBytes: number): void {
  for (let at = 0; at < pack.length && !indexer.done;) {
    const room = indexer.input();
    const piece = pack.subarray(at, at + Math.min(pieceBytes, room.length));
    room.set(piece);
    at += piece.length;
    for (indexer.step(piece.length); indexer.isPaused; indexer.step(0)) {
      if (indexer.needsMemory) indexer.allow();
      indexer.input();
    }
  }
}

function layOut(indexer: PackIndexer, loads: number): Indexed {
  const index = indexer.index();
  const oidOf = (node: number): string => toHex(readOid(index, node));
  const entries: IndexedEntry[] = [];
  const edges = new Map<string, (string | number)[]>();
  for (let entry = 0; entry < index.count; entry++) {
    const oid = oidOf(index.nodeOf(entry));
    const isDelta = index.stored(entry) === STORED.ofsDelta || index.stored(entry) === STORED.refDelta;
    entries.push({
      oid,
      type: TYPES[index.kind(entry)]!,
      sizeBytes: index.size(entry),
      offset: index.offset(entry),
      base: isDelta && index.base(entry) !== NO_INDEX ? oidOf(index.nodeOf(index.base(entry))) : null,
    });
    // A blob refers to nothing, and an object that comes again has its references once.
    if (index.kind(entry) === 3 || index.entryOf(index.nodeOf(entry)) !== entry) continue;
    const time = index.kind(entry) === 1 ? [index.time(entry)] : [];
    edges.set(oid, [...time, ...Array.from(readReferences(index, entry), oidOf)]);
  }
  return { entries, end: index.end, edges, memoryBytes: indexer.memoryBytes, loads };
}
