import { encodeText, decodeText } from "../../base/format/byte-string.ts";
import { GitError } from "../../base/format/errors.ts";
import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import { toHex, fromHex } from "../../base/format/oid.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { resolveCommit, peel, revisionOf } from "../objects/revision.ts";
import type { ShownCommit } from "../../contract/commits.ts";
import { formatMode } from "../../base/format/tree.ts";
import { showCommitContent } from "../objects/shown-object.ts";
import { MAX_COMPARED_BYTES } from "../../base/format/limits.ts";
import type {
  ShowRequest,
  FileDiffQuery,
  FileDiff,
  DiffPageQuery,
  DiffPage,
  FileRecord,
  DiffQuery,
} from "../../contract/diffs.ts";
import { cutPatch } from "./patch-window.ts";
import { formatPatch, appendPatch, type ChangedContent, type PatchOptions } from "./unified-patch.ts";
import { TimeSlice } from "../../base/pacing/time-slice.ts";
import { ByteWriter } from "./byte-writer.ts";
import { ChangedBlobs } from "./changed-blobs.ts";
import { type FileChange, type FileVersion, statusOf } from "./file-change.ts";
import { findRenames } from "./renames.ts";
import { diffTrees, type TreeDiff } from "./tree-diff.ts";

/** The most changed files that are listed. */
const MAX_CHANGES = 50_000;

/** The most bytes of one file's patch that a page shows. */
const MAX_PATCH_BYTES = 1024 * 1024;

/** A page ends after the file with which its patches reach this many bytes, unless less is asked
 * for. */
const PAGE_PATCH_BYTES = 4 * 1024 * 1024;

/** A page also ends after the file with which its files reach this many bytes, old and new
 * together: a large file's patch can be short, or left out. Comparing them takes a second. */
const PAGE_COMPARED_BYTES = 64 * 1024 * 1024;

/** A page that took this long ends early. The next page continues there. */
const PAGE_MS = 5_000;

/** Git's default limit for rename detection, and limits for memory and time. */
const RENAMES = {
  maxFiles: 1_000,
  maxBlobBytes: MAX_COMPARED_BYTES,
  maxReadBytes: 128 * 1024 * 1024,
  matchesEmpty: true,
};

/** Patches as text. */
const UTF_8 = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });

/** Compares two commits, as `git diff -M` does.
 * @throws GitError "not-found" when no ref reaches one of them, "storage-failed" */
export async function diff(repository: OpenRepository, query: DiffPageQuery): Promise<DiffPage> {
  const endMs = Date.now() + PAGE_MS;
  const { pageBytes = PAGE_PATCH_BYTES, ignoresBlanks = false } = query;
  const { changes, blobs, ...found } = await findChanges(repository, query);
  const page = changes.slice(query.start, query.start + query.limit);
  const sizes = blobs.sizesOf(page);
  const comparable = page.filter((_, i) => sizes[i]! <= MAX_COMPARED_BYTES);
  const contents = blobs.readChanges(comparable);
  const files: FileRecord[] = [];
  let patchBytes = 0;
  let comparedBytes = 0;
  for (const [i, change] of page.entries()) {
    if (sizes[i]! > MAX_COMPARED_BYTES) {
      files.push({ ...describe(change), additions: null, deletions: null, isBinary: false, patch: null });
      continue;
    }
    const file = compareFile((await contents.next()).value!, { ignoresBlanks });
    files.push(file);
    patchBytes += file.patch?.length ?? 0;
    comparedBytes += sizes[i]!;
    if (patchBytes >= pageBytes || comparedBytes >= PAGE_COMPARED_BYTES || Date.now() > endMs) break;
    await blobs.pause();
  }
  await contents.return();
  const end = query.start + files.length;
  return { files, total: changes.length, next: end < changes.length ? end : null, ...found };
}

/** Writes one part of a patch with which `git apply` turns one commit into the other, binary files
 * included.
 * @returns the patches of whole files, and where the next part begins; null: this is the last part
 * @throws GitError as `diff`; "too-large" when a file is too large or too many files changed */
