import type { ChunkCounters } from "../../store/chunks/chunk-store.ts";
import type { SqlCounters } from "../../store/sql/sql.ts";
import type { JobKind } from "../../store/jobs/jobs.ts";
import type { SentPack } from "../pack-bytes/pack-stream.ts";

/** What a repository did: sizes in bytes, times in ms. */
export type RepositoryEvent =
  | PushEvent
  | FetchEvent
  | CallEvent
  | ReadEvent
  | BackupEvent
  | BundleEvent
  | JobEvent
  | JobFailedEvent;

/** A push of a git client came to its end, with its refs moved or not. */
export interface PushEvent extends PushCost {
  readonly event: "push";
  /** The id of the request. */
  readonly request: string;
}

/** What a push, or a change through the API, came to. */
export interface PushCost {
  readonly refs: number;
  readonly packBytes: number;
  readonly objects: number;
  /** From the first pack byte to the last proof, and from there to the end of the transaction. */
  readonly indexMs: number;
  readonly applyMs: number;
  /** Largest sum of module memory and buffers. */
  readonly peakBytes: number;
  /** How many changes through the API shared one transaction, which share out its times, too; the first has its operations. Absent: it had its own. */
  readonly together?: number;
  readonly operations: ChunkCounters;
}

/** A pack was sent. */
export interface FetchEvent extends SentPack {
  readonly event: "fetch";
  /** Whether the response was made for this request, stored for it and equal ones, or lay ready. */
  readonly cache: "miss" | "shared" | "hit";
  /** How long the repository took to decide what to send. */
  readonly planMs: number;
  readonly operations: ChunkCounters & Pick<SqlCounters, "rowsRead">;
}

/** The API was answered. */
export interface CallEvent {
  readonly event: "call";
  /** The id of the request. */
  readonly request: string;
  readonly name: string;
  readonly ms: number;
  /** What it failed with, null: it did not. */
  readonly error: string | null;
  readonly operations: ChunkCounters & Pick<SqlCounters, "rowsRead" | "rowsWritten">;
  /** What it published; absent: nothing. */
  readonly pushes?: readonly PushCost[];
}

/** The API's Worker read blobs. */
export interface ReadEvent {
  readonly event: "read";
  readonly what: "blob" | "raw" | "archive" | "grep";
  readonly blobs: number;
  /** What the client took. */
  readonly sentBytes: number;
  /** Whether that is all: a client may leave, and a read may fail. */
  readonly complete: boolean;
  readonly operations: ChunkCounters;
}

/** A backup was sent. */
export interface BackupEvent {
  readonly event: "backup";
  readonly objects: number;
  /** What the client took. */
  readonly sentBytes: number;
  /** Whether that is all: a client may leave, and a read may fail. */
  readonly complete: boolean;
  /** Largest sum of the plan and buffers. */
  readonly peakBytes: number;
  readonly operations: ChunkCounters;
}

/** A bundle was built. */
export interface BundleEvent {
  readonly event: "bundle";
  readonly objects: number;
  readonly sizeBytes: number;
  readonly buildMs: number;
  /** Largest sum of buffers. */
  readonly peakBytes: number;
  readonly operations: ChunkCounters;
}

/** What a run of a job did; each kind says what it knows. */
export interface JobCounts {
  /** Chunks that it replaced or moved, and their bytes. */
  readonly chunks?: number;
  readonly bytes?: number;
  /** Objects that it rewrote (`prune`: removed), and how many of them became whole. */
  readonly objects?: number;
  readonly undeltified?: number;
  /** Commits and other nodes of the graph that it removed. */
  readonly nodes?: number;
  /** Commits whose authors it noted. */
  readonly commits?: number;
  /** Rows of the reflog that it removed. */
  readonly pushes?: number;
  /** Files of a worktree that it wrote. */
  readonly files?: number;
  /** R2 objects that it removed. */
  readonly deletedObjects?: number;
  /** Largest sum of bytes held. */
  readonly peakBytes?: number;
}

/** A job ran. */
export interface JobEvent extends JobCounts {
  readonly event: "job";
  readonly kind: JobKind;
  readonly key: string;
  readonly ms: number;
  /** Whether it left some of its work to another run. */
  readonly again: boolean;
  readonly operations: ChunkCounters;
}

/** A job failed and was put off. */
export interface JobFailedEvent {
  readonly event: "job-failed";
  readonly kind: JobKind;
  readonly key: string;
  readonly attempts: number;
  readonly error: string;
}
