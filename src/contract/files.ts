import type { Column } from "../base/format/kinds.ts";
import { MAX_WALK_STEPS, STREAM_THRESHOLD_BYTES } from "../base/format/limits.ts";
import type { ObjectNumber } from "../base/numbers/kinds.ts";
import type { NamedLfsObject } from "./lfs.ts";
import { isTreeMode } from "../base/format/tree.ts";
import type { PackPlan } from "../base/bytes/pack-plan.ts";
import type { CommitRecord } from "./commits.ts";
import { NO_BASE } from "../base/bytes/plan-rows.ts";

/** The stored places of blobs and of their delta bases. The object makes the plan, the Worker
 * reads by it. */
export interface BlobPlan extends Pick<PackPlan, "extents" | "chains"> {
  /** Row of `chains` for each blob. */
  readonly rows: Uint32Array;
}

/** Whether a blob is read piece by piece: it is large and not a delta. A delta can only be resolved
 * whole.
 * @param base row of `chains`, or `NO_BASE` */
export function isStreamed(base: number, sizeBytes: number): boolean {
  return base === NO_BASE && sizeBytes > STREAM_THRESHOLD_BYTES;
}

/** Entry limit of one page of a directory. */
export const MAX_ENTRIES_PER_PAGE = 1_000;

/** Bits that say how a file is changed for an archive. */
export const CONVERT = {
  /** Line endings become CRLF, unless the file is binary. */
  crlf: 1,
  /** As `crlf`, unless some line endings already are CRLF. */
  autoCrlf: 2,
  /** `$Id$` is expanded. */
  ident: 4,
  /** `$Format:…$` is expanded. */
  subst: 16,
  /** The file is left out, but its directory is included, as git does. */
  omit: 8,
} as const;

/** The commit whose fields replace the placeholders in an archive's files. */
export interface ArchivedCommit {
  /** The commit's id in hex, and its content. */
  readonly oid: string;
  readonly content: Uint8Array;
  /** The shortest unique prefixes of the commit's id, its tree's and its parents', by their ids
   * in hex. */
  readonly abbreviated: Readonly<Record<string, string>>;
}

/** Tree entries with columns from their rows, one array per column: the form in which the object
 * sends them to the Worker. */
export interface FileColumns {
  /** Byte strings. */
  readonly paths: string[];
  readonly modes: Uint32Array;
  /** Packed ids. */
  readonly oids: Uint8Array;
  /** Object numbers, 0 for a gitlink. */
  readonly numbers: Column<ObjectNumber>;
  /** Bytes, 0 for a gitlink. */
  readonly sizes: Float64Array;
}

/** The commit that last touched each entry of a directory. */
export interface LastCommits {
  /** Commits without repetition. */
  readonly commits: CommitRecord[];
  /** For each entry the index of its commit; −1: not found yet. */
  readonly indexes: Int32Array;
}

/** A file that is a pointer of Git LFS. */
export interface LfsFile extends NamedLfsObject {
  /** Its index among the files. */
  readonly index: number;
}

/** Path limit of one page: with their ids about 1 MB. */
export const MAX_FILES_PER_PAGE = 10_000;

/** A request for a directory. */
export interface DirectoryRequest {
  /** Byte strings; the path without slashes at its ends. */
  readonly ref: string;
  readonly path: string;
  /** Whether to find the commit that last touched each entry. */
  readonly lastCommits: boolean;
  /** Whether to say which entries are pointers of Git LFS. */
  readonly lfs?: boolean;
  /** Cursor: `next` of the part before, a byte string. Default: from the beginning. */
  readonly after?: string;
  /** Entry limit. Default: `MAX_ENTRIES_PER_PAGE`. */
  readonly limit?: number;
}

/** A directory of a commit, or a part of it. */
export interface Directory {
  /** Ids in hex. */
  readonly commit: string;
  readonly tree: string;
  /** `paths` has names here. */
  readonly entries: FileColumns;
  readonly lastCommits: LastCommits | null;
  /** The entries that are pointers of Git LFS, if requested. */
  readonly lfs: readonly LfsFile[];
  /** Number of entries before the part, and of the whole directory. */
  readonly start: number;
  readonly total: number;
  /** `after` of the next part; null: this is the last. */
  readonly next: string | null;
}

/** A request for a part of a tree, by its id. */
export interface TreeRequest {
  /** Hex. */
  readonly oid: string;
  /** @see DirectoryRequest */
  readonly after: string;
  readonly limit: number;
}

