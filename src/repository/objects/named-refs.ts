import type { Oid } from "../../format/oid.ts";
import type { AdvertisedRefs } from "../state/advertised-refs.ts";

/** A ref that a name may stand for. */
export interface NamedRef {
  /** Full, byte string. */
  readonly name: string;
  readonly oid: Oid;
  /** How directly the name says it, 0: it is the full name. */
  readonly rank: number;
}

/** What begins a name that says which kind of ref it is. */
const QUALIFIED = /^(?:refs|heads|tags|remotes)\//;

/** Where names are looked for, the best place first. Git itself looks for tags before branches; then whoever may make tags could put
 * what they like behind the name of any branch. */
const PLACES = ["", "refs/heads/", "refs/tags/", "refs/", "refs/remotes/"];
const QUALIFIED_PLACES = ["", "refs/", "refs/heads/", "refs/tags/", "refs/remotes/"];

/** The refs that a name of the API stands for, that before all others which is taken. A full name stands for itself alone.
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
