import { equalOids, fromHex } from "../../base/format/oid.ts";
import type { MirroredRef } from "../store/remotes/mirror-table.ts";
import type { MirrorRecord } from "../../contract/remotes.ts";
import type { Tables } from "../store/tables.ts";

/** Notes what a target says it has, and what it is refused; writes only what has changed. Must run
 * in a transaction.
 * @param there ids in hex by name
 * @param refused reasons by name */
export function noteTarget(
  { refs, mirrors }: Tables,
  { id, prefixes }: MirrorRecord,
  there: ReadonlyMap<string, string>,
  refused: ReadonlyMap<string, string>,
): void {
  const unknown = new Set(refs.withPrefixes(prefixes).names);
  const describe = (name: string): MirroredRef => {
    const oid = there.get(name);
    return { name, oid: oid === undefined ? null : fromHex(oid), refusal: refused.get(name) ?? null };
  };
  const changed: MirroredRef[] = [];
  for (const former of mirrors.refs(id)) {
    const isHere = unknown.delete(former.name);
    const now = isHere ? describe(former.name) : { name: former.name, oid: null, refusal: null };
    if (!isSame(former, now)) changed.push(now);
  }
  for (const name of unknown) {
    const now = describe(name);
    if (now.oid !== null || now.refusal !== null) changed.push(now);
  }
  for (const ref of changed) mirrors.putRef(id, ref);
}

function isSame(a: MirroredRef, b: MirroredRef): boolean {
  const hasSameOid = a.oid === null || b.oid === null ? a.oid === b.oid : equalOids(a.oid, b.oid);
  return hasSameOid && a.refusal === b.refusal;
}
