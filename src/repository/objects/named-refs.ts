import type { Oid } from "../../format/oid.ts";
import type { AdvertisedRefs } from "../state/advertised-refs.ts";

/** A ref that a name may mean. */
export interface NamedRef {
  /** Full, byte string. */
  readonly name: string;
  readonly oid: Oid;
  /** How direct the match is; 0: the name is the full name. */
  readonly rank: number;
}

/** Prefixes that say which kind of ref a name means. */
const QUALIFIED = /^(?:refs|heads|tags|remotes)\//;

/** Prefixes that are tried, the best first. Git itself tries tags before branches. Then anybody who
 * may create tags could shadow any branch. */
const PLACES = ["", "refs/heads/", "refs/tags/", "refs/", "refs/remotes/"];
const QUALIFIED_PLACES = ["", "refs/", "refs/heads/", "refs/tags/", "refs/remotes/"];

/** The refs that a name in the API may mean, the chosen one first. A full name means only itself.
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
