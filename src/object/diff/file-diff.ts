import { GitError } from "../../base/format/errors.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { describe, findChanges, UTF_8 } from "./diff.ts";
import { MAX_COMPARED_BYTES } from "../../base/format/limits.ts";
import { cutPatch } from "./patch-window.ts";
import { formatPatch } from "./unified-patch.ts";
import type { FileDiffQuery, FileDiff } from "../../contract/diffs.ts";

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
