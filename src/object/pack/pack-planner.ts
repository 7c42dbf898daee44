import type { Column } from "../../base/format/kinds.ts";
import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import { OID_BYTES } from "../../base/format/oid.ts";
import { ofsDistanceLength } from "../../base/format/pack.ts";
import { Bitset } from "../../base/numbers/bitset.ts";
import type { ChunkRow } from "../store/index/chunk-row.ts";
import type { ChunkTable } from "../store/index/chunk-table.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import type { ObjectColumns } from "../store/index/object-columns.ts";
import type { ObjectIndex } from "../store/index/object-index.ts";
import { collectChains } from "./collect-chains.ts";
import { PackDraft } from "./pack-draft.ts";
import type { PackPlan } from "../../base/bytes/pack-plan.ts";
import { selectWholeChunks } from "./whole-chunks.ts";

/** The content of a pack, and what its deltas may refer to. */
interface PackContents {
  readonly objects: NumberSet;
  /** Finds which objects the client has, for a thin pack; null: deltas refer to nothing outside the
   * pack. */
  readonly findHad: ((objects: NumberSet) => NumberSet) | null;
  /** Deltas may name their base by its distance. */
  readonly ofsDelta: boolean;
}

/** For packs of up to this many objects, searching for whole chunks does not repay decoding the
 * rows of all chunks. */
const FEW_OBJECTS = 1_000;

/** Index rows in memory at a time. */
const SLICE_OBJECTS = 50_000;

/** The largest distance in bytes. Beyond it a delta names its base by id. */
const MAX_DISTANCE_BYTES = 0xffff_ffff;

/** Plans a pack: objects by number, in stored form wherever possible, and every base before its
 * deltas, since some clients search for a base only among the entries received so far.
 *
 * A stored delta is sent as a delta if its base is sent too or (thin) the client has it. Its head
 * is rewritten only if the distance to the base has changed. Deltas without a base become whole
 * objects and come first, as others may be deltas on them. Their size is unknown here, so such
 * deltas name them by id. A delta stored before its base is sent whole too: no client of note sends
 * such.
 * @throws GitError "storage-failed" when an object or a chunk is missing */
export function planPack(objects: ObjectIndex, chunks: ChunkTable, contents: PackContents): PackPlan {
  const whole =
    contents.objects.size <= FEW_OBJECTS
      ? []
      : selectWholeChunks(chunks.allInOrder(), contents.objects.union(objects.pruned()), contents.ofsDelta);
  const planner = new PackPlanner(objects, new PackDraft(chunks), contents, whole);
  return planner.plan();
}

/** The state of one planning. Positions are byte offsets in the pack being sent; 0: not (yet)
 * sent. */
class PackPlanner {
  readonly #objects: ObjectIndex;
  readonly #draft: PackDraft;
  readonly #contents: PackContents;
  /** Chunks sent whole, and their positions. */
  readonly #whole: readonly ChunkRow[];
  readonly #wholePositions: Float64Array;
  #wholeCount = 0;
  /** Numbers of the other objects, and their positions. */
  readonly #numbers: Column<ObjectNumber>;
  readonly #positions: Float64Array;
  readonly #undeltified: number[] = [];

  constructor(objects: ObjectIndex, draft: PackDraft, contents: PackContents, whole: readonly ChunkRow[]) {
    this.#objects = objects;
    this.#draft = draft;
    this.#contents = contents;
    this.#whole = whole;
    this.#wholePositions = new Float64Array(whole.length);
    const inWhole = new Bitset<ObjectNumber>((whole.at(-1)?.lastNumber ?? 0) + 1);
    for (const { firstNumber, lastNumber } of whole) inWhole.addRange(firstNumber, lastNumber + 1);
    this.#numbers = contents.objects.difference(NumberSet.fromBitset(inWhole)).toArray();
    this.#positions = new Float64Array(this.#numbers.length);
  }

