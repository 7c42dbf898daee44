import { decodeText, toByteString } from "../../base/format/byte-string.ts";
import { equalOids, type Oid, toHex } from "../../base/format/oid.ts";
import { FILE_MODE, GITLINK_MODE, SYMLINK_MODE } from "../../base/format/tree.ts";
import { mergeLines, type MergedLines } from "../diff/merge-lines.ts";
import type { LineRange } from "../diff/merged-text.ts";
import { linesBytes, splitLines, type TextLines } from "../../base/lines/text-lines.ts";
import type { ConflictKind, Hunk, HunkLines } from "../../base/format/conflict.ts";
import type { MergeAttributes, MergeDriver } from "./merge-attributes.ts";
import type { MergeObjects } from "./merge-objects.ts";
import type { Version } from "./merged-path.ts";

/** The most bytes of each version for a merge of texts: they are in memory together with their
 * lines. Larger files are in conflict. */
const MAX_TEXT_BYTES = 8 * 1024 * 1024;

/** How many bytes git searches for a NUL, the mark of a binary file. */
const BINARY_PROBE_BYTES = 8_000;

/** The most hunks reported for a file. */
const MAX_HUNKS = 50;

/** The most bytes of text reported for one side of a hunk. */
const MAX_HUNK_BYTES = 4_096;

/** The names of the sides in conflict markers and in names of files put aside; byte strings. */
export interface MergeLabels {
  readonly ours: string;
  readonly theirs: string;
}

/** The context of a merge of contents. */
export interface ContentMerge {
  readonly objects: MergeObjects;
  readonly attributes: MergeAttributes;
  readonly labels: MergeLabels;
  /** 0, or the depth in merges of merge bases, whose conflicts nobody resolves: they become
   * content. */
  readonly depth: number;
}

/** Three versions of a file; both sides have the same type. */
export interface FileVersions {
  readonly base: Version | null;
  readonly ours: Version;
  readonly theirs: Version;
  readonly paths: readonly [base: string, ours: string, theirs: string];
}

/** A merged file. */
export interface MergedFile {
  /** The result of `git merge`: with conflict markers, or one side's. Null: none, in merges of
   * merge bases. */
  readonly version: Version | null;
  /** Why it is in conflict, null: it is not. */
  readonly conflict: ConflictKind | null;
  readonly hunks: readonly Hunk[];
  readonly isTruncated: boolean;
}

/** Merges a file: its mode, then its content.
 * @param path whose attributes decide how
 * @param nesting how much longer conflict markers are, because contents may hold markers already
 * @throws GitError "storage-failed"
 * @see handle_content_merge() in git's merge-ort.c */
export async function mergeContent(
  merge: ContentMerge,
  path: string,
  file: FileVersions,
  nesting: number,
): Promise<MergedFile> {
  const { base, ours, theirs } = file;
  const isModeMerged = ours.mode === theirs.mode || ours.mode === base?.mode || theirs.mode === base?.mode;
  const mode = ours.mode === theirs.mode || ours.mode === base?.mode ? theirs.mode : ours.mode;
  const conflict = isModeMerged ? null : "mode";
  const take = (oid: Oid): MergedFile => ({ version: { mode, oid }, conflict, hunks: [], isTruncated: false });
  if (equalOids(ours.oid, theirs.oid) || (base !== null && equalOids(ours.oid, base.oid))) return take(theirs.oid);
  if (base !== null && equalOids(theirs.oid, base.oid)) return take(ours.oid);

  const isBaseAlike = base !== null && kindOf(base) === kindOf(ours);
  switch (kindOf(ours)) {
    case SYMLINK_MODE:
      if (merge.depth > 0) return { version: base, conflict: "symlink", hunks: [], isTruncated: false };
      return { ...take(ours.oid), conflict: "symlink" };
    case GITLINK_MODE:
      // The commits are in another repository, so it is unknown whether one is an ancestor of the
      // other.
      if (merge.depth > 0) return { version: base, conflict: "submodule", hunks: [], isTruncated: false };
      return { ...take(ours.oid), conflict: "submodule" };
    default: {
      const { name, markerLength } = await merge.attributes.driverOf(path);
      const texts = { ...file, base: isBaseAlike ? base : null };
      const merged = await mergeTexts(merge, texts, name, markerLength + nesting);
      return { ...merged, version: { mode, oid: merged.oid }, conflict: merged.conflict ?? conflict };
    }
  }
}

