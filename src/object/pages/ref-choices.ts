import { branchRev, HEADS, TAGS } from "../../base/format/ref-name.ts";
import { tagRev } from "../objects/named-refs.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { lowerBound } from "../state/advertised-refs.ts";
import type { RefChoices } from "../../contract/pages.ts";

/** Branches, and tags, that a page offers at most: the names of many more are no choice but a list,
 * which has pages of its own. */
const MAX_CHOICES = 100;

/** Lists the branches and tags that a page offers. */
export function listChoices({ advertised }: OpenRepository): RefChoices {
  const { names } = advertised.all;
  const [branchStart, branchEnd] = rangeOf(names, HEADS);
  const [tagStart, tagEnd] = rangeOf(names, TAGS);
  const pick = (prefix: string, start: number, end: number): string[] =>
    names.slice(start, Math.min(end, start + MAX_CHOICES)).map((name) => name.slice(prefix.length));
  return {
    branches: pick(HEADS, branchStart, branchEnd).map((name) => ({ name, rev: branchRev(name) })),
    tags: pick(TAGS, tagStart, tagEnd).map((name) => ({ name, rev: tagRev(advertised, name) })),
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
