import type { Column } from "../../base/format/kinds.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import type { FsckRun } from "./fsck-run.ts";

/** Objects, and introducers but for the first of each, that are read without a pause; of one object
 * more. */
const MOST_OBJECTS = 8_192;
const MOST_PAIRS = 16_384;

/** Some objects, and their introducers but for the first of each. */
export interface IntroducerSlice {
  /** The index behind the last of the objects. */
  readonly end: number;
  readonly objects: NumberSet;
  readonly pairs: readonly (readonly [object: ObjectNumber, introducer: ObjectNumber])[];
}

/** Goes through the introducers of objects: a few files may be shared by thousands of commits
 * without a common history, each of which is an introducer of all of them. */
export class IntroducerReader {
  readonly #run: FsckRun;
  /** As many objects as had few enough introducers lately. */
  #most = MOST_OBJECTS;

  constructor(run: FsckRun) {
    this.#run = run;
  }

  /** Reads those of as many objects as need no pause.
   * @param numbers ascending
   * @param from the index of the first
   * @throws GitError "storage-failed" when they cannot be read */
  next(numbers: Column<ObjectNumber>, from: number): IntroducerSlice {
    for (;;) {
      const end = Math.min(numbers.length, from + this.#most);
      const objects = NumberSet.fromSorted(numbers.subarray(from, end));
      const limit = end - from > 1 ? MOST_PAIRS : Infinity;
      const pairs = this.#run.tables.reachability.furtherIntroducers(objects, limit);
      if (pairs === null) {
        this.#most = Math.ceil((end - from) / 4);
        continue;
      }
      if (pairs.length * 3 < MOST_PAIRS) this.#most = Math.min(MOST_OBJECTS, this.#most * 2);
      return { end, objects, pairs };
    }
  }
}
