import type { Oid } from "../../base/format/oid.ts";
import type { Requester } from "../../base/access/caller.ts";
import type { FetchSource } from "../../contract/fetch.ts";
import type { Limits } from "../../base/format/configured-limits.ts";
import type { Tables } from "../store/tables.ts";
import type { PushCost } from "../../contract/log-events.ts";
import type { WorktreePolicy } from "../../contract/env.ts";
import type { RefCommand, PushResult } from "../../contract/push.ts";

/** A pushed pack as it arrives: the request's body after the commands. */
export interface PackSource {
  /** Reads the next bytes.
   * @param minimumBytes wait for at least this many bytes, unless the pack ends before
   * @returns at least 1 byte, which the caller may keep; null at the end
   * @throws GitError "bad-request" when the body is truncated or its encoding is broken,
   *   "too-large" above the pack limit, "timeout" when the client is too slow */
  read(minimumBytes: number): Promise<Uint8Array | null>;
  /** Whether bytes of another pack may follow this one: then nothing is read after its trailer. */
  readonly mayGoOn?: boolean;
  /** Makes reads fail with "timeout" when too few bytes arrive. A pack in memory does not need it.
   * @param minBytes called after each `BODY_WAIT_MS` of waiting for the client */
  demandPace?(minBytes: () => number): void;
}

/** One of several consecutive changes of a ref that share a pack. Each new value descends from the
 * one before. */
export interface PushStep {
  /** The change's author. */
  readonly requester: Requester;
  /** Old value, as in a command. */
  readonly old: Uint8Array;
  readonly new: Uint8Array;
  /** End of the change's entries in the pack (bytes). They begin at the end of the previous
   * step's. */
  readonly packEnd: number;
}

/** Additional work of a push of an upload session, in the transaction that applies it. A *step*
 * brings objects and moves no ref; the push that ends the session moves its refs. */
export interface UploadFrame {
  /** Whether the push is a step. The new values of a step's commands must be complete when it ends,
   * and their names and old values mean nothing. */
  readonly isStep: boolean;
  /** Stored bytes that the push's objects replace: the quota does not count them twice. */
  readonly replacedBytes: number;
  /** Totals of earlier steps, which the reflog shows with this push. */
  readonly brought: { readonly packBytes: number; readonly objects: number };
  /** Checks the session before anything is written.
   * @throws GitError to refuse the push */
  check(tables: Tables): void;
  /** Writes the session's rows after all others. */
  finish(tables: Tables): void;
}

/** A push with a valid wire format; nothing else about it has been checked. */
export interface PushRequest {
  /** Commands in the client's order. Their names are pushable and distinct. */
  readonly commands: readonly RefCommand[];
  /** Whether to apply all commands or none. */
  readonly atomic: boolean;
  /** Byte strings, in the client's order. */
  readonly pushOptions: readonly string[];
  /** The shallow boundary of the client's repository: commits whose parents it lacks. */
  readonly shallow: readonly Uint8Array[];
  /** Null when the commands only delete. */
  readonly pack: PackSource | null;
  /** The client's name for itself; byte string. */
  readonly agent: string | null;
  readonly requester: Requester;
  /** HEAD's new target; without it, HEAD stays. */
  readonly head?: string;
  /** The commit that is merged or picked, 20 bytes: rules for refs may require checks of it. Absent
   * for other changes. */
  readonly merged?: Oid;
  /** The consecutive changes that the single command combines, each a push of its own in the
   * reflog. Absent: the command is one change. */
  readonly steps?: readonly PushStep[];
  /** The repository's own import sends the push: a mirror accepts no other. */
  readonly isImport?: true;
  /** Present in a push of an upload session. */
  readonly upload?: UploadFrame;
  /** Records the cost of the push, instead of the log. */
  note?(cost: PushCost): void;
  /** Reports the progress of a phase to the user. Cheap, may be called for every object.
   * @param title the phase, e.g. "Resolving deltas"
   * @param total number of items; the phase has ended when `done` reaches it */
  progress(title: string, done: number, total: number): void;
}

/** The result of a push that a repository handled. */
export interface ReceivedPush extends PushResult {
  /** Whether the push created the repository. */
  readonly hasCreated: boolean;
}

/** A push inside the transaction that applies it. */
export interface AppliedPush {
  readonly tables: Tables;
  /** The commands whose refs moved. */
  readonly moved: readonly RefCommand[];
  /** Whether other commands were refused. */
  readonly isRefused: boolean;
  /** Whether objects of the push went to R2. */
  readonly hasWritten: boolean;
  /** Whether the push set HEAD. */
  readonly movesHead: boolean;
  /** Whether the push is a step of an upload session, which others will follow soon. */
  readonly isStep: boolean;
  readonly limits: Limits;
  readonly worktrees: WorktreePolicy;
  readonly nowMs: number;
}

/** Schedules follow-up jobs of a push, in the push's transaction. */
export type PushFollower = (push: AppliedPush) => void;

/** The functions of a repository that receiving a push needs. */
export interface PushTarget extends Pick<FetchSource, "refs"> {
  /** Receives a push: indexes and checks the pack, then applies all commands in one transaction.
   * @returns the results; a refused pack and refused commands are results, too
   * @throws GitError the error of `PackSource.read`, "storage-failed", "unavailable" */
  receive(request: PushRequest): Promise<ReceivedPush>;
}
