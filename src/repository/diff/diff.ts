import { decodeText } from "../../format/byte-string.ts";
import { GitError } from "../../format/errors.ts";
import { checkLimit } from "../../format/limits.ts";
import { fromHex, toHex } from "../../format/oid.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { peel, revisionOf } from "../objects/revision.ts";
import { TimeSlice } from "../pacing/time-slice.ts";
import { ByteWriter } from "./byte-writer.ts";
import { ChangedBlobs } from "./changed-blobs.ts";
import { type FileChange, type FileVersion, statusOf } from "./file-change.ts";
import { findRenames } from "./renames.ts";
import { diffTrees, type TreeDiff } from "./tree-diff.ts";
import { type ChangedContent, formatPatch } from "./unified-patch.ts";

/** Changed files that are listed at the most. */
const MAX_CHANGES = 50_000;

/** Bytes of a file, old and new together, up to which it is compared: both are in memory with their lines. */
const MAX_COMPARED_BYTES = 8 * 1024 * 1024;

/** Bytes of a file's patch that a page shows. */
const MAX_PATCH_BYTES = 1024 * 1024;

/** A page ends behind the file with which its patches reach so many bytes. */
const PAGE_PATCH_BYTES = 4 * 1024 * 1024;

/** A page that took so long ends early: the next one goes on there. */
const PAGE_MS = 5_000;

/** As far as git looks by itself, and no further than memory and time allow. */
const RENAMES = {
  maxFiles: 1_000,
  maxBlobBytes: MAX_COMPARED_BYTES,
  maxReadBytes: 128 * 1024 * 1024,
  matchesEmpty: true,
};

const UTF_8 = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });

/** What is compared: commits or trees, by their ids in hex. */
export interface DiffQuery {
  /** null: an empty tree. */
  readonly base: string | null;
  readonly head: string;
  /** How many of the files come before the page. */
  readonly start: number;
}

/** A changed file as the API shows it: text where trees have bytes, modes in octal, ids in hex. */
export interface FileRecord {
  readonly path: string;
  /** Where it was, if it was renamed. */
  readonly oldPath: string | null;
  readonly status: "added" | "deleted" | "modified" | "renamed" | "type-changed";
  readonly oldMode: string | null;
  readonly mode: string | null;
  readonly oldOid: string | null;
  readonly oid: string | null;
  /** Percent, of a renamed file. */
  readonly similarity: number | null;
  /** Lines; null: it is binary or too large to be compared. */
  readonly additions: number | null;
  readonly deletions: number | null;
  readonly isBinary: boolean;
  /** What `git diff --full-index` prints of the file; null: that is too long, or the file too large. */
  readonly patch: string | null;
}

/** A page of changed files. */
export interface DiffPage {
  readonly files: FileRecord[];
  /** How many files there are on all pages. */
  readonly total: number;
  /** `start` of the next page; null: this is the last. */
  readonly next: number | null;
  /** Whether there are more changed files than are listed at all; renames are not found then. */
  readonly isCut: boolean;
  /** Whether there were too many files to find all renames. */
  readonly isRenameLimited: boolean;
}

/** Compares two commits, as `git diff -M` does.
 * @throws GitError "not-found" when no ref leads to one of them, "storage-failed" */
export async function diff(repository: OpenRepository, query: DiffQuery & { limit: number }): Promise<DiffPage> {
  const endMs = Date.now() + PAGE_MS;
  const { changes, blobs, ...found } = await findChanges(repository, query);
  const page = changes.slice(query.start, query.start + query.limit);
  const sizes = blobs.sizesOf(page);
  const comparable = page.filter((_, i) => sizes[i]! <= MAX_COMPARED_BYTES);
  const contents = blobs.readChanges(comparable);
  const files: FileRecord[] = [];
  let patchBytes = 0;
  for (const [i, change] of page.entries()) {
    if (sizes[i]! > MAX_COMPARED_BYTES) {
      files.push({ ...describe(change), additions: null, deletions: null, isBinary: false, patch: null });
      continue;
    }
    const file = compareFile((await contents.next()).value!);
    files.push(file);
    patchBytes += file.patch?.length ?? 0;
    if (patchBytes >= PAGE_PATCH_BYTES || Date.now() > endMs) break;
    await blobs.pause();
  }
  await contents.return();
  const end = query.start + files.length;
  return { files, total: changes.length, next: end < changes.length ? end : null, ...found };
}