/** A part of a tree, in its order. */
export interface TreePart {
  /** Byte strings. */
  readonly names: string[];
  /** Modes as stored in the tree. */
  readonly modes: number[];
  /** Hex. */
  readonly oids: string[];
  /** `after` of the next part; null: this is the last. */
  readonly next: string | null;
}

/** A request for files. */
export interface FilesRequest {
  /** Byte string. For later pages, the commit's id. */
  readonly ref: string;
  /** Byte string: a directory, without slashes at its ends. */
  readonly path: string;
  /** `next` of the previous page, "" for the first page. */
  readonly after: string;
  readonly limit: number;
  /** Whether to say which files are pointers of Git LFS. */
  readonly lfs?: boolean;
}

/** Files of a commit, in the order of their paths' bytes. */
export interface FilesPage {
  readonly commit: string;
  readonly files: FileColumns;
  /** The files that are pointers of Git LFS, if requested. */
  readonly lfs: readonly LfsFile[];
  /** `after` of the next page; null: this is the last page. */
  readonly next: string | null;
}

/** A blob and where it is stored. */
export interface LocatedBlob {
  /** Hex. */
  readonly oid: string;
  readonly sizeBytes: number;
  /** The plan for this blob alone. */
  readonly plan: BlobPlan;
}

/** A file that the worktree job has written as an R2 object. */
export interface WrittenFile {
  readonly key: string;
  readonly etag: string;
}

/** A file of a commit. */
export interface LocatedFile extends Omit<LocatedBlob, "plan"> {
  /** Id in hex. */
  readonly commit: string;
  /** Whether the request named the commit by its id: then the content at the path never changes. */
  readonly isImmutable: boolean;
  /** Byte string, from the root. */
  readonly path: string;
  readonly mode: number;
  /** Null: not written, or empty. */
  readonly written: WrittenFile | null;
  /** The LFS object that the file points to; null: the file is no pointer. */
  readonly lfs: NamedLfsObject | null;
  /** The stored place of the blob. Null: `locateBlob` finds it if the written file is missing. */
  readonly plan: BlobPlan | null;
}

/** Steps after which a window that has a file ends: a third of a second. */
export const WINDOW_STEPS = MAX_WALK_STEPS / 3;

/** A request for files whose content is to be read. */
export interface FilesPlanRequest {
  /** Byte string. For later windows, the commit's id. */
  readonly ref: string;
  /** The last path of the previous window, "" for the first. */
  readonly after: string;
  /** Byte string: a file, or a directory, whose files are all wanted; "": the root. */
  readonly path: string;
  /** Byte strings: git's `:(glob)` pathspecs; empty: all files. */
  readonly globs: readonly string[];
  /** `archive`: includes directories, excludes anything marked `export-ignore`. `search`:
   * regular files only. */
  readonly purpose: "archive" | "search";
  /** Whether to say which files are pointers of Git LFS. */
  readonly lfs?: boolean;
  /** Step limit of the window, taken from the rest of the request's budget. Default: the whole
   * budget. */
  readonly steps?: number;
}

/** A window of a commit's files, in the order of their paths' bytes, with their stored places. */
export interface FilesPlan {
  /** Id in hex. */
  readonly commit: string;
  readonly tree: string;
  /** The commit's time in seconds. */
  readonly timeSeconds: number;
  readonly files: FileColumns;
  /** The plan for the files that are blobs, in their order. */
  readonly plan: BlobPlan;
  /** Changes to each file for an archive: bits of `CONVERT`. */
  readonly conversions: Uint8Array;
  /** Values of the placeholders; null: no file of the window has any that are expanded. */
  readonly subst: ArchivedCommit | null;
  /** The files that are read and are pointers of Git LFS, if requested. */
  readonly lfs: readonly LfsFile[];
  /** Whether more files may follow. */
  readonly more: boolean;
  /** Steps that the window took. */
  readonly steps: number;
}

/** Whether a file's content is read: it is a blob and not left out. */
export function isRead({ numbers, modes }: FileColumns, conversions: Uint8Array, i: number): boolean {
  return numbers[i] !== 0 && !isTreeMode(modes[i]!) && (conversions[i]! & CONVERT.omit) === 0;
}

/** Size limit of a tree or blob that is shown as JSON: several copies are in memory on the way. */
export const MAX_SHOWN_BYTES = 8 * 1024 * 1024;
