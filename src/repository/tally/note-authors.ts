import { COMMIT } from "../../format/object.ts";
import type { AuthoredCommit } from "../../store/graph/author-table.ts";
import { NumberSet } from "../../store/numbers/number-set.ts";
import type { Tables } from "../../store/tables.ts";
import type { ObjectReader } from "../objects/object-reader.ts";
import { pause } from "../pacing/pause.ts";
import { readAuthor } from "./author.ts";

/** A worker that may be interrupted before all is done. */
interface Worker {
  readonly isInterrupted: boolean;
  rest(): Promise<void>;
}

/** Commits recorded at a time. */
const SLICE_COMMITS = 500;

/** Records the authors of the commits pushed since the last call in table `authors`. An
 * interruption loses at most the current slice, which the next call repeats. Two concurrent calls
 * do the work twice, without harm.
 * @param most the most commits and other graph nodes to handle
 * @param worker rests between slices, and may be interrupted there
 * @returns how many commits were recorded, and whether that was all
 * @throws GitError "storage-failed" when a commit cannot be read */
export async function noteAuthors(
  { tables, reader }: { readonly tables: Tables; readonly reader: ObjectReader },
  most = Infinity,
  worker: Worker = { isInterrupted: false, rest: () => pause() },
): Promise<{ commits: number; isAll: boolean }> {
  const { authors, objects } = tables;
  const missing = authors.missing();
  let commits = 0;
  for (let from = 0; from < Math.min(missing.length, most); from += SLICE_COMMITS) {
    const { number, type } = objects.locate(NumberSet.fromSorted(missing.subarray(from, from + SLICE_COMMITS)));
    authors.skip(number.filter((_, i) => type[i] !== COMMIT));
    const slice: AuthoredCommit[] = [];
    const numbers = NumberSet.fromSorted(number.filter((_, i) => type[i] === COMMIT));
    for await (const [one, { bytes }] of reader.readEach(numbers)) slice.push({ number: one, ...readAuthor(bytes) });
    authors.add(slice);
    commits += slice.length;
    if (worker.isInterrupted) return { commits, isAll: from + SLICE_COMMITS >= missing.length };
    await worker.rest();
  }
  return { commits, isAll: missing.length <= most };
}
