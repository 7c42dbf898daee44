import type { RefCommand } from "./push.ts";

/** The progress of a step of an upload session. */
export interface StepProgress {
  /** The current work, such as "Resolving deltas"; "": the parts are being read. */
  title: string;
  done: number;
  total: number;
}

/** The ref changes that end a session. */
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

/** A pack in the body of the request that has it indexed. */
interface SentPack {
  readonly body: ReadableStream<Uint8Array>;
  /** Number of the part that continues the pack after the body, followed by later parts; they
   * may still be on their way. Null: the pack ends in the body. */
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
  /** The pack: in the body, or the numbers of its stored parts in the pack's order. */
  readonly pack: SentPack | readonly number[];
  /** Ids in hex, mostly of commits, that reach everything in the pack. */
  readonly tips: readonly string[];
}

/** A request to begin a session. */
export interface NewUpload {
  /** The planned ref changes, as far as known. Forbidden ones are refused before any pack is
   * sent. */
  readonly refs: readonly RefCommand[];
  readonly atomic: boolean;
  /** Byte strings. */
  readonly options: readonly string[];
  /** Lower bound of the bytes of all packs; 0: unknown. */
  readonly sizeBytes: number;
}

/** A session as its client sees it. */
export interface UploadStatus {
  readonly id: string;
  /** End of the session unless it is continued (ms since 1970). */
  readonly endsMs: number;
  readonly steps: number;
  /** Objects of all steps, and the bytes of their packs. */
  readonly objects: number;
  readonly packBytes: number;
  /** Whether the session's refs have moved. */
  readonly isDone: boolean;
  /** Ids in hex. Objects that they reach need not be sent again. */
  readonly tips: readonly string[];
  /** Stored parts that were not indexed yet. */
  readonly parts: readonly { readonly part: number; readonly sizeBytes: number; readonly checksum: string }[];
  /** Progress of the step that is being indexed; null: none is. */
  readonly underWay: StepProgress | null;
  readonly limits: UploadLimits;
}

/** Limits of a part, a step and a session. */
interface UploadLimits {
  readonly partBytes: number;
  readonly parts: number;
  readonly stepBytes: number;
  readonly stepObjects: number;
}
