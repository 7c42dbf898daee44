// Finds the objects reachable from a set of commits, without walking trees. An object's introducers
// are the nodes that reach it while none of their parents does. It is reachable from X exactly when
// an introducer is X or an ancestor of X. Nearly all objects have one introducer; further ones (a
// revert, a merge, two branches with the same file) are rows of `reintroductions`.
import type { ObjectNumber } from "../../../base/numbers/kinds.ts";
import { Bitset } from "../../../base/numbers/bitset.ts";
import type { CommitGraph, PositionSet } from "./commit-graph.ts";
import { openNodes } from "../index/node-pages.ts";
import { NumberSet } from "../../../base/numbers/number-set.ts";
import type { ObjectIndex } from "../index/object-index.ts";
import {
  INTEGER_CELL_BYTES,
  inRange,
  integerCell,
  PACKED_ROWS,
  packRanges,
  WITH_ROWS,
  writeInteger,
} from "../sql/packed-rows.ts";
import type { Sql } from "../sql/sql.ts";

const PAIR_BYTES = 2 * INTEGER_CELL_BYTES;

const REINTRODUCE = `INSERT INTO reintroductions (object, node) ${WITH_ROWS}
  SELECT ${integerCell(PAIR_BYTES, 0)}, ${integerCell(PAIR_BYTES, INTEGER_CELL_BYTES)} FROM row`;

/** Greater than any table's number of rows. */
const MOST_ROWS = 2 ** 40;

/** Selects further introducers, object by object. */
const FURTHER = `${WITH_ROWS} SELECT object, node FROM row CROSS JOIN reintroductions ON ${inRange("object")} ORDER BY 1`;

/** Selects up to ?3 of them, in no order. */
const SOME_FURTHER = `${WITH_ROWS} SELECT object, node FROM row CROSS JOIN reintroductions ON ${inRange("object")} LIMIT ?3`;

/** An object and a further introducer of it, by their numbers. */
export interface Reintroduction {
  readonly object: ObjectNumber;
  readonly introducer: ObjectNumber;
}

/** Finds the objects reachable from nodes. */
export class Reachability {
  readonly #sql: Sql;
  readonly #objects: ObjectIndex;
  readonly #graph: CommitGraph;

  constructor(sql: Sql, objects: ObjectIndex, graph: CommitGraph) {
    this.#sql = sql;
    this.#objects = objects;
    this.#graph = graph;
  }

  /** Records further introducers: nodes that reach an object while their parents do not, although
   * another node introduced it before. Fastest in the order of objects and nodes. */
  reintroduce(pairs: Iterable<Reintroduction>): void {
    const cells = new Uint8Array(PACKED_ROWS * PAIR_BYTES);
    let count = 0;
    for (const { object, introducer } of pairs) {
      writeInteger(cells, count * PAIR_BYTES, object);
      writeInteger(cells, count * PAIR_BYTES + INTEGER_CELL_BYTES, introducer);
      if (++count < PACKED_ROWS) continue;
      this.#sql.exec(REINTRODUCE, cells, count);
      count = 0;
    }
    if (count > 0) this.#sql.exec(REINTRODUCE, cells.subarray(0, count * PAIR_BYTES), count);
  }

  /** Replaces removed first introducers by further ones; 0: the object is unreachable from now
   * on. */
  promote(successors: readonly Reintroduction[]): void {
    this.#objects.setIntroducers(new Map(successors.map(({ object, introducer }) => [object, introducer])));
    for (const { object, introducer } of successors) {
      this.#sql.exec("DELETE FROM reintroductions WHERE object = ? AND node = ?", object, introducer);
    }
  }

