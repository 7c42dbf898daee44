import type { LogEntry, LogFilter } from "./history.ts";
import type { CommitRecord, ShownCommit } from "./commits.ts";
import type { CommitStatuses } from "./events.ts";
import type { NamedLfsObject } from "./lfs.ts";
import type { Languages } from "./tally.ts";
import type { Directory } from "./files.ts";
import type { BranchRecord, TagRecord } from "./refs.ts";

/** Where git keeps the notes of commits. @see git-notes(1): core.notesRef */
export const NOTES_REF = "refs/notes/commits";

/** A note of a commit. */
export interface CommitNote {
  /** Hex. */
  readonly oid: string;
  /** In the tree of notes. */
  readonly path: string;
  readonly sizeBytes: number;
  /** Null: it has more than `MAX_NOTE_BYTES`. */
  readonly text: string | null;
}

/** What has been noted of a commit. */
export interface CommitNotes {
  /** Usually one. Git joins several in this order, the deepest first. */
  readonly notes: readonly CommitNote[];
  /** False: there may be more, in trees that are too large. */
  readonly isWhole: boolean;
}

/** What the page of a commit shows besides its changes. */
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

/** What a comparison can be chosen from. */
export interface ComparePage {
  /** The default branch as URLs name it, byte string; null: HEAD names none. */
  readonly defaultRev: string | null;
  readonly choices: RefChoices;
  /** What each name means. */
  readonly sides: readonly ComparedSide[];
}

/** Bytes of a text that can be edited in a form. */
export const MAX_EDITED_BYTES = 1024 * 1024;

/** A request for what is to be changed. */
export interface EditRequest {
  /** Of the URL: a branch and a path. Byte strings. */
  readonly parts: readonly string[];
  /** The commit whose files are wanted, an id in hex; null: the branch's tip. */
  readonly at: string | null;
}

/** What a form that changes files shows. */
export interface EditPage {
  /** Without `refs/heads/`, byte string. */
  readonly branch: string;
  /** As URLs name it, byte string. */
  readonly rev: string;
  /** Id in hex of the commit that was read; null: the repository has none yet. */
  readonly commit: string | null;
  /** Byte string, "" for the root. */
  readonly path: string;
  readonly found: EditedEntry;
  /** Why the visitor may not move the branch; null: nothing forbids it. */
  readonly refusal: string | null;
}

/** What is at a path. */
export type EditedEntry =
  | { readonly kind: "nothing" | "directory" | "submodule" | "link" }
  /** A file. Its text is not given if it is `binary`, has more than `MAX_EDITED_BYTES`, or is no
   * UTF-8. */
  | { readonly kind: "file"; readonly text: Uint8Array | null; readonly fault: TextFault | null };

/** Why a file cannot be edited as text. */
type TextFault = "too large" | "binary" | "no UTF-8";