/** Writes a part of the patch that `git apply` makes the one commit of the other with, binary files included.
 * @returns whole files' patches, and where the next part begins; null: this is the last
 * @throws GitError as `diff`, "too-large" when a file or the number of files is */
export async function patch(
  repository: OpenRepository,
  query: DiffQuery,
): Promise<{ bytes: Uint8Array; next: number | null }> {
  const { changes, blobs, isCut } = await findChanges(repository, query);
  if (isCut) throw new GitError("too-large", { what: "the number of changed files", limit: MAX_CHANGES });
  // Known before the first byte is sent, as the answer's status is.
  if (query.start === 0) {
    for (const sizeBytes of blobs.sizesOf(changes)) {
      checkLimit("a changed file (bytes, old and new)", MAX_COMPARED_BYTES, sizeBytes);
    }
  }
  const { codec } = repository.state.platform;
  const into = new ByteWriter();
  let end = query.start;
  for await (const changed of blobs.readChanges(changes.slice(query.start))) {
    into.write(formatPatch(changed, { deflate: (content) => codec.deflate(content) }).bytes);
    end++;
    if (into.length >= PAGE_PATCH_BYTES) break;
    await blobs.pause();
  }
  return { bytes: into.finish(), next: end < changes.length ? end : null };
}

async function findChanges(
  repository: OpenRepository,
  { base, head }: DiffQuery,
): Promise<{ changes: FileChange[]; blobs: ChangedBlobs; isCut: boolean; isRenameLimited: boolean }> {
  const slice = new TimeSlice();
  const old = base === null ? 0 : treeOf(repository, base);
  const trees: TreeDiff = await diffTrees(repository.reader, old, treeOf(repository, head), MAX_CHANGES, slice);
  const blobs = new ChangedBlobs(repository, slice);
  if (trees.isCut) return { ...trees, blobs, isRenameLimited: true };
  const { changes, isLimited } = await findRenames(trees.changes, blobs, RENAMES);
  return { changes, blobs, isCut: false, isRenameLimited: isLimited };
}

function treeOf(repository: OpenRepository, oid: string): number {
  const row = repository.find(fromHex(oid));
  if (row === null) throw new GitError("not-found", { what: "commit", reason: oid });
  return peel(repository, revisionOf(repository, row.number), "tree").number;
}

function compareFile(changed: ChangedContent): FileRecord {
  const { bytes, additions, deletions, isBinary } = formatPatch(changed);
  return {
    ...describe(changed.change),
    additions: isBinary ? null : additions,
    deletions: isBinary ? null : deletions,
    isBinary,
    patch: bytes.length > MAX_PATCH_BYTES ? null : UTF_8.decode(bytes),
  };
}

const STATUS = { A: "added", D: "deleted", M: "modified", R: "renamed", T: "type-changed" } as const;

function describe(change: FileChange): Omit<FileRecord, "additions" | "deletions" | "isBinary" | "patch"> {
  const { old, next, similarity } = change;
  return {
    path: decodeText(change.path),
    oldPath: similarity === null ? null : decodeText(change.oldPath),
    status: STATUS[statusOf(change)],
    oldMode: modeOf(old),
    mode: modeOf(next),
    oldOid: old === null ? null : toHex(old.oid),
    oid: next === null ? null : toHex(next.oid),
    similarity,
  };
}

function modeOf(version: FileVersion | null): string | null {
  return version === null ? null : version.mode.toString(8).padStart(6, "0");
}
