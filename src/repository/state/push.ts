import type { Requester } from "../../access/caller.ts";
import type { GitError } from "../../format/errors.ts";
import type { FetchSource } from "./fetch-source.ts";
import type { Limits } from "../../format/limits.ts";
import type { Tables } from "../../store/tables.ts";
import type { RefOutcome } from "./ref-refusal.ts";
import type { PushCost } from "./repository-event.ts";
import type { WorktreePolicy } from "./worktree-policy.ts";

/** One ref to create, update or delete. */
export interface RefCommand {
  /** Byte string, as the client sent it: not checked yet when it comes off the wire. */
  readonly name: string;
  /** What the client believes the ref to be; the null oid: it does not exist. 20 bytes. */
  readonly old: Uint8Array;
  /** What it is to become; the null oid: nothing, the ref is deleted. 20 bytes. */
  readonly new: Uint8Array;
}

/** A pushed pack as it arrives: everything in the request behind the commands. */
export interface PackSource {
  /** Reads on.
   * @param minimumBytes wait for at least so many bytes, unless the pack ends before
   * @returns at least 1 byte, as its owner's to keep; null at the end
   * @throws GitError "bad-request" when the body is cut or its encoding is broken, "too-large" above the pack limit,
   * "timeout" when the client is too slow */
  read(minimumBytes: number): Promise<Uint8Array | null>;
  /** Has reads fail by "timeout" when fewer bytes come than must; of a pack in memory there is no need to.
   * @param minBytes asked after each `BODY_WAIT_MS` of waiting for the client */
  demandPace?(minBytes: () => number): void;
}

/** One of several changes of a ref that go one after the other and share a pack: each leads to a descendant of the one before. */
export interface PushStep {
  /** Whose it is. */
  readonly requester: Requester;
  /** As in a command. */
  readonly old: Uint8Array;
  readonly new: Uint8Array;
  /** Where in the pack its entries end, which begin where those of the step before end (bytes). */
  readonly packEnd: number;
}

/** A push whose wire format is right; nothing else about it has been checked. */
export interface PushRequest {
  /** In the client's order. Their names are pushable and distinct. */
  readonly commands: readonly RefCommand[];
  /** Settle all commands or none. */
  readonly atomic: boolean;
  /** Byte strings, in the client's order. */
  readonly pushOptions: readonly string[];
  /** Commits whose parents the client does not have: its boundary, when its repository is shallow. */
  readonly shallow: readonly Uint8Array[];
  /** Null when the commands only delete. */
  readonly pack: PackSource | null;
  /** What the client calls itself; byte string. */
  readonly agent: string | null;
  readonly requester: Requester;
  /** What HEAD is to point at from now on; without it, HEAD stays. */
  readonly head?: string;
  /** The changes that the one command consists of, each of them a push of its own in the reflog; without them, the command is one. */
  readonly steps?: readonly PushStep[];
  /** Takes note of what the push came to, in place of the log. */
  note?(cost: PushCost): void;
  /** Tells the user how far a phase of the work is; cheap, may be called for every object.
   * @param title the phase, e.g. "Resolving deltas"
   * @param total how many there will be; the phase has ended when `done` reaches it */
  progress(title: string, done: number, total: number): void;
}

/** How a push ended. */
export interface PushResult {
  /** Why the pack was refused; null: it was not. */
  readonly unpack: GitError | null;
  /** One for each command, in the order of the commands. */
  readonly refs: readonly RefOutcome[];
}

/** How a push ended that a repository took in. */
export interface ReceivedPush extends PushResult {
  /** Whether the repository came into being with it. */
  readonly hasCreated: boolean;
}

/** A push that is settled, within the transaction that settles it. */
export interface AppliedPush {
  readonly tables: Tables;
  /** The commands that moved their refs. */
  readonly moved: readonly RefCommand[];
  /** Whether others did not. */
  readonly isRefused: boolean;
  /** Whether it brought objects that went to R2. */
  readonly hasWritten: boolean;
  /** Whether it was to move HEAD. */
  readonly movesHead: boolean;
  readonly limits: Limits;
  readonly worktrees: WorktreePolicy;
  readonly nowMs: number;
}

/** Schedules what follows a push; what it writes is part of the push's transaction. */
export type PushFollower = (push: AppliedPush) => void;

/** What receiving a push needs of a repository. */
export interface PushTarget extends Pick<FetchSource, "refs"> {
  /** Takes a push in: indexes and proves the pack, then settles all commands in one transaction.
   * @returns what became of it; a refused pack and refused commands are outcomes
   * @throws GitError what `PackSource.read` threw, "storage-failed", "unavailable" */
  receive(request: PushRequest): Promise<ReceivedPush>;
}
