// The backup of a repository is a bundle of all its refs. Restoring one is a push, so nothing is
// stored unchecked.
import { decodeText } from "../../base/format/byte-string.ts";
import { encodeBundleHeader } from "../../base/format/bundle.ts";
import { concatOids, equalOids, OID_BYTES } from "../../base/format/oid.ts";
import type { Tables } from "../store/tables.ts";
import { planPack } from "../pack/pack-planner.ts";
import { GitError } from "../../base/format/errors.ts";
import type { BundlePlan } from "../../contract/fetch.ts";
import type { RefColumns } from "../../contract/refs.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { checkPlanSize } from "../../base/bytes/pack-plan.ts";

/** Plans a bundle of all current refs.
 * @throws GitError "not-found" when there are no refs, "too-large" */
export async function planBackup({ tables }: OpenRepository): Promise<BundlePlan> {
  const planned = planBundle(tables, [""]);
  if (planned === null) throw new GitError("not-found", { what: "backup", reason: "the repository has no ref" });
  checkPlanSize(planned.plan);
  return planned;
}

/** Checks that a backup may be restored into a repository.
 * @returns whether the repository already has exactly these refs
 * @throws GitError "conflict" when it has other refs */
export async function checkRestore(
  { tables }: OpenRepository,
  { names, oids }: Pick<RefColumns, "names" | "oids">,
): Promise<boolean> {
  const there = tables.refs.all();
  if (there.names.length === 0) return false;
  const wanted = new Map(names.map((name, i) => [name, oids.subarray(i * OID_BYTES, (i + 1) * OID_BYTES)]));
  const isOther = (name: string, i: number): boolean => {
    const oid = wanted.get(name);
    return oid === undefined || !equalOids(oid, there.oids.subarray(i * OID_BYTES, (i + 1) * OID_BYTES));
  };
  const other = there.names.find(isOther);
  if (other === undefined && there.names.length === wanted.size) return true;
  const reason =
    other === undefined ? "it has only some of the backup's refs" : `it has other refs, such as ${decodeText(other)}`;
  throw new GitError("conflict", { subject: "repository", reason });
}

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