async function mergeTexts(
  { objects, labels, depth }: ContentMerge,
  { base, ours, theirs, paths }: FileVersions,
  driver: MergeDriver["name"],
  markerLength: number,
): Promise<Omit<MergedFile, "version"> & { oid: Oid }> {
  const oids = [base, ours, theirs].filter((version) => version !== null).map(({ oid }) => oid);
  const isTooLarge = objects
    .sizes(oids)
    .values()
    .some((sizeBytes) => sizeBytes > MAX_TEXT_BYTES);
  const blobs = isTooLarge || driver === "binary" ? null : await objects.readBlobs(oids);
  const read = (version: Version | null): Uint8Array =>
    version === null ? new Uint8Array() : blobs!.get(toHex(version.oid))!;
  if (blobs === null || blobs.values().some(isBinary)) {
    const conflict = isTooLarge && driver !== "binary" ? "too large" : "binary";
    // A merge of merge bases keeps the base's content, so that both sides differ from it.
    const oid = depth === 0 ? ours.oid : (base?.oid ?? objects.add("blob", new Uint8Array()));
    return { oid, conflict, hunks: [], isTruncated: false };
  }
  const isMoved = paths[1] !== paths[0] || paths[2] !== paths[0];
  const merged = mergeLines(read(base), read(ours), read(theirs), {
    labels: isMoved ? { ours: `${labels.ours}:${paths[1]}`, theirs: `${labels.theirs}:${paths[2]}` } : labels,
    markerLength,
    takeBoth: driver === "union",
  });
  const oid = objects.add("blob", merged.bytes);
  if (merged.conflicts.length === 0) return { oid, conflict: null, hunks: [], isTruncated: false };
  const shown =
    depth === 0 ? showHunks(merged, [read(base), read(ours), read(theirs)]) : { hunks: [], isTruncated: false };
  return { oid, conflict: base === null ? "add/add" : "content", ...shown };
}

function showHunks(
  { conflicts }: MergedLines,
  texts: readonly [Uint8Array, Uint8Array, Uint8Array],
): Pick<MergedFile, "hunks" | "isTruncated"> {
  const [base, ours, theirs] = texts.map(splitLines) as [TextLines, TextLines, TextLines];
  let isTruncated = conflicts.length > MAX_HUNKS;
  const show = (lines: TextLines, { start, end }: LineRange): HunkLines => {
    const bytes = linesBytes(lines, start, end);
    isTruncated ||= bytes.length > MAX_HUNK_BYTES;
    const text = decodeText(toByteString(bytes.subarray(0, MAX_HUNK_BYTES)));
    return { start: start + 1, count: end - start, text };
  };
  const hunks = conflicts.slice(0, MAX_HUNKS).map((conflict) => ({
    base: show(base, conflict.base),
    ours: show(ours, conflict.ours),
    theirs: show(theirs, conflict.theirs),
  }));
  return { hunks, isTruncated };
}

/** @see buffer_is_binary() in git's xdiff-interface.c */
function isBinary(content: Uint8Array): boolean {
  return content.subarray(0, BINARY_PROBE_BYTES).includes(0);
}

/** The type of a file, as one mode for each: regular files (executable or not), symbolic links,
 * gitlinks. */
export function kindOf({ mode }: Version): number {
  return mode === SYMLINK_MODE || mode === GITLINK_MODE ? mode : FILE_MODE;
}
