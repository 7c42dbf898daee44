import { formatMode } from "../../base/format/tree.ts";
import { decodeText } from "../../base/format/byte-string.ts";
import { GitError } from "../../base/format/errors.ts";
import { toHex } from "../../base/format/oid.ts";
import type { Conflict } from "./conflict.ts";
import type { Version } from "./merged-path.ts";
import type { ShownConflict, ShownVersion } from "../../base/format/conflict.ts";

/** The most conflicts that are reported. */
const MAX_CONFLICTS = 1_000;

/** The most characters of hunks that are reported: a response crosses from the object to the Worker
 * in one piece. */
const MAX_HUNKS_CHARS = 4_000_000;

/** The error for a failed merge. It carries the first thousand conflicts.
 * @param what the noun for the message */
export function mergeConflict(what: string, conflicts: readonly Conflict[]): GitError {
  let chars = 0;
  const shown = conflicts.slice(0, MAX_CONFLICTS).map((conflict) => {
    chars += conflict.hunks.reduce((sum, { base, ours, theirs }) => {
      return sum + base.text.length + ours.text.length + theirs.text.length;
    }, 0);
    return showConflict(conflict, chars <= MAX_HUNKS_CHARS);
  });
  const { length } = conflicts;
  return new GitError("conflict", {
    what,
    reason: length === 1 ? `${shown[0]!.path} cannot be merged` : `${length} paths cannot be merged`,
    conflicts: shown,
    conflictCount: length,
  });
}

function showConflict(
  { path, kind, related, versions, hunks, isTruncated }: Conflict,
  hasHunks: boolean,
): ShownConflict {
  const [base, ours, theirs] = versions.map(showVersion) as [
    ShownVersion | null,
    ShownVersion | null,
    ShownVersion | null,
  ];
  return {
    path: decodeText(path),
    kind,
    related: related.map(decodeText),
    base,
    ours,
    theirs,
    hunks: hasHunks ? hunks : [],
    truncated: isTruncated || !hasHunks,
  };
}

function showVersion(version: Version | null): ShownVersion | null {
  return version && { mode: formatMode(version.mode), oid: toHex(version.oid) };
}
