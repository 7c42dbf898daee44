import type { Column } from "../../base/format/kinds.ts";
import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import { GitError } from "../../base/format/errors.ts";
import { fromTypeNumber } from "../../base/format/object.ts";
import { equalOids, OID_BYTES, toHex } from "../../base/format/oid.ts";
import {
  NODE_CHECKED,
  NODE_TYPE_MASK,
  oidOf,
  type PackEntry,
  type PackIndex,
  type PackNode,
  readReferences,
  STORED,
} from "../../base/codec/pack-index.ts";
import { findBroken } from "./broken-objects.ts";
import type { Lookup } from "../store/index/object-columns.ts";
import type { ObjectIndex } from "../store/index/object-index.ts";
import { firstFrom } from "../store/index/id-runs.ts";
import { finishAtOnce } from "../../base/numbers/number-set.ts";

/** Nodes that are looked up in a step: some milliseconds. */
const NODES_PER_STEP = 4_096;

/** The stored objects that a pack holds or mentions, by node. */
interface StoredNodes {
  readonly packNodes: Column<PackNode>;
  readonly numbers: Column<ObjectNumber>;
  /** Object types, 1–4. */
  readonly types: Uint32Array;
  /** The number of the first graph node that introduced each, 0 when none did. */
  readonly introducers: Column<ObjectNumber>;
}

/** An indexed pack compared with the store: which of its objects are new and complete, which
 * numbers they get, and where the objects are that it mentions. The numbers are in the index
 * (`number`: of each node, 0 for one that is missing or broken; `fresh`: the entries to be stored),
 * so there is one comparison of an index at a time: the last. */
export class PushedObjects {
  readonly index: PackIndex;
  readonly stored: StoredNodes;
  /** Blobs that were checked since trees name them `.gitmodules` or the like. */
  readonly checked: readonly PackNode[];
  /** Entries to be stored, in storage order: pack order, then those appended after the pack. Entry
   * i of this list, `index.fresh(i)`, gets number `firstNumber + i`. */
  readonly freshCount: number;
  readonly firstNumber: ObjectNumber;
  /** A missing object for the message, and one that needs it; null: nothing is missing. */
  readonly missing: { readonly oid: string; readonly neededBy: string } | null;

  /** Compares a pack with the store, in steps.
   * @throws GitError "wrong-type" when a reference points to a stored object of another type;
   * "missing-object" when a very large pack lacks something */
  static *prepare(index: PackIndex, objects: ObjectIndex): Generator<void, PushedObjects> {
    const found = yield* findNodes(index, objects);
    const broken = yield* findBroken(index);
    const firstNumber = objects.lastNumber() + 1;
    const freshCount = yield* numberFresh(index, firstNumber, broken?.nodes ?? null);
    return new PushedObjects(index, { ...found, firstNumber, freshCount, missing: broken?.missing ?? null });
  }

  /** The same at once. */
  static compare(index: PackIndex, objects: ObjectIndex): PushedObjects {
    return finishAtOnce(PushedObjects.prepare(index, objects));
  }

  private constructor(
    index: PackIndex,
    found: Pick<PushedObjects, "stored" | "checked" | "firstNumber" | "freshCount" | "missing">,
  ) {
    this.index = index;
    this.stored = found.stored;
    this.checked = found.checked;
    this.firstNumber = found.firstNumber;
    this.freshCount = found.freshCount;
    this.missing = found.missing;
  }

  /** The nodes that a fresh commit, tree or tag refers to, in order; for a commit the tree, then
   * the parents. */
  references(packNode: PackNode): readonly PackNode[] {
    return readReferences(this.index, this.index.entryOf(packNode));
  }

  /** Commit time in seconds; 0 for other objects. */
  time(packNode: PackNode): number {
    return this.index.time(this.index.entryOf(packNode));
  }

  oid(packNode: PackNode): Uint8Array {
    return oidOf(this.index, packNode);
  }

  /** Object type of a node that has a number, 1–4. */
  type(packNode: PackNode): number {
    const { packNodes, types } = this.stored;
    const i = firstFrom(packNodes as Uint32Array, packNode);
    return packNodes[i] === packNode ? types[i]! : this.index.kind(this.index.entryOf(packNode));
  }