/** Why bytes cannot be edited as text; null: they can. */
export function faultOf(bytes: Uint8Array): TextFault | null {
  if (bytes.length > MAX_EDITED_BYTES) return "too large";
  // No form can hold a NUL.
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

/** What a page of found files shows. */
export interface FindPage {
  readonly revision: PageRevision;
  readonly choices: RefChoices;
  /** Byte strings, the best first. */
  readonly paths: readonly string[];
  /** How many match. More may, if not `isComplete`. */
  readonly count: number;
  /** Whether all files were looked at. */
  readonly isComplete: boolean;
}

/** A request for a page of a log. */
export interface LogPageRequest {
  /** Of the URL: a revision and a path. Byte strings. */
  readonly parts: readonly string[];
  readonly filter: Omit<LogFilter, "path" | "order">;
  /** `next` of the page before; null: this is the first. */
  readonly cursor: string | null;
  readonly limit: number;
}

/** What a page of a log shows. */
export interface HistoryPage {
  readonly revision: PageRevision;
  /** Null: the URL has a whole commit id, so that the page never changes. */
  readonly choices: RefChoices | null;
  /** Byte string, "" for all. */
  readonly path: string;
  /** In the order of `git log`, all commits in that of `git log --date-order`. Fewer than `limit`,
   * or none, when the search took too long. */
  readonly commits: readonly LogEntry[];
  /** The cursor of the next page; null: this is the last. */
  readonly next: string | null;
  /** Ids of the commits to which the pages before lead, in hex: the first `MAX_LINES`. */
  readonly lines: readonly string[];
}

/** The revision of a page. */
export interface PageRevision {
  /** As URLs name it, byte string. It means the same whatever path follows. */
  readonly name: string;
  /** Without `refs/heads/` or `refs/tags/`, byte string; for people. */
  readonly short: string;
  /** `commit`: an id, or another revision that is neither. */
  readonly kind: "branch" | "tag" | "commit";
  /** Id in hex. */
  readonly commit: string;
}

/** A request for what is at a path. */
export interface PathRequest {
  /** Of the URL: a revision and a path. Byte strings. */
  readonly parts: readonly string[];
  /** Whether to read the content of a file. */
  readonly content: boolean;
  /** `next` of the directory's page before; null: this is the first. */
  readonly after: string | null;
}

/** What the page of a path shows. */
export interface PathPage {
  readonly revision: PageRevision;
  /** Null: the URL has a whole commit id, so that the page never changes. */
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
  /** Null: there is none, or this is not the directory's first page. */
  readonly readme: Readme | null;
  readonly modules: ShownModules;
  /** `after` of its next page; null: this is the last. */
  readonly next: string | null;
}

/** A file, or a symbolic link, whose content is its target. */
export interface ShownFile {
  readonly kind: "file";
  readonly mode: number;
  /** Hex. */
  readonly oid: string;
  readonly sizeBytes: number;
  /** Null: not asked for, binary, or more than `MAX_SHOWN_FILE_BYTES`. */
  readonly content: Uint8Array | null;
  readonly isBinary: boolean;
  /** The Git LFS object that it is a pointer to; null: it is none. */
  readonly lfs: NamedLfsObject | null;
}

/** A commit of another repository. */
export interface ShownSubmodule {
  readonly kind: "submodule";
  /** Hex. */
  readonly oid: string;
  /** As `.gitmodules` has it, byte string; null: it is not known. */
  readonly url: string | null;
}

/** The README of a directory. */
export interface Readme {
  /** Byte string. */
  readonly name: string;
  /** Hex. */
  readonly oid: string;
  /** Null: it has more than `MAX_README_BYTES`. */
  readonly text: string | null;
}

/** A branch or a tag. Byte strings. */
export interface RefChoice {
  /** Without `refs/heads/` or `refs/tags/`. */
  readonly name: string;
  /** As URLs name it. */
  readonly rev: string;
}

/** The branches and tags that a page offers. */
export interface RefChoices {
  /** The first `MAX_CHOICES` by name. */
  readonly branches: readonly RefChoice[];
  readonly tags: readonly RefChoice[];
  /** How many there are. */
  readonly branchCount: number;
  readonly tagCount: number;
}

/** A part of a list. */
export interface PartRequest {
  /** How many precede it. */
  readonly start: number;
  readonly limit: number;
}

/** A branch as a page shows it. */
export interface ListedBranch extends Omit<BranchRecord, "name"> {
  /** Without `refs/heads/`, byte string. */
  readonly name: string;
  readonly tip: CommitRecord;
}

/** A part of the branches, those with the newest commits first. */
export interface BranchesPage {
  /** The default branch, which is not in the list; null: there is none. */
  readonly main: ListedBranch | null;
  readonly branches: readonly ListedBranch[];
  /** All but the default branch. */
  readonly total: number;
}

/** A tag as a page shows it. */
export interface ListedTag extends Omit<TagRecord, "name"> {
  /** Without `refs/tags/`, byte string. */
  readonly name: string;
  /** As URLs name it, byte string. */
  readonly rev: string;
  /** When its commit was made, in UTC; null: it is of no commit. */
  readonly committed: string | null;
}

/** A part of the tags, those of the newest commits first. */
export interface TagsPage {
  readonly tags: readonly ListedTag[];
  readonly total: number;
}

/** What the page of a repository shows. */
export interface RepositoryPage {
  /** Without `refs/heads/`, byte string; null: HEAD names no branch. */
  readonly defaultBranch: string | null;
  readonly choices: RefChoices;
  /** Null: HEAD has no commit. */
  readonly head: HeadPart | null;
  /** The id of the newest event that it takes account of. */
  readonly lastEvent: string;
}

/** What the page shows of the commit that HEAD names. */
export interface HeadPart {
  readonly revision: PageRevision;
  readonly commit: CommitRecord;
  /** How many commits it reaches, itself included. */
  readonly commitCount: number;
  readonly shown: ShownDirectory;
  readonly languages: Languages["languages"];
}

/** The URLs of a directory's submodules by their names; all are byte strings. */
export type ShownModules = ReadonlyMap<string, string>;
