import type { ChunkCounters } from "../base/chunks/chunk-store.ts";
import type { JobKind } from "./upkeep.ts";
import type { SentPack } from "../base/bytes/pack-stream.ts";

/** A log event of a repository; sizes in bytes, times in ms. */
export type RepositoryEvent =
  | PushEvent
  | FetchEvent
  | CallEvent
  | ReadEvent
  | BackupEvent
  | BundleEvent
  | JobEvent
  | JobFailedEvent
  | AnnouncementFailedEvent
  | DeliveryFailedEvent
  | EventLostEvent;

/** A push of a git client ended, whether or not its refs moved. */
interface PushEvent extends PushCost {
  readonly event: "push";
  /** The id of the request. */
  readonly request: string;
}

/** The cost of a push, or of a change through the API. */
export interface PushCost {
  readonly refs: number;
  readonly packBytes: number;
  readonly objects: number;
  /** Times from the first pack byte to the last check, and from there to the end of the
   * transaction. */
  readonly indexMs: number;
  readonly applyMs: number;
  /** Peak of module memory and buffers together. */
  readonly peakBytes: number;
  /** Number of changes through the API that shared one transaction and its times; only the first
   * of them has the operations. Absent: the change had its own transaction. */
  readonly together?: number;
  readonly operations: ChunkCounters;
}

/** A pack was sent. */
export interface FetchEvent extends SentPack {
  readonly event: "fetch";
  /** Whether the response was made for this request alone, stored for it and equal ones, or already
   * stored. */
  readonly cache: "miss" | "shared" | "hit";
  /** Time that the repository took to plan the response. */
  readonly planMs: number;
  readonly operations: ChunkCounters & Pick<SqlCounters, "rowsRead">;
}

/** A call of the API ended. */
interface CallEvent {
  readonly event: "call";
  /** The id of the request. */
  readonly request: string;
  readonly name: string;
  readonly ms: number;
  /** Code of the call's error; null: none. */
  readonly error: string | null;
  readonly operations: ChunkCounters & Pick<SqlCounters, "rowsRead" | "rowsWritten">;
  /** The pushes that the call made; absent: none. */
  readonly pushes?: readonly PushCost[];
}

/** The API's Worker read blobs. */
export interface ReadEvent {
  readonly event: "read";
  readonly what: "blob" | "raw" | "archive" | "grep";
  readonly blobs: number;
  /** Bytes that the client received. */
  readonly sentBytes: number;
  /** Whether the client received everything: it may disconnect, and a read may fail. */
  readonly complete: boolean;
  readonly operations: ChunkCounters;
}

/** A backup was sent. */
interface BackupEvent {
  readonly event: "backup";
  readonly objects: number;
  /** Bytes that the client received. */
  readonly sentBytes: number;
  /** Whether the client received everything: it may disconnect, and a read may fail. */
  readonly complete: boolean;
  /** Peak of plan and buffers together. */
  readonly peakBytes: number;
  readonly operations: ChunkCounters;
}

/** A bundle was built. */
export interface BundleEvent {
  readonly event: "bundle";
  readonly objects: number;
  readonly sizeBytes: number;
  readonly buildMs: number;
  /** Peak of all buffers together. */
  readonly peakBytes: number;
  readonly operations: ChunkCounters;
}

/** The counts of a job's run. Each kind of job sets some of them. */
export interface JobCounts {
  /** Chunks that the job replaced or moved, and their bytes. */
  readonly chunks?: number;
  readonly bytes?: number;
  /** Number of objects that the job rewrote (`prune`: removed), and of those that it
   * undeltified. */
  readonly objects?: number;
  readonly undeltified?: number;
  /** Commits and other graph nodes that the job removed. */
  readonly nodes?: number;
  /** Commits whose authors the job recorded. */
  readonly commits?: number;
  /** Reflog rows that the job removed. */
  readonly pushes?: number;
  /** Worktree files that the job wrote. */
  readonly files?: number;
  /** R2 objects that the job removed. */
  readonly deletedObjects?: number;
  /** Pointer files of Git LFS that the job found, and LFS objects that it removed. */
  readonly pointers?: number;
  readonly lfsObjects?: number;
  /** Peak of the bytes held. */
  readonly peakBytes?: number;
}

/** A job ran. */
interface JobEvent extends JobCounts {
  readonly event: "job";
  readonly kind: JobKind;
  readonly key: string;
  readonly ms: number;
  /** Whether it left some work to another run. */
  readonly again: boolean;
  readonly operations: ChunkCounters;
}

/** An announcement to the registry failed. */
interface AnnouncementFailedEvent {
  readonly event: "announcement-failed";
  readonly error: string;
}

/** Reading an event or recording its delivery failed. It will be retried. */
interface DeliveryFailedEvent {
  readonly event: "delivery-failed";
  /** The webhook's id; null: the failure came before any webhook. */
  readonly webhook: string | null;
  readonly error: string;
}

/** An event is missing from the repository's event log, because telling the repository failed. */
interface EventLostEvent {
  readonly event: "event-lost";
  readonly type: string;
  readonly error: string;
}

/** A job failed and was postponed. */
interface JobFailedEvent {
  readonly event: "job-failed";
  readonly kind: JobKind;
  readonly key: string;
  readonly attempts: number;
  readonly error: string;
}

/** Statements and rows; the platform bills the rows. */
export interface SqlCounters {
  statements: number;
  rowsRead: number;
  rowsWritten: number;
}
