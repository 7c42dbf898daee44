import { GitError } from "../../format/errors.ts";
import type { ObjectType } from "../../format/object.ts";
import { concatOids, type Oid, toHex } from "../../format/oid.ts";
import {
  EXECUTABLE_MODE,
  FILE_MODE,
  GITLINK_MODE,
  isTreeMode,
  parseTree,
  SYMLINK_MODE,
  TREE_MODE,
  type TreeEntry,
  typeOfMode,
} from "../../format/tree.ts";
import { NumberSet } from "../../store/number-set.ts";
import type { NewObject, NewObjects } from "../commit/new-objects.ts";
import type { OpenRepository } from "../open-repository.ts";

/** The objects of a merge by id: those of the repository, and before them the new ones. */
export class MergeObjects {
  readonly #repository: OpenRepository;
  readonly #made: NewObjects;

  constructor(repository: OpenRepository, made: NewObjects) {
    this.#repository = repository;
    this.#made = made;
  }

  /** Reads trees, by their ids in hex, with modes as git reads them.
   * @throws GitError "storage-failed" */
  async readTrees(oids: readonly Oid[]): Promise<Map<string, TreeEntry[]>> {
    const trees = new Map<string, TreeEntry[]>();
    for await (const [oid, content] of this.#readEach(oids)) {
      trees.set(
        oid,
        parseTree(content).map((entry) => ({ ...entry, mode: canonicalMode(entry.mode) })),
      );
    }
    return trees;
  }

  /** Reads blobs, by their ids in hex; all of them are in memory at once.
   * @throws GitError "storage-failed" */
  async readBlobs(oids: readonly Oid[]): Promise<Map<string, Uint8Array>> {
    return new Map(await Array.fromAsync(this.#readEach(oids)));
  }

  /** The sizes of blobs in bytes, by their ids in hex.
   * @throws GitError "storage-failed" */
  sizes(oids: readonly Oid[]): Map<string, number> {
    const { objects } = this.#repository.tables;
    return new Map(
      oids.map((oid) => [toHex(oid), this.#made.find(oid)?.content.length ?? objects.find(oid)?.size ?? missing(oid)]),
    );
  }

  /** Makes an object. */
  add(type: ObjectType, content: Uint8Array): Oid {
    return this.#made.add(type, content);
  }

  /** The new objects that a tree leads to and that the repository has not; what one refers to comes before it. */
  newObjectsOf(tree: Oid): NewObject[] {
    const found = new Map<string, NewObject>();
    const visit = (oid: Oid): void => {
      const object = this.#made.find(oid);
      if (object === undefined || found.has(toHex(oid))) return;
      const entries = object.type === "tree" ? parseTree(object.content) : [];
      for (const entry of entries) if (typeOfMode(entry.mode) !== "commit") visit(entry.oid);
      found.set(toHex(oid), object);
    };
    visit(tree);
    const objects = [...found.values()];
    const { number } = this.#repository.tables.objects.lookupMany(concatOids(objects.map(({ oid }) => oid)));
    return objects.filter((_, i) => number[i] === 0);
  }

  async *#readEach(oids: readonly Oid[]): AsyncGenerator<[hex: string, content: Uint8Array], void, void> {
    const stored = new Map<string, Oid>();
    for (const oid of oids) {
      const made = this.#made.find(oid);
      if (made === undefined) stored.set(toHex(oid), oid);
      else yield [toHex(oid), made.content];
    }
    const asked = [...stored];
    const { number } = this.#repository.tables.objects.lookupMany(concatOids(asked.map(([, oid]) => oid)));
    const hexes = new Map(asked.map(([hex, oid], i) => [number[i] || missing(oid), hex]));
    const numbers = NumberSet.fromSorted([...hexes.keys()].sort((a, b) => a - b));
    for await (const [found, { bytes }] of this.#repository.reader.readEach(numbers)) yield [hexes.get(found)!, bytes];
  }
}

/** What git makes of the modes that old histories hold. @see canon_mode() in its read-cache.h */
function canonicalMode(mode: number): number {
  if (isTreeMode(mode)) return TREE_MODE;
  if (typeOfMode(mode) === "commit") return GITLINK_MODE;
  return (mode & 0o170000) === SYMLINK_MODE ? SYMLINK_MODE : (mode & 0o100) === 0 ? FILE_MODE : EXECUTABLE_MODE;
}

function missing(oid: Oid): never {
  throw new GitError("storage-failed", { key: "object_chunks", reason: `${toHex(oid)} is missing` });
}
