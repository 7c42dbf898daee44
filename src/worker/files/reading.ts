import type { Codec } from "../../base/codec/codec.ts";
import type { ChunkCounters, ChunkStore } from "../../base/chunks/chunk-store.ts";
import type { RepositoryEvent } from "../../contract/log-events.ts";

/** What the Worker needs to read stored bytes. The object only says where they are stored. */
export interface Reading {
  /** Opens the chunk store, which counts its operations in `counters`. */
  openChunks(counters: ChunkCounters): ChunkStore;
  /** Records what was done, and its cost. */
  observe(event: RepositoryEvent): void;
  readonly codec: Codec;
}