export async function patch(
  repository: OpenRepository,
  query: DiffQuery,
): Promise<{ bytes: Uint8Array; next: number | null }> {
  const { changes, blobs, isTruncated } = await findChanges(repository, query);
  if (isTruncated) throw new GitError("too-large", { what: "the number of changed files", limit: MAX_CHANGES });
  // The status of the response must be known before its first byte is sent.
  if (query.start === 0) {
    // Nor may it lack a file: it would be applied as if it were whole.
    for (const [i, actual] of blobs.sizesOf(changes).entries()) {
      if (actual <= MAX_COMPARED_BYTES) continue;
      const what = `the changed file ${decodeText(changes[i]!.path)} (bytes, old and new)`;
      const reason = "lists of the changed files have the patches of all others; git diff in a clone has this one";
      throw new GitError("too-large", { what, limit: MAX_COMPARED_BYTES, actual, reason });
    }
  }
  const { codec } = repository.state.platform;
  const into = new ByteWriter();
  let end = query.start;
  let comparedBytes = 0;
  for await (const changed of blobs.readChanges(changes.slice(query.start))) {
    appendPatch(into, changed, { deflate: (content) => codec.deflate(content) });
    end++;
    comparedBytes += changed.old.length + changed.next.length;
    if (into.length >= PAGE_PATCH_BYTES || comparedBytes >= PAGE_COMPARED_BYTES) break;
    await blobs.pause();
  }
  return { bytes: into.finish(), next: end < changes.length ? end : null };
}

/** Finds what changed, with renames.
 * @throws GitError as `diff` */
async function findChanges(
  repository: OpenRepository,
  { base, head }: DiffQuery,
): Promise<{ changes: FileChange[]; blobs: ChangedBlobs; isTruncated: boolean; isRenameLimited: boolean }> {
  const slice = new TimeSlice();
  const old = base === null ? 0 : treeOf(repository, base);
  const trees: TreeDiff = await diffTrees(repository.reader, old, treeOf(repository, head), MAX_CHANGES, slice);
  const blobs = new ChangedBlobs(repository, slice);
  if (trees.isTruncated) return { ...trees, blobs, isRenameLimited: true };
  const { changes, isLimited } = await findRenames(trees.changes, blobs, RENAMES);
  return { changes, blobs, isTruncated: false, isRenameLimited: isLimited };
}

function treeOf(repository: OpenRepository, oid: string): ObjectNumber {
  const row = repository.find(fromHex(oid));
  if (row === null) throw new GitError("not-found", { what: "commit", reason: oid });
  return peel(repository, revisionOf(repository, row.number), "tree").number;
}

function compareFile(changed: ChangedContent, options: PatchOptions): FileRecord {
  const { bytes, additions, deletions, isBinary } = formatPatch(changed, options);
  return {
    ...describe(changed.change),
    additions: isBinary ? null : additions,
    deletions: isBinary ? null : deletions,
    isBinary,
    patch: bytes.length > MAX_PATCH_BYTES ? null : UTF_8.decode(bytes),
  };
}

const STATUS = { A: "added", D: "deleted", M: "modified", R: "renamed", T: "type-changed" } as const;

/** A change as it is shown, but for its lines. */
export function describe(change: FileChange): Omit<FileRecord, "additions" | "deletions" | "isBinary" | "patch"> {
  const { old, next, similarity } = change;
  return {
    path: change.path,
    oldPath: similarity === null ? null : change.oldPath,
    status: STATUS[statusOf(change)],
    oldMode: modeOf(old),
    mode: modeOf(next),
    oldOid: old === null ? null : toHex(old.oid),
    oid: next === null ? null : toHex(next.oid),
    similarity,
  };
}

function modeOf(version: FileVersion | null): string | null {
  return version === null ? null : formatMode(version.mode);
}

/** Compares one file, however long its patch is.
 * @throws GitError as `diff`; "not-found" when fewer files changed */
export async function fileDiff(repository: OpenRepository, query: FileDiffQuery): Promise<FileDiff> {
  const { start, fromLine, ignoresBlanks } = query;
  const { changes, blobs } = await findChanges(repository, query);
  const change = changes[start];
  if (change === undefined) throw new GitError("not-found", { what: "changed file" });
  const [sizeBytes] = blobs.sizesOf([change]);
  const shown = { ...describe(change), additions: null, deletions: null, isBinary: false, patch: null };
  const total = changes.length;
  if (sizeBytes! > MAX_COMPARED_BYTES) return { file: shown, total, nextLine: null, lineCount: 0 };
  const contents = blobs.readChanges([change]);
  const { bytes, additions, deletions, isBinary } = formatPatch((await contents.next()).value!, { ignoresBlanks });
  await contents.return();
  const { part, nextLine, lineCount } = cutPatch(bytes, fromLine);
  const counts = isBinary ? {} : { additions, deletions };
  return { file: { ...shown, ...counts, isBinary, patch: UTF_8.decode(part) }, total, nextLine, lineCount };
}

/** Reads a commit.
 * @throws GitError as `resolveCommit`, "storage-failed", "invalid" for the part */
export async function showCommit(repository: OpenRepository, { ref, part }: ShowRequest): Promise<ShownCommit> {
  const { oid, number } = await resolveCommit(repository, encodeText(ref));
  return showCommitContent(toHex(oid), (await repository.reader.read(number)).bytes, part);
}
