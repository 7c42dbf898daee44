import type { Oid } from "../../base/format/oid.ts";
import type { AdvertisedRefs } from "../state/advertised-refs.ts";
import { QUALIFIED, isTaken, branchRev, HEADS, TAGS } from "../../base/format/ref-name.ts";

/** A ref that a name may mean. */
export interface NamedRef {
  /** Full name, byte string. */
  readonly name: string;
  readonly oid: Oid;
  /** Rank by directness of the match; 0: the name is the full name. */
  readonly rank: number;
}

/** Prefixes that are tried, the best first. Git itself tries tags before branches, but then anybody
 * who may create tags could shadow any branch. */
const PLACES = ["", "refs/heads/", "refs/tags/", "refs/", "refs/remotes/"];
const QUALIFIED_PLACES = ["", "refs/", "refs/heads/", "refs/tags/", "refs/remotes/"];

/** Finds the refs that a name in the API may mean, the chosen one first. A full name means only
 * itself.
 * @param name full or short, byte string */
export function refsNamed(advertised: AdvertisedRefs, name: string): NamedRef[] {
  const found: NamedRef[] = [];
  for (const [rank, place] of (QUALIFIED.test(name) ? QUALIFIED_PLACES : PLACES).entries()) {
    const oid = advertised.find(place + name);
    if (oid !== null) found.push({ name: place + name, oid, rank });
    if (oid !== null && rank === 0) break;
  }
  return found;
}

/** Finds a tag's name in URLs: its short name, unless that means something else there, alone or
 * before a path. A branch of this name hides the tag, and so does one above or below it, such as
 * `a` or `a/b/c` for the tag `a/b`.
 * @param short without `refs/tags/`, byte string
 * @see splitRevPath */
export function tagRev(advertised: AdvertisedRefs, short: string): string {
  const parts = short.split("/");
  const isHidden =
    isTaken(parts[0]!) ||
    parts.some((_, i) => advertised.find(HEADS + parts.slice(0, i + 1).join("/")) !== null) ||
    advertised.hasPrefix(`${HEADS}${short}/`);
  return isHidden ? TAGS + short : short;
}

/** Finds a name in URLs that means the same ref before any path, unlike a short one that only fits
 * the current path.
 * @param name as a URL has it
 * @param full the ref that it means there */
export function stableRev(advertised: AdvertisedRefs, name: string, full: string): string {
  if (full === HEADS + name) return branchRev(name);
  return full === TAGS + name ? tagRev(advertised, name) : name;
}
