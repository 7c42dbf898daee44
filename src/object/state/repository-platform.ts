import type { Codec } from "../../base/codec/codec.ts";
import type { Limits } from "../../base/format/configured-limits.ts";
import type { ChunkCounters, ChunkStore } from "../../base/chunks/chunk-store.ts";
import type { RegistryPort } from "../store/registry/registry-answers.ts";
import type { Sql, Transactor } from "../store/sql/sql.ts";
import type { Traffic } from "../../base/pacing/traffic.ts";
import type { FamilyPort } from "./family.ts";
import type { Outside } from "./outside.ts";
import type { RepositoryEvent } from "../../contract/log-events.ts";
import type { WorktreePolicy } from "../../contract/env.ts";

/** The platform services of a repository. */
export interface RepositoryPlatform {
  /** The repository's id in the registry: opaque, never reused. */
  readonly id: string;
  readonly registry: RegistryPort;
  readonly family: FamilyPort;
  readonly outside: Outside;
  readonly sql: Sql;
  readonly transactor: Transactor;
  /** Removes the whole database at once: a following transaction finds it empty. */
  erase(): Promise<void>;
  /** Opens the chunk store, which counts its operations in `counters`. */
  openChunks(counters: ChunkCounters): ChunkStore;
  readonly module: WebAssembly.Module;
  readonly codec: Codec;
  readonly limits: Limits;
  /** The deployment's policy for worktrees. */
  readonly worktrees: WorktreePolicy;
  /** The isolate's requests. */
  readonly traffic: Traffic;
  /** Sets the alarm: the platform calls `runJobs` at this time (ms since 1970), or earlier; then
   * `runJobs` sets the next time itself. */
  wakeAt(timeMs: number): void;
  /** Logs an event and its cost. */
  observe(event: RepositoryEvent): void;
}
