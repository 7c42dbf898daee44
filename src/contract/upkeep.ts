import type { FsckSetting } from "../base/codec/fsck-messages.ts";

/** Counts of a call's checks. */
export interface FsckCounts {
  chunks: number;
  /** Stored bytes of chunks. */
  bytes: number;
  objects: number;
  references: number;
  /** Graph nodes whose reachability was computed again. */
  nodes: number;
  /** Graph nodes whose reachability could not be computed, because a tree below them is
   * unreadable. */
  skippedNodes: number;
  refs: number;
  /** R2 objects whose size was checked: bundle, responses, files of worktrees, LFS objects. */
  files: number;
  /** R2 keys of the repository that were checked. */
  keys: number;
  /** Problems that were repaired, or that a job will repair. */
  repaired: number;
}

/** The stages of a check, in order. */
export const FSCK_STAGES = [
  "index",
  "chunks",
  "reachability",
  "filters",
  "refs",
  "bundle",
  "responses",
  "worktrees",
  "lfs",
  "parts",
  "rows",
  "keys",
] as const;

/** A stage of a check. */
export type FsckStageName = (typeof FSCK_STAGES)[number];

/** The position from which a check continues. */
export interface FsckPlace {
  readonly stage: FsckStageName;
  /** Key of the last checked item of the stage; "": none. */
  readonly after: string;
  /** Whether rows were found missing. If so, R2 objects without rows must stay. */
  readonly hasLostRows?: boolean | undefined;
}

/** The result of one call. */
export interface FsckReport {
  readonly checked: FsckCounts;
  /** The first thousand problems. */
  readonly problems: readonly FsckProblem[];
  readonly problemCount: number;
  /** Null: the check is complete. */
  readonly next: FsckPlace | null;
}

/** A request for a check. */
export interface FsckRequest {
  /** Position from which to continue; null: the beginning. */
  readonly place: FsckPlace | null;
  /** Findings of git's fsck that count as problems; null: none. */
  readonly rules: FsckSetting | null;
  /** Whether to rebuild from chunks what can be rebuilt, and to remove R2 objects without rows. */
  readonly repair: boolean;
  /** Step limit of the call; a step takes about 20 µs. At least one step is made. */
  readonly budgetSteps?: number;
}

/** Kinds of problems of a repository:
 *
 * - `chunk-missing`, `chunk-short`, `chunk-checksum`, `chunk-row`: a chunk's bytes are missing, too
 *   few, or changed; its row is wrong.
 * - `object-row`, `object-unreadable`, `object-changed`: an object's row contradicts another row or
 *   the entry; the entry or its delta chain cannot be read; the content has another id.
 * - `object-refused`: git's fsck finds something in it (only on request).
 * - `reference-missing`, `reference-type`: it names an object that is missing or has another type.
 * - `node-row`, `tree-row`: the graph, or the cached entries of a tree, disagree with the object.
 * - `reachability`: the rows that say which node introduced an object disagree with the trees.
 * - `path-filter`: a filter of the paths that a commit changes is not the commit's.
 * - `ref-target`, `ref-peeled`, `ref-name`, `head`: a ref points to nothing or to the wrong type,
 *   an annotated tag is peeled wrongly, a name is invalid or conflicts, HEAD names no branch.
 * - `bundle`, `response`, `worktree-file`: an R2 object that a row names is missing, or another
 *   one. They can be rebuilt from chunks.
 * - `lfs-object`: the R2 object of an LFS object is missing, or has other bytes. A client that has
 *   it can send it again once the row is gone.
 * - `upload-part`: the R2 object of a part of an upload session is missing, or another one.
 * - `unreadable`: rows that a part of the check reads are damaged, or what it reads of R2. That
 *   part was left out.
 * - `orphan`: an R2 object that no row names and no job will sweep. It costs storage but does no
 *   harm. */
export const FSCK_PROBLEMS = [
  "chunk-missing",
  "chunk-short",
  "chunk-checksum",
  "chunk-row",
  "object-row",
  "object-unreadable",
  "object-changed",
  "object-refused",
  "reference-missing",
  "reference-type",
  "node-row",
  "tree-row",
  "reachability",
  "path-filter",
  "ref-target",
  "ref-peeled",
  "ref-name",
  "head",
  "bundle",
  "response",
  "worktree-file",
  "lfs-object",
  "upload-part",
  "unreadable",
  "orphan",
] as const;

/** A kind of problem. */
export type FsckProblemKind = (typeof FSCK_PROBLEMS)[number];

