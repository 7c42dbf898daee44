import { ChangedBlobs } from "../diff/changed-blobs.ts";
import { equalOids } from "../../base/format/oid.ts";
import { isFileMode } from "../../base/format/tree.ts";
import type { FileVersion } from "../diff/file-change.ts";
import { findRenames } from "../diff/renames.ts";
import { diffTrees } from "../diff/tree-diff.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { compareRanked, offer } from "../diff/ranking.ts";
import { TimeSlice } from "../../base/pacing/time-slice.ts";
import { MAX_SCORE, mayBeSimilar, scoreSimilarity, takeFingerprint } from "../diff/similarity.ts";

/** A commit with more files is not searched for the original of a file. */
const MAX_FILES = 100_000;

/** A larger blob is similar to no other; at most this many bytes are read. */
const MAX_BLOB_BYTES = 8 * 1024 * 1024;
const MAX_READ_BYTES = 64 * 1024 * 1024;

/** A file is at least half the same as its original. */
const MINIMUM_SCORE = MAX_SCORE / 2;

/** Files of the same content that are searched for a deleted one and for one of the same name. */
const MAX_EQUAL = 100;

/** A file that existed before the commit. */
interface Source {
  /** Byte string. */
  readonly path: string;
  readonly version: FileVersion;
  /** Whether the commit deleted it: then it was renamed, else copied. */
  readonly isGone: boolean;
  readonly hasName: boolean;
}

/** Finds what an added file was made from: any file that existed before, deleted or not.
 * @param old root tree before, an object number
 * @param next root tree after, which has the file
 * @param path byte string of the file, missing in the tree before
 * @returns the original's path; null: the file was new
 * @see try_to_follow_renames() in git's tree-diff.c: a diff with --find-copies-harder */
export async function findOriginal(
  repository: OpenRepository,
  old: number,
  next: number,
  path: string,
): Promise<string | null> {
  const slice = new TimeSlice();
  const before = await diffTrees(repository.reader, 0, old, MAX_FILES, slice);
  const { changes, isTruncated } = await diffTrees(repository.reader, old, next, MAX_FILES, slice);
  const file = changes.find((change) => change.path === path)?.next ?? null;
  if (file === null || before.isTruncated || isTruncated) return null;
  const gone = new Set(changes.filter((change) => change.next === null).map((change) => change.path));
  const sources = before.changes.map((change) => ({
    path: change.path,
    version: change.next!,
    isGone: gone.has(change.path),
    hasName: baseName(change.path) === baseName(path),
  }));
  const original = findEqual(sources, file) ?? (await findSimilar(sources, file, new ChangedBlobs(repository, slice)));
  return original?.path ?? null;
}

/** @see find_identical_files() in git's diffcore-rename.c */
function findEqual(sources: readonly Source[], file: FileVersion): Source | null {
  const equal = sources.filter(({ version }) => equalOids(version.oid, file.oid) && mayPair(version, file));
  const score = ({ isGone, hasName }: Source): number => Number(isGone) + Number(hasName);
  return equal.slice(0, MAX_EQUAL).toSorted((a, b) => score(b) - score(a))[0] ?? null;
}

/** @see diffcore_rename_extended() in git's diffcore-rename.c */
async function findSimilar(sources: readonly Source[], file: FileVersion, blobs: ChangedBlobs): Promise<Source | null> {
  if (!isRegular(file)) return null;
  const numbers = new Set(sources.filter(({ version }) => isRegular(version)).map(({ version }) => version.number));
  const sizes = blobs.sizes([file.number, ...numbers]);
  const sizeBytes = sizes.get(file.number)!;
  for (const number of numbers) {
    const size = sizes.get(number)!;
    if (size > MAX_BLOB_BYTES || !mayBeSimilar(size, sizeBytes, MINIMUM_SCORE)) numbers.delete(number);
  }
  const readBytes = Iterator.from(numbers).reduce((sum, number) => sum + sizes.get(number)!, sizeBytes);
  if (sizeBytes > MAX_BLOB_BYTES || readBytes > MAX_READ_BYTES || numbers.size === 0) return null;
  const [[, content]] = (await Array.fromAsync(blobs.read([file.number]))) as [readonly [number, Uint8Array]];
  const fingerprint = takeFingerprint(content);
  const scores = new Map<number, number>();
  for await (const [number, content] of blobs.read([...numbers])) {
    scores.set(number, scoreSimilarity(takeFingerprint(content), fingerprint));
    await blobs.pause();
  }
  const best: { source: Source; score: number; hasName: boolean }[] = [];
  for (const source of sources) {
    offer(best, { source, score: scores.get(source.version.number) ?? 0, hasName: source.hasName });
  }
  const similar = best.filter(({ score }) => score >= MINIMUM_SCORE).sort(compareRanked);
  return (similar.find(({ source }) => source.isGone) ?? similar[0])?.source ?? null;
}

function isRegular({ mode }: FileVersion): boolean {
  return isFileMode(mode);
}

function mayPair(a: FileVersion, b: FileVersion): boolean {
  return (isRegular(a) && isRegular(b)) || a.mode === b.mode;
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** A commit that changes more files is not searched for renames. */
const MAX_CHANGES = 50_000;

/** Git's limit too: at most a million deleted files are compared with the added one. */
const LIMITS = { maxFiles: 1_000, maxBlobBytes: 8 * 1024 * 1024, maxReadBytes: 64 * 1024 * 1024, matchesEmpty: true };

/** Finds the former path of a file: of the files deleted in the same commit, the most similar one.
 * @param old root tree before, an object number
 * @param next root tree after, which has the file
 * @param path byte string
 * @returns null when the file was new
 * @see find_rename() in git's blame.c */
export async function findRename(
  repository: OpenRepository,
  old: number,
  next: number,
  path: string,
): Promise<{ path: string; version: FileVersion } | null> {
  const slice = new TimeSlice();
  const { changes, isTruncated } = await diffTrees(repository.reader, old, next, MAX_CHANGES, slice);
  const candidates = changes.filter((change) => change.next === null || (change.old === null && change.path === path));
  if (isTruncated || candidates.length < 2) return null;
  const found = await findRenames(candidates, new ChangedBlobs(repository, slice), LIMITS);
  const rename = found.changes.find((change) => change.path === path && change.old !== null && change.next !== null);
  return rename === undefined ? null : { path: rename.oldPath, version: rename.old! };
}
