import type { PageStore } from "../../base/codec/indexer-instance.ts";
import type { Codec } from "../../base/codec/codec.ts";
import type { PackIndexer } from "../../base/codec/pack-indexer.ts";
import type { Limits } from "../../base/format/configured-limits.ts";
import type { Oid } from "../../base/format/oid.ts";
import type { ChunkStore } from "../../base/chunks/chunk-store.ts";
import type { Traffic } from "../../base/pacing/traffic.ts";
import type { PushRequest } from "../state/push.ts";
import type { ChunkWriterOptions, WrittenChunk } from "./chunk-writer.ts";
import type { LargeBase } from "./made-objects.ts";

/** A stored object that a pack needs but lacks: a thin base. */
export interface BaseObject {
  /** 1–4. */
  readonly type: number;
  readonly content: Uint8Array;
}

/** What indexing a pack needs. */
export interface IndexPackOptions {
  limits: Limits;
  /** The isolate's. */
  traffic: Traffic;
  /** fsck messages that refuse the pack, one bit each. */
  refused: bigint;
  module: WebAssembly.Module;
  codec: Codec;
  chunks: ChunkStore;
  keyPrefix: string;
  beforeFirstWrite: ChunkWriterOptions["beforeFirstWrite"];
  progress: PushRequest["progress"];
  /** Takes what memory does not take of the index. */
  pages: PageStore;
  /** Refuses a pack of at least this many entry bytes and objects.
   * @throws GitError "too-large" */
  checkQuota(entryBytes: number, objects: number): void;
  /** Reads a stored object; null when it is missing.
   * @param hold waits for the memory of a large one */
  readBase(oid: Oid, hold: () => Promise<void>): Promise<BaseObject | LargeBase | null>;
  /** Whether a stored blob has already passed the checks for these names (bits of
   * `NODE_SPECIAL_MASK`). */
  isVetted(oid: Oid, names: number): boolean;
}

/** A pack with all objects hashed and checked, and all entries stored. Nothing refers to them
 * yet. */
export interface IndexedPack {
  readonly indexer: PackIndexer;
  readonly chunks: WrittenChunk[];
  readonly packBytes: number;
  /** The largest sum of module memory and buffers while indexing (bytes). */
  readonly peakBytes: number;
  /** Releases the index's memory. Must be called once, when the push has ended. */
  release(): void;
}
