import { MAX_ANCESTRY_STEPS } from "../../base/format/limits.ts";
import { fromHex, NULL_OID_HEX, OID_BYTES, toHex } from "../../base/format/oid.ts";
import type { GraphPosition } from "../../base/numbers/kinds.ts";
import type { MirrorSettings } from "../../contract/remotes.ts";
import type { Tables } from "../store/tables.ts";

/** A change of a ref at the target. Ids are in hex; `NULL_OID_HEX`: absent. */
export interface RefUpdate {
  readonly name: string;
  readonly old: string;
  readonly new: string;
}

/** The updates that make a target's refs equal to those here. */
interface PlannedUpdates {
  /** Deletions first, since a deleted name may block a created one; then the default branch, other
   * branches, and the rest. */
  readonly updates: readonly RefUpdate[];
  /** By name, the reason why a ref is not changed there. */
  readonly refused: ReadonlyMap<string, string>;
  /** Whether there may be more updates, which would have taken too long to find. */
  readonly isPartial: boolean;
  /** Number of mirrored refs here, and of refs that only the target has. */
  readonly refs: number;
  readonly extra: number;
}

/** Compares the refs here with those of a target.
 * @param there ids in hex by name
 * @param refusedBefore refs that the target has refused: they are not tried again */
export function planUpdates(
  tables: Tables,
  settings: Pick<MirrorSettings, "prefixes" | "force" | "prune">,
  there: ReadonlyMap<string, string>,
  refusedBefore: ReadonlyMap<string, string>,
): PlannedUpdates {
  const { names, oids } = tables.refs.withPrefixes(settings.prefixes);
  const present = new Set(names);
  const gone = [...there.keys()].filter((name) => !present.has(name));
  const deletions = (settings.prune ? gone : [])
    .filter((name) => !refusedBefore.has(name))
    .map((name): RefUpdate => ({ name, old: there.get(name)!, new: NULL_OID_HEX }));
  const refused = new Map<string, string>();
  const moves: RefUpdate[] = [];
  const moving = new Moving(tables);
  for (const [i, name] of names.entries()) {
    const oid = toHex(oids, i * OID_BYTES);
    const old = there.get(name) ?? NULL_OID_HEX;
    if (old === oid || refusedBefore.has(name)) continue;
    const reason = settings.force || old === NULL_OID_HEX ? null : moving.refuse(name, old, oid);
    if (reason === null) moves.push({ name, old, new: oid });
    else refused.set(name, reason);
    if (moving.isSpent) break;
  }
  const rank = rankOf(tables.refs.head());
  return {
    updates: [...deletions, ...moves.toSorted((a, b) => rank(a.name) - rank(b.name))],
    refused,
    isPartial: moving.isSpent,
    refs: names.length,
    extra: gone.length,
  };
}

/** Checks whether refs may move without force. */
class Moving {
  readonly #tables: Tables;
  #steps = 0;

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  /** Whether the work limit is reached, so that the rest must wait. */
  get isSpent(): boolean {
    return this.#steps > MAX_ANCESTRY_STEPS;
  }

  /** Says why a ref may not move. @returns null: it may */
  refuse(name: string, old: string, oid: string): string | null {
    if (name.startsWith("refs/tags/")) return "the target's tag is another one, and is moved only with `force`";
    const from = this.#position(old);
    if (from === null) return "the target has commits that are not here, and would lose them only with `force`";
    const to = this.#position(oid)!;
    this.#steps += Math.max(0, to - from);
    if (this.#tables.graph.isAncestor(from, to)) return null;
    return "it is no fast-forward: the target would lose commits, which needs `force`";
  }

  #position(oid: string): GraphPosition | null {
    const { objects, graph } = this.#tables;
    const number = objects.find(fromHex(oid))?.number;
    const position = number === undefined ? -1 : graph.position(number);
    return position < 0 ? null : position;
  }
}

function rankOf(head: string | null): (name: string) => number {
  return (name) => (name === head ? 0 : name.startsWith("refs/heads/") ? 1 : 2);
}
