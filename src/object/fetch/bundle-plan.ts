import { encodeBundleHeader } from "../../base/format/bundle.ts";
import { concatOids } from "../../base/format/oid.ts";
import type { Tables } from "../store/tables.ts";
import { planPack } from "../pack/pack-planner.ts";
import type { BundlePlan } from "../../contract/fetch.ts";

/** Plans a bundle of the current refs, and of HEAD, so that a clone of the bundle itself checks out
 * files.
 * @param prefixes of the refs' names, byte strings
 * @returns null when there is no such ref */
export function planBundle(
  { refs, objects, graph, reachability, chunks }: Tables,
  prefixes: readonly string[],
): BundlePlan | null {
  const { names, oids } = refs.withPrefixes(prefixes);
  if (names.length === 0) return null;
  const head = refs.get(refs.head() ?? "");
  const positions = Array.from(objects.lookupMany(oids).number, (number) => graph.position(number));
  return {
    header: encodeBundleHeader({
      prerequisites: [],
      names: head === null ? names : ["HEAD", ...names],
      oids: head === null ? oids : concatOids([head.oid, oids]),
    }),
    plan: planPack(objects, chunks, {
      objects: reachability.between(graph.ancestors(positions), graph.ancestors([])),
      findHad: null,
      ofsDelta: true,
    }),
  };
}
