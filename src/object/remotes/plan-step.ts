// Chooses the content of one push to a target. A target may accept less than everything at once:
// then refs are left to the next push, and a single ref first moves to an older commit, so that it
// moves in steps.
import { MAX_PLAN_BYTES } from "../../base/format/limits.ts";
import { concatOids, fromHex, NULL_OID_HEX, toHex } from "../../base/format/oid.ts";
import type { PositionSet } from "../store/graph/commit-graph.ts";
import type { GraphPosition } from "../../base/numbers/kinds.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import type { Tables } from "../store/tables.ts";
import { type PackPlan, planSizeBytes, sentBytes } from "../../base/bytes/pack-plan.ts";
import { planPack } from "../pack/pack-planner.ts";
import type { RefUpdate } from "./plan-updates.ts";
import type { TargetRefs } from "./target-refs.ts";

/** Limits of one push. */
export interface StepLimits {
  readonly updates: number;
  readonly objects: number;
  /** Size of the pack, approximately. */
  readonly packBytes: number;
}

/** One push to a target. */
export interface PlannedStep {
  /** The requested updates, or some of them, or one ref that moves part of its way. */
  readonly updates: readonly RefUpdate[];
  /** The objects that the target lacks; empty: the push only deletes. */
  readonly objects: NumberSet;
  /** Null: the push only deletes. */
  readonly plan: PackPlan | null;
  /** Size of the pack, approximately. */
  readonly packBytes: number;
  /** Whether a smaller push is possible. If not, this one may exceed the limits. */
  readonly canShrink: boolean;
}

/** Plans the next push. A selection that is far too large is not planned: its objects are counted,
 * and their bytes estimated.
 * @param updates at least one */
export function planStep(
  tables: Tables,
  updates: readonly RefUpdate[],
  target: TargetRefs,
  limits: StepLimits,
): PlannedStep {
  const had = reachedFrom(tables, target.haves);
  /** Ratio by which packs exceeded their estimates: deltas without a base are sent whole. */
  let growth = 1;
  for (let chosen: readonly RefUpdate[] = updates.slice(0, limits.updates); ;) {
    const less = chosen.length > 1 ? chosen.slice(0, Math.ceil(chosen.length / 2)) : shorten(tables, chosen[0]!, had);
    const canShrink = less !== null;
    const objects = findObjects(tables, chosen, had);
    if (objects === null) return { updates: chosen, objects: NumberSet.EMPTY, plan: null, packBytes: 0, canShrink };
    const estimatedBytes = estimateBytes(tables, objects);
    const isTooMuch = objects.size > limits.objects || growth * estimatedBytes > limits.packBytes;
    if (!isTooMuch || !canShrink) {
      const plan = planPush(tables, objects, had, target.capabilities);
      const packBytes = sentBytes(plan);
      const fits = packBytes <= limits.packBytes && planSizeBytes(plan) <= MAX_PLAN_BYTES;
      if (fits || !canShrink) return { updates: chosen, objects, plan, packBytes, canShrink };
      growth = Math.max(growth, packBytes / estimatedBytes);
    }
    chosen = less;
  }
}

/** Returns the ancestors of the target's commits that are also here. */
function reachedFrom(tables: Tables, haves: ReadonlySet<string>): PositionSet {
  return tables.graph.ancestors(knownPositions(tables, concatOids([...haves].map(fromHex))));
}

/** Returns the graph positions of the packed ids that are here. */
function knownPositions({ objects, graph }: Tables, oids: Uint8Array): GraphPosition[] {
  const { number } = objects.lookupMany(oids);
  const positions = Array.from(number, (found): GraphPosition => (found === 0 ? -1 : graph.position(found)));
  return positions.filter((position) => position >= 0);
}

/** Finds the objects that a target has already, among those that mirrored refs reach. */
export function findHad(tables: Tables, { haves }: Pick<TargetRefs, "haves">, prefixes: readonly string[]): NumberSet {
  const { refs, graph, reachability } = tables;
  const { oids } = refs.withPrefixes(prefixes);
  const mirrored = graph.ancestors(knownPositions(tables, oids));
  return reachability.within(reachability.between(mirrored, graph.ancestors([])), reachedFrom(tables, haves));
}

/** @returns null: there are only deletions */
function findObjects(
  { objects, graph, reachability }: Tables,
  updates: readonly RefUpdate[],
  had: PositionSet,
): NumberSet | null {
  const wanted = updates.filter((update) => update.new !== NULL_OID_HEX).map((update) => fromHex(update.new));
  if (wanted.length === 0) return null;
  const positions = Array.from(objects.lookupMany(concatOids(wanted)).number, (number) => graph.position(number));
  return reachability.between(graph.ancestors(positions), had);
}

/** Estimates the stored bytes of objects: each chunk counts by the share of its objects. */
function estimateBytes({ chunks }: Tables, objects: NumberSet): number {
  return chunks.allInOrder().reduce((sum, { firstNumber, lastNumber, size }) => {
    const count = objects.within(firstNumber, lastNumber + 1).size;
    return sum + (size * count) / (lastNumber - firstNumber + 1);
  }, 0);
}

function planPush(
  { objects: index, chunks, reachability }: Tables,
  objects: NumberSet,
  had: PositionSet,
  capabilities: ReadonlySet<string>,
): PackPlan {
  const isThin = had.count() > 0 && !capabilities.has("no-thin");
  return planPack(index, chunks, {
    objects,
    findHad: isThin ? (bases: NumberSet) => reachability.within(bases, had) : null,
    ofsDelta: capabilities.has("ofs-delta"),
  });
}

/** Shortens the update of a ref to half of its way, along first parents.
 * @returns null: no commit on the way is allowed */
function shorten({ objects, graph }: Tables, update: RefUpdate, had: PositionSet): readonly RefUpdate[] | null {
  // A tag moves in one step, whatever its size.
  if (update.new === NULL_OID_HEX || update.name.startsWith("refs/tags/")) return null;
  const way: GraphPosition[] = [];
  const end = graph.position(objects.find(fromHex(update.new))!.number);
  for (let position = end; position >= 0 && !had.has(position); position = graph.firstParent(position))
    way.push(position);
  const old = objects.find(fromHex(update.old))?.number;
  const from = old === undefined ? -1 : graph.position(old);
  const isForward = (position: GraphPosition): boolean => from < 0 || graph.isAncestor(from, position);
  // A move that is not forced must remain a fast-forward on the whole way, also where the old value
  // was merged.
  let steps = way.length;
  if (isForward(end)) {
    for (let low = 1; low < steps;) {
      const middle = Math.ceil((low + steps) / 2);
      if (isForward(way[middle - 1]!)) low = middle;
      else steps = middle - 1;
    }
  }
  if (steps <= 1) return null;
  const halfway = NumberSet.of(graph.number(way[Math.floor(steps / 2)]!));
  return [{ ...update, new: toHex(objects.locate(halfway).oid) }];
}