  /** The id of a fresh object by its number, null for another. */
  freshOid(number: ObjectNumber): Uint8Array | null {
    if (number < this.firstNumber) return null;
    return this.oid(this.index.nodeOf(this.index.fresh(number - this.firstNumber)));
  }

  /** Object type of a fresh object by its number, 1–4; null for another. */
  freshType(number: ObjectNumber): number | null {
    return number < this.firstNumber ? null : this.index.kind(this.index.fresh(number - this.firstNumber));
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
    const { nodeCount } = this.index;
    for (let from = 0; from < nodeCount; from += NODES_PER_STEP) {
      const held = this.index.oids(from, Math.min(from + NODES_PER_STEP, nodeCount));
      const view = new DataView(held.buffer);
      for (let at = 0; at < held.length; at += OID_BYTES) {
        for (const i of byPrefix.get(view.getUint32(at)) ?? []) {
          if (equalOids(oids.subarray(i * OID_BYTES, (i + 1) * OID_BYTES), held.subarray(at, at + OID_BYTES)))
            found[i] = from + at / OID_BYTES;
        }
      }
    }
    return found;
  }
}

/** Looks up all nodes, and notes the numbers of those that are stored. */
function* findNodes(
  index: PackIndex,
  objects: ObjectIndex,
): Generator<void, Pick<PushedObjects, "stored" | "checked">> {
  const checked: PackNode[] = [];
  const [packNodes, numbers, types, introducers] = Array.from({ length: 4 }, () => new GrowingColumn());
  for (let from: PackNode = 0; from < index.nodeCount; from += NODES_PER_STEP) {
    const end = Math.min(from + NODES_PER_STEP, index.nodeCount);
    const found: Lookup = objects.lookupMany(index.oids(from, end));
    for (let packNode = from; packNode < end; packNode++) {
      const number = found.number[packNode - from]!;
      index.setNumber(packNode, number);
      const flags = index.flags(packNode);
      if ((flags & NODE_CHECKED) !== 0) checked.push(packNode);
      if (number === 0) continue;
      const type = found.type[packNode - from]!;
      checkClaims(index, packNode, flags & NODE_TYPE_MASK, type);
      packNodes!.push(packNode);
      numbers!.push(number);
      types!.push(type);
      introducers!.push(found.introducer[packNode - from]!);
    }
    yield;
  }
  const stored = {
    packNodes: packNodes!.finish(),
    numbers: numbers!.finish(),
    types: types!.finish(),
    introducers: introducers!.finish(),
  };
  return { stored, checked };
}

/** Compares what references say of a stored object's type with what it is. */
function checkClaims(index: PackIndex, packNode: PackNode, spokenOf: number, type: number): void {
  const others = spokenOf & ~(1 << (type - 1));
  if (others === 0) return;
  throw new GitError("wrong-type", {
    oid: toHex(oidOf(index, packNode)),
    expected: fromTypeNumber(32 - Math.clz32(others)),
    actual: fromTypeNumber(type),
  });
}

/** Numbers the objects that are to be stored.
 * @returns how many they are */
function* numberFresh(index: PackIndex, firstNumber: ObjectNumber, broken: Uint8Array | null): Generator<void, number> {
  const { count, made } = index;
  let length = 0;
  const add = (entry: PackEntry): void => {
    const packNode = index.nodeOf(entry);
    // An object that is twice in the pack counts where it was resolved first.
    if (index.entryOf(packNode) !== entry || index.number(packNode) !== 0 || broken?.[packNode] === 1) return;
    index.setNumber(packNode, firstNumber + length);
    index.setFresh(length++, entry);
  };
  for (let entry: PackEntry = 0; entry < count; entry++) {
    if (entry % NODES_PER_STEP === 0) yield;
    if (index.stored(entry) !== STORED.made) add(entry);
  }
  for (const entry of made.keys()) add(entry);
  return length;
}

/** A column of unsigned 32-bit integers whose length is not known in advance. */
class GrowingColumn {
  #values = new Uint32Array(0);
  #length = 0;

  push(value: number): void {
    if (this.#length === this.#values.length) {
      const grown = new Uint32Array(Math.max(64, this.#length * 2));
      grown.set(this.#values);
      this.#values = grown;
    }
    this.#values[this.#length++] = value;
  }

  /** Returns all values. No value may follow. */
  finish(): Uint32Array<ArrayBuffer> {
    return this.#values.subarray(0, this.#length);
  }
}