  /** Finds the objects reachable from `wanted` and not from `had`. Both sets are closed under
   * parents, as from `CommitGraph.ancestors`. */
  between(wanted: PositionSet, had: PositionSet): NumberSet {
    const sent = wanted.difference(had);
    const isSent = (introducer: ObjectNumber): boolean => sent.has(this.#graph.position(introducer));
    const isHad = (introducer: ObjectNumber): boolean => had.has(this.#graph.position(introducer));
    // Reads the complement if most nodes are sent, as in a clone: there is less of it.
    if (sent.count() * 2 <= this.#graph.length) {
      const candidates = this.introducedBy(sent);
      // A client without any node has no object by another introducer.
      if (had.count() === 0) return candidates;
      return candidates.difference(this.#findSeveral(candidates, (introducers) => introducers.some(isHad)));
    }
    const introduced = this.#objects.present().difference(this.#objects.unintroduced());
    const all: PositionSet = new Bitset(this.#graph.length);
    all.addRange(0, this.#graph.length);
    const byOthers = this.introducedBy(all.difference(sent));
    // An object that no other node introduced is sent. Any other is sent only if a wanted node also
    // introduced it, and no node that the client has did.
    const shared = this.#findSeveral(byOthers, (introducers) => introducers.some(isSent) && !introducers.some(isHad));
    return introduced.difference(byOthers).union(shared);
  }

  /** Finds those of `objects` that are reachable from `had`, which is closed under parents. */
  within(objects: NumberSet, had: PositionSet): NumberSet {
    const { number, introducer } = this.#objects.locate(objects);
    const isHad = (introducer: ObjectNumber): boolean => had.has(this.#graph.position(introducer));
    const reachable = NumberSet.fromSorted(number.filter((_, i) => isHad(introducer[i]!)));
    const further = this.severalIntroducers(objects.difference(reachable));
    return reachable.union(
      NumberSet.fromSorted([...further].filter(([, nodes]) => nodes.some(isHad)).map(([object]) => object)),
    );
  }

  /** Finds the objects introduced by the nodes at these positions. */
  introducedBy(positions: PositionSet): NumberSet {
    const introduced = new Bitset<ObjectNumber>(this.#objects.lastNumber() + 1);
    for (const node of openNodes(this.#sql).read(this.#graph.numbers(positions))) {
      const { runs } = NumberSet.decode(node.introduced);
      for (let r = 0; r < runs.length; r += 2) introduced.addRange(runs[r]!, runs[r + 1]!);
    }
    return NumberSet.fromBitset(introduced);
  }

  /** Finds those of `objects` with more than one introducer for whose introducers `holds` is
   * true. */
  #findSeveral(objects: NumberSet, holds: (introducers: readonly ObjectNumber[]) => boolean): NumberSet {
    const several = this.severalIntroducers(objects);
    return NumberSet.fromSorted([...several].filter(([, nodes]) => holds(nodes)).map(([object]) => object));
  }

  /** Finds those of `objects` with more than one introducer, ascending, and their introducers'
   * numbers. */
  severalIntroducers(objects: NumberSet): Map<ObjectNumber, ObjectNumber[]> {
    const several = new Map<ObjectNumber, ObjectNumber[]>();
    if (this.#sql.exec("SELECT 1 FROM reintroductions LIMIT 1").toArray().length === 0) return several;
    for (const ranges of packRanges(objects.runs)) {
      for (const [object, node] of this.#sql.exec(FURTHER, ranges.cells, ranges.rows).raw() as Iterable<
        [ObjectNumber, ObjectNumber]
      >) {
        const nodes = several.get(object);
        if (nodes === undefined) several.set(object, [node]);
        else nodes.push(node);
      }
    }
    const { number, introducer } = this.#objects.locate(NumberSet.fromUnsorted(several.keys()));
    number.forEach((object, i) => several.get(object)!.unshift(introducer[i]!));
    return several;
  }

  /** Lists the introducers of some objects except the first of each, in no order.
   * @param objects at most `PACKED_ROWS`
   * @param limit limit of the pairs
   * @returns null: there are more */
  furtherIntroducers(objects: NumberSet, limit: number): (readonly [ObjectNumber, introducer: ObjectNumber])[] | null {
    const pairs: (readonly [ObjectNumber, ObjectNumber])[] = [];
    for (const { cells, rows } of packRanges(objects.runs)) {
      const left = Math.min(limit - pairs.length + 1, MOST_ROWS);
      for (const pair of this.#sql.exec(SOME_FURTHER, cells, rows, left).raw() as Iterable<
        [ObjectNumber, ObjectNumber]
      >)
        pairs.push(pair);
      if (pairs.length > limit) return null;
    }
    return pairs;
  }
}
