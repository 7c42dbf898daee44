/** What is compared: commits or trees, by their ids in hex. */
export interface DiffQuery {
  /** null: an empty tree. */
  readonly base: string | null;
  readonly head: string;
  /** How many of the files precede the page. */
  readonly start: number;
}

/** A request for a page of changed files. */
export interface DiffPageQuery extends DiffQuery {
  /** The most files. */
  readonly limit: number;
  /** The page ends after the file with which its patches reach this many bytes. Default: 4 MiB. */
  readonly pageBytes?: number;
  /** Whether lines are equal that differ only in blanks, as with `git diff -w`. */
  readonly ignoresBlanks?: boolean;
}

/** A changed file as the API and pages show it: modes in octal, ids in hex. */
export interface FileRecord {
  /** Byte string, as `oldPath` is. */
  readonly path: string;
  /** The former path of a renamed file. */
  readonly oldPath: string | null;
  readonly status: "added" | "deleted" | "modified" | "renamed" | "type-changed";
  readonly oldMode: string | null;
  readonly mode: string | null;
  readonly oldOid: string | null;
  readonly oid: string | null;
  /** Percent, for a renamed file. */
  readonly similarity: number | null;
  /** Lines; null: the file is binary or too large to compare. */
  readonly additions: number | null;
  readonly deletions: number | null;
  readonly isBinary: boolean;
  /** What `git diff --full-index` prints for the file; null: the patch or the file is too large. */
  readonly patch: string | null;
}

/** A page of changed files. */
export interface DiffPage {
  readonly files: FileRecord[];
  /** How many files all pages have together. */
  readonly total: number;
  /** `start` of the next page; null: this is the last page. */
  readonly next: number | null;
  /** Whether more files changed than can be listed. Renames are not detected then. */
  readonly isTruncated: boolean;
  /** Whether there were too many files to detect all renames. */
  readonly isRenameLimited: boolean;
}

/** A request for a part of one file's patch. `start` is the file's index among those that
 * changed. */
export interface FileDiffQuery extends DiffQuery {
  /** Lines of the patch that precede the part. */
  readonly fromLine: number;
  readonly ignoresBlanks: boolean;
}

/** A part of one file's patch. */
export interface FileDiff {
  /** `patch` is the part; null: the file is too large to compare. */
  readonly file: FileRecord;
  /** How many files changed. */
  readonly total: number;
  /** `fromLine` of the next part; null: this is the last. */
  readonly nextLine: number | null;
  /** Lines of the whole patch. */
  readonly lineCount: number;
}

/** Which commit is shown. */
export interface ShowRequest {
  /** Text, a revision. */
  readonly ref: string;
  /** Of its message, from 1. */
  readonly part: number;
}
