import type { LogEntry, LogFilter } from "./history.ts";
import type { CommitRecord, ShownCommit } from "./commits.ts";
import type { CommitStatuses } from "./events.ts";
import type { NamedLfsObject } from "./lfs.ts";
import type { Languages } from "./tally.ts";
import type { Directory } from "./files.ts";
import type { BranchRecord, TagRecord } from "./refs.ts";

/** The ref under which git keeps notes of commits.
 * @see git-notes(1): core.notesRef */
export const NOTES_REF = "refs/notes/commits";

/** A note of a commit. */
export interface CommitNote {
  /** Hex. */
  readonly oid: string;
  /** Path in the notes tree. */
  readonly path: string;
  readonly sizeBytes: number;
  /** The note's text; null: it has more than `MAX_NOTE_BYTES`. */
  readonly text: string | null;
}

/** The notes of a commit. */
export interface CommitNotes {
  /** Usually one. Git joins several in this order, deepest path first. */
  readonly notes: readonly CommitNote[];
  /** False: there may be more, in trees that are too large to read. */
  readonly isWhole: boolean;
}

/** The contents of a commit's page, except the changes. */
export interface CommitPage {
  readonly commit: ShownCommit;
  readonly checks: CommitStatuses;
  readonly notes: CommitNotes;
}

/** One side of a comparison. */
interface ComparedSide {
  readonly kind: "branch" | "tag" | "commit";
  /** Without `refs/heads/` or `refs/tags/`, byte string. */
  readonly short: string;
}

/** The choices for a comparison. */
export interface ComparePage {
  /** The default branch as URLs name it, byte string; null: HEAD names no branch. */
  readonly defaultRev: string | null;
  readonly choices: RefChoices;
  /** The meaning of each name. */
  readonly sides: readonly ComparedSide[];
}

/** Size limit of a text that a form can edit, in bytes. */
export const MAX_EDITED_BYTES = 1024 * 1024;

/** A request to edit a path. */
export interface EditRequest {
  /** Branch and path from the URL; byte strings. */
  readonly parts: readonly string[];
  /** Commit of the wanted files, id in hex; null: the branch's tip. */
  readonly at: string | null;
}

/** The contents of a form that changes files. */
export interface EditPage {
  /** Without `refs/heads/`, byte string. */
  readonly branch: string;
  /** The branch as URLs name it, byte string. */
  readonly rev: string;
  /** Id in hex of the commit that was read; null: the repository has no commit yet. */
  readonly commit: string | null;
  /** Byte string, "" for the root. */
  readonly path: string;
  readonly found: EditedEntry;
  /** Reason why the visitor may not move the branch; null: the visitor may. */
  readonly refusal: string | null;
}

/** The entry at a path. */
export type EditedEntry =
  | { readonly kind: "nothing" | "directory" | "submodule" | "link" }
  /** A file. Its text is null if the file is binary, has more than `MAX_EDITED_BYTES`, or is not
   * UTF-8. */
  | { readonly kind: "file"; readonly text: Uint8Array | null; readonly fault: TextFault | null };

/** Reason why a file cannot be edited as text. */
type TextFault = "too large" | "binary" | "no UTF-8";

/** Finds the reason why bytes cannot be edited as text; null: they can be. */
export function faultOf(bytes: Uint8Array): TextFault | null {
  if (bytes.length > MAX_EDITED_BYTES) return "too large";
  // A form cannot hold a NUL byte.
  if (bytes.includes(0)) return "binary";
  try {
    new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return null;
  } catch {
    return "no UTF-8";
  }
}

/** A file in a commit. */
export interface FileOfCommit {
  /** Id in hex. */
  readonly commit: string;
  /** Byte string. */
  readonly path: string;
}

/** The contents of a page of found files. */
export interface FindPage {
  readonly revision: PageRevision;
  readonly choices: RefChoices;
  /** Byte strings, best match first. */
  readonly paths: readonly string[];
  /** Number of matches; a lower bound unless `isComplete`. */
  readonly count: number;
  /** Whether the search covered all files. */
  readonly isComplete: boolean;
}

/** A request for a page of a log. */
export interface LogPageRequest {
  /** Revision and path from the URL; byte strings. */
  readonly parts: readonly string[];
  readonly filter: Omit<LogFilter, "path" | "order">;
  /** `next` of the previous page; null: this is the first page. */
  readonly cursor: string | null;
  readonly limit: number;
}

/** The contents of a page of a log. */
export interface HistoryPage {
  readonly revision: PageRevision;
  /** Null: the URL has a whole commit id, so the page never changes. */
  readonly choices: RefChoices | null;
  /** Byte string; "": the whole tree. */
  readonly path: string;
  /** Commits in the order of `git log`, for all commits that of `git log --date-order`. There
   * are fewer than `limit`, or none, when the search took too long. */
  readonly commits: readonly LogEntry[];
  /** The cursor of the next page; null: this is the last. */
  readonly next: string | null;
  /** Ids in hex of the commits to which the previous pages lead: the first `MAX_LINES`. */
  readonly lines: readonly string[];
}

