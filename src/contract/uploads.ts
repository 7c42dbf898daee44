import type { RefCommand } from "./push.ts";

/** How far a step of an upload session is. */
export interface StepProgress {
  /** What is being done, such as "Resolving deltas"; "": the parts are read. */
  title: string;
  done: number;
  total: number;
}

/** The changes of refs that end a session. */
export interface Completion {
  readonly id: string;
  readonly refs: readonly {
    /** Byte string. */
    readonly name: string;
    /** Hex; null: absent. */
    readonly old: string | null;
    readonly new: string | null;
  }[];
  readonly atomic: boolean;
}

/** A pack that comes in the body of the request that has it indexed. */
interface SentPack {
  readonly body: ReadableStream<Uint8Array>;
  /** The number of the part in which the pack goes on behind the body, and after it in those that
   * follow: they may still be on their way. Null: it ends in the body. */
  readonly from: number | null;
}

/** A part that a client sends. */
export interface NewPart {
  readonly id: string;
  /** Its number, from 1. */
  readonly part: number;
  readonly sizeBytes: number;
  /** SHA-256 of its bytes, hex. */
  readonly checksum: string;
}

/** A step of a session. */
export interface NewStep {
  readonly id: string;
  /** Its pack: as it comes, or the numbers of its parts, which are stored, in the pack's order. */
  readonly pack: SentPack | readonly number[];
  /** What the pack brings is what these reach: ids in hex, of commits, mostly. */
  readonly tips: readonly string[];
}

/** A session to begin. */
export interface NewUpload {
  /** The changes that are planned, as far as they are known: what cannot be allowed is refused
   * before anything is sent. */
  readonly refs: readonly RefCommand[];
  readonly atomic: boolean;
  /** Byte strings. */
  readonly options: readonly string[];
  /** Bytes of all packs, at least; 0: unknown. */
  readonly sizeBytes: number;
}

/** A session as its client sees it. */
export interface UploadStatus {
  readonly id: string;
  /** When it ends unless it is continued (ms since 1970). */
  readonly endsMs: number;
  readonly steps: number;
  /** Objects that the steps brought, and the bytes of their packs. */
  readonly objects: number;
  readonly packBytes: number;
  /** Whether its refs have moved. */
  readonly isDone: boolean;
  /** Ids in hex. What they reach need not be sent again. */
  readonly tips: readonly string[];
  /** Parts that are stored, and no objects yet. */
  readonly parts: readonly { readonly part: number; readonly sizeBytes: number; readonly checksum: string }[];
  /** The step that is being indexed; null: none. */
  readonly underWay: StepProgress | null;
  readonly limits: UploadLimits;
}

/** What one part, one step and one session may have. */
interface UploadLimits {
  readonly partBytes: number;
  readonly parts: number;
  readonly stepBytes: number;
  readonly stepObjects: number;
}
