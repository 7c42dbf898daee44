import { equalOids, fromHex, NULL_OID, toHex, concatOids, OID_BYTES } from "../../base/format/oid.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import type { Tables } from "../store/tables.ts";
import type { GraphPosition } from "../../base/numbers/kinds.ts";
import type { PushRequest } from "../state/push.ts";
import type { RefCommand } from "../../contract/push.ts";

/** Maximum number of ids that an upstream is told are present here: a megabyte and a half of
 * lines. */
const MAX_HAVES = 30_000;

/** Maximum number of tips whose older commits are also listed: an upstream whose refs went back
 * knows none of the tips. */
const DEEP_TIPS = 256;

/** Sorts v1.9 before v1.10. */
const BY_NUMBER = new Intl.Collator("en", { numeric: true });

/** Lists the ids that an upstream's refs name and that are missing here, each once, in the order
 * for requesting them: tags before branches, since branches contain the tagged commits, then by
 * name, since versions follow each other.
 * @param refs ids in hex by name
 * @returns ids in hex */
export function planWants({ objects }: Tables, refs: ReadonlyMap<string, string>): string[] {
  const rank = (name: string): number => (name.startsWith("refs/tags/") ? 0 : 1);
  const names = [...refs.keys()].toSorted((a, b) => rank(a) - rank(b) || BY_NUMBER.compare(a, b));
  const oids = [...new Set(names.map((name) => refs.get(name)!))];
  const found = objects.lookupMany(concatOids(oids.map(fromHex))).number;
  return oids.filter((_, i) => found[i] === 0);
}

/** Lists commits that are here and that an upstream may know: the tips of refs and of earlier
 * steps, and commits below them, at doubling distances.
 * @returns ids in hex */
export function planHaves({ objects, graph, refs, uploads }: Tables): string[] {
  const tips = [...splitOids(refs.all().oids), ...splitOids(uploads.allTips())];
  const haves = new Set(tips.slice(0, MAX_HAVES).map((oid) => toHex(oid)));
  const deep: GraphPosition[] = [];
  for (const oid of tips.slice(0, DEEP_TIPS)) {
    const number = objects.find(oid)?.number;
    let position = number === undefined ? -1 : graph.position(number);
    for (let distance = 1; position >= 0; distance *= 2) {
      for (let i = 0; i < distance && position >= 0; i++) position = graph.firstParent(position);
      if (position >= 0) deep.push(position);
    }
  }
  const { oid } = objects.locate(NumberSet.fromUnsorted(Uint32Array.from(deep, (at) => graph.number(at))));
  for (const id of splitOids(oid)) haves.add(toHex(id));
  return [...haves].slice(0, MAX_HAVES);
}

/** Plans the changes that make the refs here equal to an upstream's.
 * @param head the ref that its HEAD names; null: unknown
 * @param pruned prefixes of refs that are removed here if the upstream lacks them; null: none
 * are */
export function planChanges(
  { refs }: Tables,
  wanted: ReadonlyMap<string, string>,
  head: string | null,
  pruned: readonly string[] | null,
): Pick<PushRequest, "commands" | "head"> {
  const here = refs.all();
  const oids = splitOids(here.oids);
  const present = new Map(here.names.map((name, i) => [name, oids[i]!]));
  const isPruned = (name: string): boolean =>
    !wanted.has(name) && (pruned?.some((prefix) => name.startsWith(prefix)) ?? false);
  // Deletions come first: a deleted name may block a created one.
  const deleted = here.names
    .filter(isPruned)
    .map((name): RefCommand => ({ name, old: present.get(name)!, new: NULL_OID }));
  const moved = [...wanted].flatMap(([name, hex]): RefCommand[] => {
    const now = present.get(name) ?? null;
    const oid = fromHex(hex);
    if (now !== null && equalOids(now, oid)) return [];
    return [{ name, old: now !== null && pruned !== null ? now : NULL_OID, new: oid }];
  });
  const movesHead = head !== null && wanted.has(head) && head !== refs.head();
  return { commands: [...deleted, ...moved], ...(movesHead && { head }) };
}

function splitOids(packed: Uint8Array): Uint8Array[] {
  return Array.from({ length: packed.length / OID_BYTES }, (_, i) =>
    packed.subarray(i * OID_BYTES, (i + 1) * OID_BYTES),
  );
}
