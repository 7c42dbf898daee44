import { MAX_WALK_STEPS } from "../../base/format/limits.ts";
import { BlobReader, type Reading } from "./blob-reader.ts";
import { type GrepPlace, grepFiles, type GrepResult } from "./grep.ts";
import type { LinePattern } from "./line-pattern.ts";
import type { FilesPlan, FilesPlanRequest } from "../../contract/files.ts";
import { readPlanned } from "./planned-files.ts";

/** A search in the files of a commit. */
interface FileSearch {
  /** A revision, byte string; for a continued search, the commit's id. */
  readonly ref: string;
  readonly pattern: LinePattern;
  /** Byte strings: git's `:(glob)` pathspecs; empty: all files. */
  readonly globs: readonly string[];
  /** The end of an earlier search; null: from the beginning. */
  readonly from: GrepPlace | null;
  /** Lines shown before and after a match. */
  readonly context: number;
  /** Maximum number of matches. */
  readonly limit: number;
}

/** Searches the files of a commit. Runs in the Worker.
 * @param planFiles asks the object where files are stored
 * @returns the result, with the commit's id in hex
 * @throws GitError as `planFiles` and `grepFiles` */
export async function searchFiles(
  planFiles: (request: FilesPlanRequest) => Promise<FilesPlan>,
  reading: Reading,
  { ref, pattern, globs, from, ...options }: FileSearch,
): Promise<GrepResult & { readonly commit: string }> {
  const place = from ?? { after: "", line: 0 };
  let steps = MAX_WALK_STEPS;
  const plan = async (revision: string, after: string): Promise<FilesPlan> => {
    const window = await planFiles({ ref: revision, after, path: "", globs, purpose: "search", steps });
    steps -= window.steps;
    return window;
  };
  const first = await plan(ref, place.after);
  const { commit } = first;
  const reader = new BlobReader(reading, "grep");
  const files = readPlanned(first, (after) => plan(commit, after), reader);
  const result = await grepFiles(files, pattern, { from: place, ...options });
  reader.finish(result.next === null);
  return { commit, ...result };
}
