import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import { GitError } from "../../base/format/errors.ts";
import { checkLimit } from "../../base/format/limits.ts";
import type { ObjectType } from "../../base/format/object.ts";
import { concatOids, type Oid, OID_BYTES, toHex } from "../../base/format/oid.ts";
import { typeOfMode } from "../../base/format/tree.ts";
import { TreeCursor } from "../../base/format/tree-cursor.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import type { NewObject, NewObjects } from "../push/new-objects.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { keptTree } from "../objects/tree-contents.ts";

/** The most bytes of trees and merged files that one merge makes: they are in memory until they are
 * stored. */
const MAX_MADE_BYTES = 32 * 1024 * 1024;

/** Bytes of the trees that one merge compares: as many as its paths take, with some margin. */
const MAX_COMPARED_BYTES = 48 * 1024 * 1024;

/** The objects of a merge by id: first the new ones, then those of the repository. */
export class MergeObjects {
  readonly #repository: OpenRepository;
  readonly #made: NewObjects;
  #madeBytes = 0;
  #comparedBytes = 0;

  constructor(repository: OpenRepository, made: NewObjects) {
    this.#repository = repository;
    this.#made = made;
  }

  /** Reads the trees that a merge compares, whose contents stay in memory.
   * @throws GitError as `readTrees`, "too-large" when they have too many bytes in all */
  compareTrees(oids: readonly Oid[]): Promise<Map<string, Uint8Array>> {
    for (const sizeBytes of this.sizes(oids).values()) this.#comparedBytes += sizeBytes;
    checkLimit("merge (bytes of directories)", MAX_COMPARED_BYTES, this.#comparedBytes);
    return this.readTrees(oids);
  }

  /** Reads the contents of trees, by their ids in hex.
   * @throws GitError "storage-failed" */
  async readTrees(oids: readonly Oid[]): Promise<Map<string, Uint8Array>> {
    const trees = new Map<string, Uint8Array>();
    const take = (hex: string, content: Uint8Array): void => {
      trees.set(hex, content);
    };
    const asked: Oid[] = [];
    for (const oid of oids) {
      const kept = keptTree(oid);
      if (kept === undefined) asked.push(oid);
      else take(toHex(oid), kept);
    }
    for await (const [hex, content] of this.readEach(asked)) take(hex, content);
    return trees;
  }

  /** Reads blobs, by their ids in hex; all of them are in memory at once.
   * @throws GitError "storage-failed" */
  async readBlobs(oids: readonly Oid[]): Promise<Map<string, Uint8Array>> {
    return new Map(await Array.fromAsync(this.readEach(oids)));
  }

  /** The sizes of blobs in bytes, by their ids in hex.
   * @throws GitError "storage-failed" */
  sizes(oids: readonly Oid[]): Map<string, number> {
    const sizes = new Map<string, number>();
    const stored = oids.filter((oid) => {
      const made = this.#made.find(oid);
      if (made !== undefined) sizes.set(toHex(oid), made.content.length);
      return made === undefined;
    });
    const numbers = NumberSet.fromUnsorted(this.#numbersOf(stored).keys());
    const rows = this.#repository.tables.objects.locate(numbers);
    rows.size.forEach((sizeBytes, i) => sizes.set(toHex(rows.oid, i * OID_BYTES), sizeBytes));
    return sizes;
  }

  /** Makes an object.
   * @throws GitError "too-large" */
  add(type: ObjectType, content: Uint8Array): Oid {
    this.#madeBytes += content.length;
    checkLimit("merge (bytes of new objects)", MAX_MADE_BYTES, this.#madeBytes);
    return this.#made.add(type, content);
  }

  /** The new objects that a tree reaches and the repository lacks. An object follows those that it
   * refers to. */
  newObjectsOf(tree: Oid): NewObject[] {
    const found = new Map<string, NewObject>();
    const visit = (oid: Oid): void => {
      const object = this.#made.find(oid);
      if (object === undefined || found.has(toHex(oid))) return;
      if (object.type === "tree") {
        for (const cursor = new TreeCursor(object.content); !cursor.isAtEnd; cursor.advance())
          if (typeOfMode(cursor.mode) !== "commit") visit(cursor.oid);
      }
      found.set(toHex(oid), object);
    };
    visit(tree);
    const objects = [...found.values()];
    const { number } = this.#repository.tables.objects.lookupMany(concatOids(objects.map(({ oid }) => oid)));
    return objects.filter((_, i) => number[i] === 0);
  }

  /** Reads objects one after the other, the new ones first, each once.
   * @throws GitError "storage-failed" */
  async *readEach(oids: readonly Oid[]): AsyncGenerator<[hex: string, content: Uint8Array], void, void> {
    const stored: Oid[] = [];
    for (const oid of oids) {
      const made = this.#made.find(oid);
      if (made === undefined) stored.push(oid);
      else yield [toHex(oid), made.content];
    }
    const hexes = this.#numbersOf(stored);
    const numbers = NumberSet.fromUnsorted(hexes.keys());
    for await (const [number, { bytes }] of this.#repository.reader.readEach(numbers))
      yield [hexes.get(number)!, bytes];
  }

  /** The numbers of stored objects, with their ids in hex. */
  #numbersOf(oids: readonly Oid[]): Map<ObjectNumber, string> {
    const { number } = this.#repository.tables.objects.lookupMany(concatOids(oids));
    return new Map(oids.map((oid, i) => [number[i] || missing(oid), toHex(oid)]));
  }
}

function missing(oid: Oid): never {
  throw new GitError("storage-failed", { key: "object_chunks", reason: `${toHex(oid)} is missing` });
}