  plan(): PackPlan {
    this.#draft.addChunks(this.#whole.map(({ id }) => id));
    for (let from = 0; from < this.#numbers.length; from += SLICE_OBJECTS) {
      this.#placeSlice(from, Math.min(from + SLICE_OBJECTS, this.#numbers.length));
    }
    this.#placeWholeBefore(Infinity);
    const { chains, undeltified } = collectChains(this.#objects, this.#draft, this.#undeltified);
    return this.#draft.finish(this.#contents.objects.size, chains, undeltified);
  }

  /** Sends the whole chunks whose objects precede `number`. */
  #placeWholeBefore(number: ObjectNumber): void {
    for (
      let chunk;
      (chunk = this.#whole[this.#wholeCount]) !== undefined && chunk.firstNumber < number;
      this.#wholeCount++
    ) {
      this.#wholePositions[this.#wholeCount] = this.#draft.position;
      this.#draft.addVerbatim(chunk.id, 0, chunk.size);
    }
  }

  /** Sends the objects from index `from` of `#numbers` up to `to`. */
  #placeSlice(from: number, to: number): void {
    const rows = this.#objects.locate(NumberSet.fromSorted(this.#numbers.subarray(from, to)));
    const bases = this.#readBases(rows);
    this.#draft.addChunks(rows.chunk);
    for (let i = 0; i < rows.number.length; i++) {
      const number = rows.number[i]!;
      this.#placeWholeBefore(number);
      const position = this.#draft.position;
      if (this.#place(rows, i, bases)) this.#positions[from + i] = position;
      else this.#undeltified.push(number);
    }
  }

  /** Sends one object.
   * @returns false when it must be undeltified */
  #place(rows: ObjectColumns, i: number, bases: Bases): boolean {
    const base = rows.base[i]!;
    const [chunk, offset, length] = [rows.chunk[i]!, rows.offset[i]!, rows.length[i]!];
    const distance = rows.distance[i]!;
    const isSent = this.#contents.objects.has(base);
    if (base !== 0 && (isSent ? base > rows.number[i]! : !bases.had.has(base))) return false;
    const actual = isSent && distance !== 0 ? this.#distanceTo(base, bases) : 0;
    if (distance === actual) {
      // Not a delta, or its base is named by id, or is at the same distance as before.
      this.#draft.addVerbatim(chunk, offset, length);
      return true;
    }
    const oldBaseBytes = ofsDistanceLength(distance);
    if (actual > 0) {
      this.#draft.addOfsDelta(chunk, offset, length, length - oldBaseBytes + ofsDistanceLength(actual), actual);
    } else {
      this.#draft.addRefDelta(chunk, offset, length, length - oldBaseBytes + OID_BYTES, base, bases.oid(base));
    }
    return true;
  }

  /** How far before the next entry a base was sent; 0 when a distance cannot name it: the base was
   * undeltified, or is too far away. */
  #distanceTo(base: ObjectNumber, bases: Bases): number {
    if (!this.#contents.ofsDelta) return 0;
    const position = this.#positionOf(base, bases);
    const distance = this.#draft.position - position;
    return position === 0 || distance > MAX_DISTANCE_BYTES ? 0 : distance;
  }

  #positionOf(base: ObjectNumber, bases: Bases): number {
    const index = lastIndexUpTo(this.#numbers.length, (k) => this.#numbers[k]! <= base);
    if (index >= 0 && this.#numbers[index] === base) return this.#positions[index]!;
    const k = lastIndexUpTo(this.#wholeCount, (w) => this.#whole[w]!.firstNumber <= base);
    return k >= 0 && base <= this.#whole[k]!.lastNumber ? this.#wholePositions[k]! + bases.offset(base) : 0;
  }

  /** Reads what is needed of the rows' delta bases. */
  #readBases(rows: ObjectColumns): Bases {
    const needed = new Set<ObjectNumber>();
    const foreign = new Set<ObjectNumber>();
    rows.base.forEach((base, i) => {
      if (base === 0) return;
      if (!this.#contents.objects.has(base)) foreign.add(base);
      else if (rows.distance[i] === 0) return;
      needed.add(base);
    });
    const { findHad } = this.#contents;
    const had = findHad === null || foreign.size === 0 ? NumberSet.EMPTY : findHad(NumberSet.fromUnsorted(foreign));
    return new Bases(this.#objects.locate(NumberSet.fromUnsorted(needed)), had);
  }
}

/** The rows of some delta bases. */
class Bases {
  /** Those not sent because the client has them. */
  readonly had: NumberSet;
  readonly #rows: ObjectColumns;

  constructor(rows: ObjectColumns, had: NumberSet) {
    this.#rows = rows;
    this.had = had;
  }

  /** Offset of a base in its chunk, bytes. */
  offset(number: ObjectNumber): number {
    return this.#rows.offset[this.#index(number)]!;
  }

  /** The id of a base. */
  oid(number: ObjectNumber): Uint8Array {
    const at = this.#index(number) * OID_BYTES;
    return this.#rows.oid.subarray(at, at + OID_BYTES);
  }

  #index(number: ObjectNumber): number {
    return lastIndexUpTo(this.#rows.number.length, (k) => this.#rows.number[k]! <= number);
  }
}

/** The last index below `length` for which `holds` is true, given that it is true up to some index
 * only; −1: for none. */
function lastIndexUpTo(length: number, holds: (index: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
