import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import { kindBits } from "../../base/format/tree.ts";
import type { Oid } from "../../base/format/oid.ts";

/** A file on one side of a comparison. */
export interface FileVersion {
  /** The mode from its tree: a file's, a symbolic link's or a gitlink's. */
  readonly mode: number;
  readonly oid: Oid;
  /** Object number; 0 for a gitlink. */
  readonly number: ObjectNumber;
}

/** A file that differs between the two sides of a comparison. At least one of the versions
 * exists. */
export interface FileChange {
  /** Byte string. The former path of a renamed file, else the same as `path`. */
  readonly oldPath: string;
  /** Byte string. */
  readonly path: string;
  /** null: it was added. */
  readonly old: FileVersion | null;
  /** null: it was deleted. */
  readonly next: FileVersion | null;
  /** How much of a renamed file is the same, in percent. */
  readonly similarity: number | null;
}

/** What happened to a file, in git's letters: added, deleted, modified, renamed, or type changed
 * (file, link, gitlink).
 * @see git-diff(1) --diff-filter */
type FileStatus = "A" | "D" | "M" | "R" | "T";

/** Returns what happened to a file. */
export function statusOf({ old, next, similarity }: FileChange): FileStatus {
  if (old === null) return "A";
  if (next === null) return "D";
  if (similarity !== null) return "R";
  return kindBits(old.mode) === kindBits(next.mode) ? "M" : "T";
}