/** A problem and the things that it concerns. */
export interface FsckProblem {
  readonly kind: FsckProblemKind;
  /** Object id in hex. */
  readonly oid?: string;
  /** Id of a chunk. */
  readonly chunk?: number;
  /** Key of an R2 object. */
  readonly key?: string;
  /** Byte string. */
  readonly ref?: string;
  /** Description for people. */
  readonly detail: string;
}

/** The jobs that the API can request at any time. `compact` follows `prune`. */
export const MAINTENANCE_KINDS = ["repack", "seal", "prune", "compact", "expire"] as const satisfies JobKind[];

/** A job that the API can request. */
export type MaintenanceKind = (typeof MAINTENANCE_KINDS)[number];

/** The state of maintenance; sizes in bytes. */
export interface MaintenanceStatus {
  readonly objects: number;
  readonly commits: number;
  readonly refs: number;
  readonly chunks: {
    readonly hot: number;
    /** Hot chunks that were not repacked yet. */
    readonly unmerged: number;
    readonly sealed: number;
    /** Chunks that hold unused bytes, or cannot be sent whole for another reason. */
    readonly unwhole: number;
  };
  readonly bytes: number;
  readonly hotBytes: number;
  /** R2 objects that hold chunks. */
  readonly r2Objects: number;
  readonly jobs: readonly WaitingJob[];
  /** The last successful run of each kind of job. */
  readonly lastRuns: Partial<Record<JobKind, JobRecord>>;
}

/** The state of a worktree. ready: R2 holds the branch's tip. writing: it is being written.
 * failing: writing failed and will be retried. refused: the tip has too many paths or bytes.
 * leaving: the branch was deleted or is no longer materialized, and its files are being removed.
 * absent: no such branch. */
export type WorktreeStatusState = "ready" | "writing" | "failing" | "refused" | "leaving" | "absent";

/** The state of one branch's files in R2; ids in hex. */
export interface WorktreeStatus {
  /** Byte string, without `refs/heads/`. */
  readonly branch: string;
  readonly state: WorktreeStatusState;
  /** The branch's commit; null: the branch was deleted, or is not to be materialized. */
  readonly tip: string | null;
  /** The last commit whose files were complete in R2. */
  readonly materialized: string | null;
  /** Time at which that commit was complete in R2 (ms since 1970). */
  readonly materializedMs: number | null;
  /** Number and size of the files of the commit that is, or will be, materialized. */
  readonly files: number;
  readonly sizeBytes: number;
  /** Reason why the tip is not materialized. */
  readonly error: string | null;
}

/** All worktrees, and the choice of branches. */
export interface WorktreesStatus {
  /** The chosen branches, byte strings; null: none were chosen, the deployment's default
   * applies. */
  readonly branches: readonly string[] | null;
  readonly worktrees: readonly WorktreeStatus[];
  /** Bytes of all files. */
  readonly sizeBytes: number;
  /** Limit of `sizeBytes`. */
  readonly maxBytes: number;
}

/** Background work: `repack` combines small chunks, `seal` moves chunks to large R2 objects,
 * `sweep` deletes R2 objects without rows, `prune` removes unreachable objects, `compact` rewrites
 * chunks with many unused bytes, `expire` drops old pushes from the log, `bundle` builds a bundle,
 * `trim` drops old responses, `materialize` updates a branch's worktree to its tip, `tally`
 * computes statistics of pushed commits, `filter` makes filters of the paths that they change,
 * `erase` removes a deleted repository's bytes, `unpin` tells another repository of the family what
 * is still needed of it, `deliver` tells webhooks of events, `part` that the repository is deleted,
 * `lapse` deletes a fork whose time is over, `abandon` ends an upload session that nobody has
 * continued, `abort` an upload of an LFS object in parts, `collect` removes LFS objects that
 * nothing
 * names, `import` fetches from another host, `mirror` pushes to one. */
export type JobKind =
  | "repack"
  | "seal"
  | "sweep"
  | "prune"
  | "compact"
  | "expire"
  | "bundle"
  | "trim"
  | "materialize"
  | "tally"
  | "filter"
  | "erase"
  | "unpin"
  | "deliver"
  | "part"
  | "lapse"
  | "abandon"
  | "abort"
  | "collect"
  | "import"
  | "mirror";

/** A waiting or running job. */
export interface WaitingJob {
  readonly kind: JobKind;
  /** Distinguishes jobs of one kind; its meaning depends on the kind. */
  readonly key: string;
  /** Time at which the job is due; for a running job, the end of its lease. */
  readonly dueMs: number;
  /** Number of attempts since the last success. */
  readonly attempts: number;
  /** Error of its last attempt; null: none. */
  readonly lastError: string | null;
}

/** The record of a run: start (ms since 1970), duration, and counts. */
export interface JobRecord extends Readonly<Record<string, number>> {
  readonly timeMs: number;
  readonly ms: number;
}
