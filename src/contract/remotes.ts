import type { LfsOid } from "../base/format/lfs.ts";
import type { Caller } from "../base/access/caller.ts";
import type { StepProgress } from "./uploads.ts";

/** An import to begin. */
export interface NewImport {
  readonly url: string;
  /** The header that the upstream wants; null: none. */
  readonly authorization: string | null;
  /** Of the refs to import; byte strings. */
  readonly prefixes: readonly string[];
  readonly isMirror: boolean;
  readonly intervalMs: number;
  /** Whether to bring the objects of Git LFS, too. */
  readonly bringsLfs: boolean;
}

/** An import as its client sees it. */
export interface ImportStatus extends Omit<ImportRecord, "session" | "caller" | "attempts" | "refsPerStep" | "depths"> {
  readonly hasAuthorization: boolean;
  /** The step under way; null: none. */
  readonly underWay: StepProgress | null;
  /** When it goes on; null: it has ended. */
  readonly nextMs: number | null;
}

/** What may be changed of an import; absent: it stays. */
export interface ImportChange {
  /** Releases a mirror: its refs stay, and may be changed here from now on. */
  readonly isMirror?: false;
  /** Of a mirror. */
  readonly intervalMs?: number;
  /** As in `NewImport`. */
  readonly authorization?: string | null;
}

/** A mirror to make. */
export interface NewMirror extends MirrorSettings {
  /** The header that the target wants; null: none. */
  readonly authorization: string | null;
  /** Whether objects of Git LFS are sent, too. */
  readonly sendsLfs: boolean;
}

/** `synced`: the target has what is here, but for refs that are refused. `pending`: it is being
 * sent, or will be soon. `failing`: it could not be sent, and is tried again later. */
type MirrorState = "synced" | "pending" | "failing";

/** A mirror as its owner sees it. */
export interface MirrorStatus extends Omit<MirrorRecord, "session" | "dueMs"> {
  readonly lfs: MirroredLfs | null;
  readonly state: MirrorState;
  readonly hasAuthorization: boolean;
  /** The push under way: bytes of its pack, approximately; null: none. */
  readonly underWay: StepProgress | null;
  /** When it goes on; null: after the next push. */
  readonly nextMs: number | null;
}

/** A ref of a mirror. Ids are in hex; null: absent, at the target as far as is known. */
export interface MirrorRef {
  /** Byte string. */
  readonly name: string;
  readonly here: string | null;
  readonly there: string | null;
  readonly refusal: string | null;
}

/** `running`: refs and objects are being fetched, or will be again soon. `waiting`: the mirror was
 * brought up to date, or could not be, and is looked at again later. `done` and `failed`: nothing
 * follows. */
type ImportState = "running" | "waiting" | "done" | "failed";

/** Objects of Git LFS that an import brings. */
export interface ImportedLfs {
  /** All up to this id were asked for; "": none; null: all. */
  readonly after: LfsOid | null;
  readonly objects: number;
  readonly bytes: number;
  /** That the upstream did not have, since they were last asked for. */
  readonly missing: number;
}

/** An import, or a mirror. Times are ms since 1970. */
export interface ImportRecord {
  /** Id of the upload session that its steps belong to; differs from import to import. */
  readonly session: string;
  readonly url: string;
  /** Refs are imported whose names begin with one of these. Byte strings. */
  readonly prefixes: readonly string[];
  /** Whether the repository follows its upstream. */
  readonly isMirror: boolean;
  /** Between two looks of a mirror. */
  readonly intervalMs: number;
  /** Who began it: it may do what they may. */
  readonly caller: Caller;
  readonly state: ImportState;
  /** Why it failed, or what was left out; null: nothing. */
  readonly error: string | null;
  /** Failures in a row. */
  readonly attempts: number;
  /** The most refs that a step asks for: fewer, if all at once were too much; null: any number. */
  readonly refsPerStep: number | null;
  /** A single ref was too much: commits below it are asked for, at a depth above `low`, which was
   * too much (-1: none was), and below `high`, which is here (null: none is). Null: whole refs
   * fit. */
  readonly depths: { readonly low: number; readonly high: number | null } | null;
  /** Refs of the upstream when it was last looked at. */
  readonly refs: number;
  /** Packs, and what they brought, in all. */
  readonly steps: number;
  readonly objects: number;
  readonly packBytes: number;
  /** Null: objects of Git LFS are not brought; absent: an older release began it. */
  readonly lfs?: ImportedLfs | null;
  readonly startedMs: number;
  /** When the refs here were last brought to those of the upstream; null: never. */
  readonly syncedMs: number | null;
}

/** What the owner of a mirror chooses. */
export interface MirrorSettings {
  readonly url: string;
  /** Refs are mirrored whose names begin with one of these. Byte strings. */
  readonly prefixes: readonly string[];
  /** Whether the target's refs may lose commits, and its tags move. */
  readonly force: boolean;
  /** Whether the target's refs that are not here are removed there. */
  readonly prune: boolean;
  /** The most that one pack may have (bytes, approximately); lowered when the target takes less;
   * null: as much as a mirror ever sends at once. */
  readonly maxPackBytes: number | null;
}

/** The objects of Git LFS that go to a mirror's target. */
export interface MirroredLfs {
  /** Whether commits that the target has may name objects that it was not sent. */
  readonly isBehind: boolean;
  /** That were sent, in all. */
  readonly objects: number;
  readonly bytes: number;
  /** That the target's commits name and that it does not have: they are not here; it does not take
   * them, and why not one of these; null: it took all. */
  readonly missing: number;
  readonly refused: number;
  readonly refusal: string | null;
}

/** A mirror: another host's repository that is sent what is pushed here. Times are ms since
 * 1970. */
export interface MirrorRecord extends MirrorSettings {
  readonly id: string;
  /** Changes with the settings: a run that began before them ends. */
  readonly session: string;
  readonly createdMs: number;
  /** Runs in a row that failed. */
  readonly failures: number;
  /** When the next run may begin. */
  readonly dueMs: number;
  /** Why the last run failed; null: it has not. */
  readonly error: string | null;
  /** When the target last answered that it has all refs but those that are refused; null: never. */
  readonly syncedMs: number | null;
  /** As of the last look: refs here that are mirrored, those of them that are refused, and refs of
   * the target that are not here. */
  readonly refs: number;
  readonly refused: number;
  readonly extra: number;
  /** Packs that were sent, and what they held, in all. */
  readonly pushes: number;
  readonly objects: number;
  readonly packBytes: number;
  /** Null: objects of Git LFS are not sent; absent: an older release made it. */
  readonly lfs?: MirroredLfs | null;
}
