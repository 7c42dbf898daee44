import { MAX_HEAD_BYTES } from "../../base/format/shown-limits.ts";
import { COMMIT } from "../../base/format/object.ts";
import type { AuthoredCommit } from "../store/graph/author-table.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import type { Tables } from "../store/tables.ts";
import type { ObjectReader } from "../objects/object-reader.ts";
import { pause } from "../../base/pacing/time-slice.ts";
import { namesAuthor, readAuthor } from "./author.ts";

/** A worker that may be interrupted before all is done. */
interface Worker {
  readonly isInterrupted: boolean;
  rest(): Promise<void>;
}

/** Commits read at a time. */
const SLICE_COMMITS = 500;

/** Commits recorded at a time: they fill a good part of a page. */
const RECORDED_COMMITS = 4_000;

/** Records the authors of the commits pushed since the last call in table `authors`. A crash loses
 * at most what was not recorded yet, which the next call repeats. Two concurrent calls do the work
 * twice, without harm.
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
  let read: AuthoredCommit[] = [];
  const record = (): void => {
    if (read.length > 0) authors.add(read);
    commits += read.length;
    read = [];
  };
  for (let from = 0; from < Math.min(missing.length, most); from += SLICE_COMMITS) {
    const { number, type, size } = objects.locate(NumberSet.fromSorted(missing.subarray(from, from + SLICE_COMMITS)));
    authors.skip(number.filter((_, i) => type[i] !== COMMIT));
    const numbers = NumberSet.fromSorted(number.filter((_, i) => type[i] === COMMIT));
    const sizes = size.filter((_, i) => type[i] === COMMIT);
    let i = 0;
    for await (const [one, head] of reader.readHeads(numbers, sizes, MAX_HEAD_BYTES, () => true)) {
      // Somebody may be named behind very many parents.
      const isEnough = head!.length === sizes[i++] || namesAuthor(head!);
      read.push({ number: one, ...readAuthor(isEnough ? head! : (await reader.read(one)).bytes) });
      if (head!.length === MAX_HEAD_BYTES) await worker.rest();
    }
    if (read.length >= RECORDED_COMMITS || worker.isInterrupted) record();
    if (worker.isInterrupted) return { commits, isAll: from + SLICE_COMMITS >= missing.length };
    await worker.rest();
  }
  record();
  return { commits, isAll: missing.length <= most };
}