/** The revision of a page. */
export interface PageRevision {
  /** The revision as URLs name it, byte string. It means the same whatever path follows. */
  readonly name: string;
  /** Name for people: without `refs/heads/` or `refs/tags/`, byte string. */
  readonly short: string;
  /** `commit`: an id, or any other revision that is no branch or tag. */
  readonly kind: "branch" | "tag" | "commit";
  /** Id in hex. */
  readonly commit: string;
}

/** A request for the entry at a path. */
export interface PathRequest {
  /** Revision and path from the URL; byte strings. */
  readonly parts: readonly string[];
  /** Whether to read a file's content. */
  readonly content: boolean;
  /** `next` of the directory's previous page; null: this is the first page. */
  readonly after: string | null;
}

/** The contents of a path's page. */
export interface PathPage {
  readonly revision: PageRevision;
  /** Null: the URL has a whole commit id, so the page never changes. */
  readonly choices: RefChoices | null;
  /** Byte string, "" for the root. */
  readonly path: string;
  /** The last commit that touched the path; null: not found in time. */
  readonly lastCommit: CommitRecord | null;
  readonly shown: ShownDirectory | ShownFile | ShownSubmodule;
}

/** A directory. */
export interface ShownDirectory {
  readonly kind: "directory";
  readonly directory: Directory;
  /** The README; null: there is none, or this is not the directory's first page. */
  readonly readme: Readme | null;
  readonly modules: ShownModules;
  /** `after` of the next page; null: this is the last page. */
  readonly next: string | null;
}

/** A file, or a symbolic link, whose content is its target. */
export interface ShownFile {
  readonly kind: "file";
  readonly mode: number;
  /** Hex. */
  readonly oid: string;
  readonly sizeBytes: number;
  /** The content; null: not requested, binary, or more than `MAX_SHOWN_FILE_BYTES`. */
  readonly content: Uint8Array | null;
  readonly isBinary: boolean;
  /** The Git LFS object that the file points to; null: the file is no pointer. */
  readonly lfs: NamedLfsObject | null;
}

/** A submodule: a commit of another repository. */
export interface ShownSubmodule {
  readonly kind: "submodule";
  /** Hex. */
  readonly oid: string;
  /** URL from `.gitmodules`, byte string; null: unknown. */
  readonly url: string | null;
}

/** The README of a directory. */
export interface Readme {
  /** Byte string. */
  readonly name: string;
  /** Hex. */
  readonly oid: string;
  /** The text; null: it has more than `MAX_README_BYTES`. */
  readonly text: string | null;
}

/** A branch or a tag. Byte strings. */
export interface RefChoice {
  /** Without `refs/heads/` or `refs/tags/`. */
  readonly name: string;
  /** The name as URLs have it. */
  readonly rev: string;
}

/** The branches and tags that a page offers. */
export interface RefChoices {
  /** The first `MAX_CHOICES` by name. */
  readonly branches: readonly RefChoice[];
  readonly tags: readonly RefChoice[];
  /** Number of branches and tags in the repository. */
  readonly branchCount: number;
  readonly tagCount: number;
}

/** A request for a part of a list. */
export interface PartRequest {
  /** Number of entries before the part. */
  readonly start: number;
  readonly limit: number;
}

/** A branch as a page shows it. */
export interface ListedBranch extends Omit<BranchRecord, "name"> {
  /** Without `refs/heads/`, byte string. */
  readonly name: string;
  readonly tip: CommitRecord;
}

/** A part of the branches, newest tip first. */
export interface BranchesPage {
  /** The default branch, which is not in the list; null: there is none. */
  readonly main: ListedBranch | null;
  readonly branches: readonly ListedBranch[];
  /** Number of branches except the default branch. */
  readonly total: number;
}

/** A tag as a page shows it. */
export interface ListedTag extends Omit<TagRecord, "name"> {
  /** Without `refs/tags/`, byte string. */
  readonly name: string;
  /** The tag as URLs name it, byte string. */
  readonly rev: string;
  /** Time of the tagged commit, in UTC; null: the tag's target is no commit. */
  readonly committed: string | null;
}

/** A part of the tags, newest commit first. */
export interface TagsPage {
  readonly tags: readonly ListedTag[];
  readonly total: number;
}

/** The contents of a repository's page. */
export interface RepositoryPage {
  /** The default branch without `refs/heads/`, byte string; null: HEAD names no branch. */
  readonly defaultBranch: string | null;
  readonly choices: RefChoices;
  /** The part about HEAD's commit; null: HEAD has no commit. */
  readonly head: HeadPart | null;
  /** Id of the newest event that the page includes. */
  readonly lastEvent: string;
}

/** The part of a repository's page about HEAD's commit. */
export interface HeadPart {
  readonly revision: PageRevision;
  readonly commit: CommitRecord;
  /** Number of commits that the commit reaches, including itself. */
  readonly commitCount: number;
  readonly shown: ShownDirectory;
  readonly languages: Languages["languages"];
}

/** The URLs of a directory's submodules by their names; all are byte strings. */
export type ShownModules = ReadonlyMap<string, string>;
