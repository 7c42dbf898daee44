import type { Column } from "../../base/format/kinds.ts";
import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import { checkLimit, MAX_RETURNED_ENTRIES } from "../../base/format/limits.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import { type EntryWord, entryNumber, isTreeEntry } from "../store/index/tree-table.ts";
import type { ObjectReader } from "../objects/object-reader.ts";
import { pause } from "../../base/pacing/time-slice.ts";

/** Trees that are read before other requests run. */
const TREES_PER_TURN = 256;

/** The fewest trees that are read ahead, even if a push asks for fewer. */
const TREES_AHEAD = 64;

/** Stored trees that a push makes reachable again, by the entries of those read for it. */
export class ReturnedTrees {
  readonly #words = new Map<ObjectNumber, Column<EntryWord>>();
  #entries = 0;
  /** Levels below the requested ones that are read with them; grows about twofold each time. */
  #levelsAhead = 0;

  /** Object numbers of a tree's entries; null: it was not read. */
  entries(tree: ObjectNumber): readonly ObjectNumber[] | null {
    const words = this.#words.get(tree);
    return words === undefined ? null : Array.from(words, entryNumber);
  }

  /** Reads trees that the push's walk has reached, and some of those below, where it may continue:
   * no more than it has asked for. So a tree as deep as a pack allows is read in few rounds, and a
   * wide one not in vain.
   * @throws GitError "too-large" when they have too many entries, "storage-failed" */
  async read(reader: ObjectReader, asked: readonly ObjectNumber[]): Promise<void> {
    let below = await this.#readLevel(reader, asked);
    let left = Math.max(asked.length, TREES_AHEAD);
    for (let level = 0; level < this.#levelsAhead && left > 0 && below.length > 0; level++) {
      const ahead = below.slice(0, left);
      left -= ahead.length;
      below = await this.#readLevel(reader, ahead);
    }
    this.#levelsAhead = 2 * this.#levelsAhead + 1;
  }

  /** @returns the subtrees that were not read */
  async #readLevel(reader: ObjectReader, trees: readonly ObjectNumber[]): Promise<ObjectNumber[]> {
    const below = new Set<ObjectNumber>();
    for (const group of reader.divide(NumberSet.fromUnsorted(trees), TREES_PER_TURN)) {
      for (const [tree, words] of await reader.readEntries(group)) {
        this.#words.set(tree, words);
        this.#entries += 1 + words.length;
        checkLimit(
          "the stored trees that the push makes reachable again (entries)",
          MAX_RETURNED_ENTRIES,
          this.#entries,
        );
        for (const word of words) if (isTreeEntry(word)) below.add(entryNumber(word));
      }
      await pause();
    }
    return [...below].filter((tree) => !this.#words.has(tree));
  }
}
