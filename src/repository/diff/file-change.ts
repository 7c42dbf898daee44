import type { Oid } from "../../format/oid.ts";

/** A file as one side of a comparison has it. */
export interface FileVersion {
  /** As its tree says: a file's, a symbolic link's or a gitlink's. */
  readonly mode: number;
  readonly oid: Oid;
  /** Object number, 0 of a gitlink. */
  readonly number: number;
}

/** A file that is not the same on both sides of a comparison; at least one of the versions is there. */
export interface FileChange {
  /** Byte string. Of a renamed file where it was, else where it is. */
  readonly oldPath: string;
  /** Byte string. */
  readonly path: string;
  /** null: it was added. */
  readonly old: FileVersion | null;
  /** null: it was deleted. */
  readonly next: FileVersion | null;
  /** Of a renamed file how much of it is the same, in percent. */
  readonly similarity: number | null;
}

/** What happened to a file, in git's letters: added, deleted, modified, renamed, or another type (file, link, gitlink) now.
 * @see git-diff(1) --diff-filter */
export type FileStatus = "A" | "D" | "M" | "R" | "T";

/** The bits of a mode that say what a thing is, without its permissions. */
export function typeBits(mode: number): number {
  return mode & 0o170000;
}

/** Tells what happened to a file. */
export function statusOf({ old, next, similarity }: FileChange): FileStatus {
  if (old === null) return "A";
  if (next === null) return "D";
  if (similarity !== null) return "R";
  return typeBits(old.mode) === typeBits(next.mode) ? "M" : "T";
}
