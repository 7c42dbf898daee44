import type { CommitGraph } from "../store/graph/commit-graph.ts";
import type { ObjectIndex } from "../store/index/object-index.ts";
import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import type { AdvertisedRefs } from "../state/advertised-refs.ts";

interface TagStores {
  readonly advertised: AdvertisedRefs;
  readonly objects: ObjectIndex;
  readonly graph: CommitGraph;
}

/** The annotated tags of refs whose target is among `sent`, with any tags in between.
 * @see git's builtin/pack-objects.c: add_ref_tag() */
export function tagsOf({ advertised, objects, graph }: TagStores, sent: NumberSet): NumberSet {
  const { tags, targets } = advertised.listAnnotatedTags();
  const targetNumbers = objects.lookupMany(targets).number;
  const added = new Set<ObjectNumber>();
  objects.lookupMany(tags).number.forEach((number, i) => {
    if (!sent.has(targetNumbers[i]!)) return;
    // An added tag has already brought what it points to.
    for (let tag = number; !added.has(tag) && !sent.has(tag);) {
      added.add(tag);
      const [next] = graph.parents(graph.position(tag));
      if (next === undefined) break;
      tag = graph.number(next);
    }
  });
  return NumberSet.fromUnsorted(added);
}
