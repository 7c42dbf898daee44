import type { LfsOid } from "../base/format/lfs.ts";
import type { Caller } from "../base/access/caller.ts";
import type { StepProgress } from "./uploads.ts";

/** A request to begin an import. */
export interface NewImport {
  readonly url: string;
  /** Value of the header `Authorization` for the upstream; null: none. */
  readonly authorization: string | null;
  /** Beginnings of the names of refs to import; byte strings. */
  readonly prefixes: readonly string[];
  readonly isMirror: boolean;
  readonly intervalMs: number;
  /** Whether to import Git LFS objects, too. */
  readonly bringsLfs: boolean;
}

/** An import as its client sees it. */
export interface ImportStatus extends Omit<ImportRecord, "session" | "caller" | "attempts" | "refsPerStep" | "depths"> {
  readonly hasAuthorization: boolean;
  /** Progress of the running step; null: none runs. */
  readonly underWay: StepProgress | null;
  /** Time at which the import continues; null: it has ended. */
  readonly nextMs: number | null;
}

/** Changes to an import. Absent fields keep their values. */
export interface ImportChange {
  /** Stops following the upstream: the refs stay, and can be changed here from now on. */
  readonly isMirror?: false;
  /** For an import that follows its upstream. */
  readonly intervalMs?: number;
  /** As in `NewImport`. */
  readonly authorization?: string | null;
}

/** A request to make a mirror. */
export interface NewMirror extends MirrorSettings {
  /** Value of the header `Authorization` for the target; null: none. */
  readonly authorization: string | null;
  /** Whether to send Git LFS objects, too. */
  readonly sendsLfs: boolean;
}

/** `synced`: the target has all refs, except refused ones. `pending`: a push is running or will
 * start soon. `failing`: the last push failed and will be retried. */
type MirrorState = "synced" | "pending" | "failing";

/** A mirror as its owner sees it. */
export interface MirrorStatus extends Omit<MirrorRecord, "session" | "dueMs"> {
  readonly lfs: MirroredLfs | null;
  readonly state: MirrorState;
  readonly hasAuthorization: boolean;
  /** Progress of the running push in bytes of its pack, approximately; null: none runs. */
  readonly underWay: StepProgress | null;
  /** Time of the next run; null: after the next push. */
  readonly nextMs: number | null;
}

/** A ref of a mirror. Ids are in hex; null: absent, at the target as far as known. */
export interface MirrorRef {
  /** Byte string. */
  readonly name: string;
  readonly here: string | null;
  readonly there: string | null;
  readonly refusal: string | null;
}

/** `running`: refs and objects are being fetched, or soon will be again. `waiting`: the last
 * look at the upstream succeeded or failed, and another one follows later. `done` and `failed`:
 * nothing follows. */
type ImportState = "running" | "waiting" | "done" | "failed";

/** The Git LFS objects of an import. */
export interface ImportedLfs {
  /** Cursor: objects up to this id were requested; "": none; null: all. */
  readonly after: LfsOid | null;
  readonly objects: number;
  readonly bytes: number;
  /** Number of objects that the upstream lacked in the last requests. */
  readonly missing: number;
}

/** An import, with or without following its upstream. Times are ms since 1970. */
export interface ImportRecord {
  /** Id of the upload session of the import's steps. Each import has another one. */
  readonly session: string;
  readonly url: string;
  /** Beginnings of the names of refs to import; byte strings. */
  readonly prefixes: readonly string[];
  /** Whether the repository keeps following its upstream. */
  readonly isMirror: boolean;
  /** Time between two looks at a followed upstream. */
  readonly intervalMs: number;
  /** The caller that began the import, whose rights apply to it. */
  readonly caller: Caller;
  readonly state: ImportState;
  /** Error of a failed import, or a note on omitted parts; null: neither. */
  readonly error: string | null;
  /** Number of failures in a row. */
  readonly attempts: number;
  /** Limit of refs that one step requests, lowered when all refs at once were too much; null: no
   * limit. */
  readonly refsPerStep: number | null;
  /** Limits of depth for a single ref that was too much: the next step requests commits below
   * the ref at a depth between `low`, which was too much (-1: no depth was), and `high`, which
   * is stored (null: none is). Null: whole refs fit. */
  readonly depths: { readonly low: number; readonly high: number | null } | null;
  /** Number of refs that the upstream had at the last look. */
  readonly refs: number;
  /** Totals: packs, and their contents. */
  readonly steps: number;
  readonly objects: number;
  readonly packBytes: number;
  /** Null: Git LFS objects are not imported; absent: an older release began the import. */
  readonly lfs?: ImportedLfs | null;
  readonly startedMs: number;
  /** Time at which the refs here last agreed with the upstream's; null: never. */
  readonly syncedMs: number | null;
}

/** The settings that a mirror's owner chooses. */
export interface MirrorSettings {
  readonly url: string;
  /** Beginnings of the names of refs to mirror; byte strings. */
  readonly prefixes: readonly string[];
  /** Whether the target's branches may lose commits, and its tags may move. */
  readonly force: boolean;
  /** Whether refs that exist only at the target are deleted there. */
  readonly prune: boolean;
  /** Size limit of one pack in bytes, approximately. Lowered when the target takes less; null:
   * the general limit of mirrors. */
  readonly maxPackBytes: number | null;
}

/** The Git LFS objects of a mirror. */
export interface MirroredLfs {
  /** Whether commits at the target may name objects that were not sent. */
  readonly isBehind: boolean;
  /** Total of objects sent. */
  readonly objects: number;
  readonly bytes: number;
  /** Number of objects that the target's commits name and the target lacks: those that are not
   * stored here and those that the target refused, with the reason of one refusal; null: none
   * was refused. */
  readonly missing: number;
  readonly refused: number;
  readonly refusal: string | null;
}

/** A mirror: another host's repository that receives everything pushed here. Times are ms since
 * 1970. */
export interface MirrorRecord extends MirrorSettings {
  readonly id: string;
  /** Id that changes with the settings: a run that began before the change ends. */
  readonly session: string;
  readonly createdMs: number;
  /** Number of failed runs in a row. */
  readonly failures: number;
  /** Earliest time of the next run. */
  readonly dueMs: number;
  /** Error of the last run; null: it succeeded. */
  readonly error: string | null;
  /** Time at which the target last had all refs, except refused ones; null: never. */
  readonly syncedMs: number | null;
  /** Counts of the last look: refs here that are mirrored, refused refs among them, and refs
   * that exist only at the target. */
  readonly refs: number;
  readonly refused: number;
  readonly extra: number;
  /** Totals: packs sent, and their contents. */
  readonly pushes: number;
  readonly objects: number;
  readonly packBytes: number;
  /** Null: Git LFS objects are not sent; absent: an older release made the mirror. */
  readonly lfs?: MirroredLfs | null;
}
