/** The two sides of a comparison: ids in hex of commits or trees. */
export interface DiffQuery {
  /** null: an empty tree. */
  readonly base: string | null;
  readonly head: string;
  /** Number of changed files before the page. */
  readonly start: number;
}

/** A request for a page of changed files. */
export interface DiffPageQuery extends DiffQuery {
  /** File limit of the page. */
  readonly limit: number;
  /** Patch bytes after which the page ends, at the end of a file. Default: 4 MiB. */
  readonly pageBytes?: number;
  /** Whether to ignore whitespace within lines, as `git diff -w` does. */
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
  /** Number of added lines; null: the file is binary or too large to compare. */
  readonly additions: number | null;
  readonly deletions: number | null;
  readonly isBinary: boolean;
  /** The file's patch, as `git diff --full-index` prints it; null: the patch or the file is too
   * large. */
  readonly patch: string | null;
}

/** A page of changed files. */
export interface DiffPage {
  readonly files: FileRecord[];
  /** Number of changed files on all pages. */
  readonly total: number;
  /** `start` of the next page; null: this is the last page. */
  readonly next: number | null;
  /** Whether more files changed than can be listed. If so, renames are not detected. */
  readonly isTruncated: boolean;
  /** Whether there were too many files to detect all renames. */
  readonly isRenameLimited: boolean;
}

/** A request for a part of one file's patch. `start` is the file's index among those that
 * changed. */
export interface FileDiffQuery extends DiffQuery {
  /** Number of patch lines before the part. */
  readonly fromLine: number;
  readonly ignoresBlanks: boolean;
}

/** A part of one file's patch. */
export interface FileDiff {
  /** `patch` is the part; null: the file is too large to compare. */
  readonly file: FileRecord;
  /** Number of changed files. */
  readonly total: number;
  /** `fromLine` of the next part; null: this is the last. */
  readonly nextLine: number | null;
  /** Number of lines of the whole patch. */
  readonly lineCount: number;
}

/** A request to show a commit. */
export interface ShowRequest {
  /** Revision; text. */
  readonly ref: string;
  /** Part of the commit's message, from 1. */
  readonly part: number;
}
