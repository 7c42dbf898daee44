import type { OpenRepository } from "../objects/open-repository.ts";
import { BRANCHES, TAGS } from "../refs/move-ref.ts";

/** Branches, and tags, that a page offers at most: the names of many more are no choice but a list,
 * which has pages of its own. */
const MAX_CHOICES = 100;

/** The branches and tags that a page offers. */
export interface RefChoices {
  /** Names without `refs/heads/`, byte strings, the first `MAX_CHOICES`. */
  readonly branches: readonly string[];
  readonly tags: readonly string[];
  /** How many there are. */
  readonly branchCount: number;
  readonly tagCount: number;
}

/** Lists the branches and tags that a page offers. */
export function listChoices({ advertised }: OpenRepository): RefChoices {
  const { names } = advertised.all;
  const [branchStart, branchEnd] = rangeOf(names, BRANCHES);
  const [tagStart, tagEnd] = rangeOf(names, TAGS);
  const pick = (prefix: string, start: number, end: number): string[] =>
    names.slice(start, Math.min(end, start + MAX_CHOICES)).map((name) => name.slice(prefix.length));
  return {
    branches: pick(BRANCHES, branchStart, branchEnd),
    tags: pick(TAGS, tagStart, tagEnd),
    branchCount: branchEnd - branchStart,
    tagCount: tagEnd - tagStart,
  };
}

/** Where the names with a prefix begin and end.
 * @param names ascending */
export function rangeOf(names: readonly string[], prefix: string): [start: number, end: number] {
  // Sorts after every name with the prefix: names have char codes up to 255.
  return [lowerBound(names, prefix), lowerBound(names, `${prefix}\u0100`)];
}

/** The index of the first name that is not below another one. */
function lowerBound(names: readonly string[], than: string): number {
  let [low, high] = [0, names.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (names[middle]! < than) low = middle + 1;
    else high = middle;
  }
  return low;
}
