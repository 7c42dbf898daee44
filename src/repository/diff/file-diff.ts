import { GitError } from "../../format/errors.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { describe, type DiffQuery, type FileRecord, findChanges, MAX_COMPARED_BYTES, UTF_8 } from "./diff.ts";
import { cutPatch } from "./patch-window.ts";
import { formatPatch } from "./unified-patch.ts";

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
