import type { Column } from "../../format/kinds.ts";
import type { ObjectNumber } from "../../store/numbers/kinds.ts";
import { GitError } from "../../format/errors.ts";
import { fromTypeNumber } from "../../format/object.ts";
import { equalOids, OID_BYTES, toHex } from "../../format/oid.ts";
import {
  NODE_TYPE_MASK,
  type PackEntry,
  type PackIndex,
  type PackNode,
  readReferences,
  readTime,
  STORED,
} from "../../codec/pack-index.ts";
import { findBroken } from "./broken-objects.ts";
import { joinLookups, type Lookup } from "../../store/index/object-columns.ts";
import type { ObjectIndex } from "../../store/index/object-index.ts";

/** Bytes of the ids that are looked up in a step: some milliseconds. */
const LOOKED_UP_BYTES = 4_096 * OID_BYTES;

/** An indexed pack compared with the store: which of its objects are new and complete, which
 * numbers they get, and where the objects are that it mentions. */
export class PushedObjects {
  readonly index: PackIndex;
  /** Object number of each node, new or already stored; 0: missing, or broken. */
  readonly numbers: Column<ObjectNumber>;
  /** Object type of each node that has a number, 1–4. */
  readonly types: Uint8Array;
  /** For nodes that were stored: the number of the first graph node that introduced them, 0 when
   * none did. */
  readonly storedIntroducers: Column<ObjectNumber>;
  /** Entries to be stored, in storage order: pack order, then those appended after the pack. Entry
   * i of this list gets number `firstNumber + i`. */
  readonly fresh: Column<PackEntry>;
  readonly firstNumber: ObjectNumber;
  /** A missing object for the message, and one that needs it; null: nothing is missing. */
  readonly missing: { readonly oid: string; readonly neededBy: string } | null;

  /** Compares a pack with the store, in steps.
   * @throws as the constructor */
  static *prepare(index: PackIndex, objects: ObjectIndex): Generator<void, PushedObjects> {
    const parts: Lookup[] = [];
    for (let from = 0; from < index.oids.length; from += LOOKED_UP_BYTES) {
      parts.push(objects.lookupMany(index.oids.subarray(from, from + LOOKED_UP_BYTES)));
      yield;
    }
    return new PushedObjects(index, objects, joinLookups(parts));
  }

  /** @param found what is stored of the pack's objects
   * @throws GitError "wrong-type" when a reference points to a stored object of another type */
  constructor(index: PackIndex, objects: ObjectIndex, found: Lookup = objects.lookupMany(index.oids)) {
    this.index = index;
    this.numbers = new Uint32Array(index.nodeCount);
    this.types = new Uint8Array(index.nodeCount);
    this.storedIntroducers = new Uint32Array(index.nodeCount);
    this.#findStored(found);
    const broken = findBroken(index, this.numbers);
    this.missing = broken?.missing ?? null;
    this.firstNumber = objects.lastNumber() + 1;
    this.fresh = this.#numberFresh(broken?.nodes ?? null);
  }

  /** Whether the node is an object that this push adds. */
  isFresh(packNode: PackNode): boolean {
    return this.numbers[packNode]! >= this.firstNumber;
  }

  /** The nodes that a fresh commit, tree or tag refers to, in order; for a commit the tree, then
   * the parents. */
  references(packNode: PackNode): Column<PackNode> {
    return readReferences(this.index, this.index.nodeEntries[packNode]!);
  }

  /** Commit time in seconds; 0 for other objects. */
  time(packNode: PackNode): number {
    return readTime(this.index, this.index.nodeEntries[packNode]!);
  }

  oid(packNode: PackNode): Uint8Array {
    return this.index.oids.subarray(packNode * OID_BYTES, (packNode + 1) * OID_BYTES);
  }

  /** The id of a fresh object by its number, null for another. */
  freshOid(number: ObjectNumber): Uint8Array | null {
    if (number < this.firstNumber) return null;
    return this.oid(this.index.entryNodes[this.fresh[number - this.firstNumber]!]!).slice();
  }

  /** Object type of a fresh object by its number, 1–4; null for another. */
  freshType(number: ObjectNumber): number | null {
    return number < this.firstNumber ? null : this.index.kinds[this.fresh[number - this.firstNumber]!]!;
  }

  /** The nodes of packed oids; −1 where the pack neither holds nor mentions one. */
  findPackNodes(oids: Uint8Array): readonly PackNode[] {
    const wanted = new DataView(oids.buffer, oids.byteOffset, oids.byteLength);
    const found = Array.from({ length: oids.length / OID_BYTES }, (): PackNode => -1);
    const byPrefix = new Map<number, number[]>();
    for (let i = 0; i < found.length; i++) {
      const prefix = wanted.getUint32(i * OID_BYTES);
      const same = byPrefix.get(prefix);
      if (same === undefined) byPrefix.set(prefix, [i]);
      else same.push(i);
    }
    const held = new DataView(this.index.oids.buffer, this.index.oids.byteOffset, this.index.oids.byteLength);
    for (let packNode: PackNode = 0; packNode < this.index.nodeCount; packNode++) {
      for (const i of byPrefix.get(held.getUint32(packNode * OID_BYTES)) ?? []) {
        if (equalOids(oids.subarray(i * OID_BYTES, (i + 1) * OID_BYTES), this.oid(packNode))) found[i] = packNode;
      }
    }
    return found;
  }

  #inPack(packNode: PackNode): boolean {
    return this.index.nodeEntries[packNode]! < this.index.count;
  }

  #findStored(found: Lookup): void {
    const { nodeCount, nodeFlags, nodeEntries, kinds } = this.index;
    for (let packNode: PackNode = 0; packNode < nodeCount; packNode++) {
      const number = found.number[packNode]!;
      if (number !== 0) {
        this.numbers[packNode] = number;
        this.types[packNode] = found.type[packNode]!;
        this.storedIntroducers[packNode] = found.introducer[packNode]!;
        const spokenOf = nodeFlags[packNode]! & NODE_TYPE_MASK;
        const own = 1 << (found.type[packNode]! - 1);
        if ((spokenOf & ~own) !== 0) {
          throw new GitError("wrong-type", {
            oid: toHex(this.oid(packNode)),
            expected: fromTypeNumber(32 - Math.clz32(spokenOf & ~own)),
            actual: fromTypeNumber(found.type[packNode]!),
          });
        }
      } else if (this.#inPack(packNode)) this.types[packNode] = kinds[nodeEntries[packNode]!]!;
    }
  }

  #numberFresh(broken: Uint8Array | null): Column<PackEntry> {
    const { count, entryNodes, nodeEntries, stored, made } = this.index;
    const fresh = new Uint32Array(count);
    let length = 0;
    const add = (entry: PackEntry): void => {
      const packNode = entryNodes[entry]!;
      // An object that is twice in the pack counts where it was resolved first.
      if (nodeEntries[packNode] !== entry || this.numbers[packNode] !== 0 || broken?.[packNode] === 1) return;
      this.numbers[packNode] = this.firstNumber + length;
      fresh[length++] = entry;
    };
    for (let entry: PackEntry = 0; entry < count; entry++) if (stored[entry] !== STORED.made) add(entry);
    for (const entry of made.keys()) add(entry);
    return fresh.slice(0, length);
  }
}
