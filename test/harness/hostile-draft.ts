/** A hostile history being built. */
import {
  assemblePack,
  copy,
  encodeDelta,
  insert,
  makeCommit,
  type MadeObject,
  type MadeTreeEntry,
  makeObject,
  makeTree,
  makeWideTree,
  refDelta,
} from "./pack-builder.ts";
import type { Random } from "./random.ts";
import { encodeEntry } from "./raw.ts";

/** A history, with names for requests about it. */
export interface HostileHistory {
  /** A description of its shape. */
  readonly shape: string;
  readonly pack: Buffer;
  /** Ids by full name, including `refs/heads/main` and `refs/heads/fork`. */
  readonly refs: ReadonlyMap<string, string>;
  /** Paths of a directory and of a file in `main`, if there are any; they need not exist. */
  readonly directory: string;
  readonly file: string;
  /** Whether its pack inflates to far more than its size. */
  readonly isBomb?: boolean;
  /** One object id of each type that occurs. */
  readonly oids: Readonly<Partial<Record<"commit" | "tree" | "blob" | "tag", string>>>;
}

const EMPTY_TREE = makeTree();
export const BLOB = makeObject("blob", "content\n");

/** The leaves of a shape's trees. */
const LEAVES: readonly (readonly [name: string, mode: string, leaf: MadeObject | string])[] = [
  ["empty trees", "40000", EMPTY_TREE],
  ["blobs", "100644", BLOB],
  ["links", "120000", BLOB],
  ["gitlinks", "160000", "12".repeat(20)],
];

/** A history being built. */
export class Draft {
  readonly random: Random;
  readonly #entries = new Map<string, Buffer>();
  readonly #refs = new Map<string, string>();
  readonly #oids: Partial<Record<MadeObject["type"], string>> = {};
  #left: number;

  /** @param budget size of the pack, bytes */
  constructor(random: Random, budget: number) {
    this.random = random;
    this.#left = budget;
  }

  /** Whether at least this many bytes of the budget are left. */
  hasRoom(bytes = 400): boolean {
    return this.#left > bytes;
  }

  /** Adds an object once; as a delta on another if that is given. */
  add(object: MadeObject, delta?: { readonly base: MadeObject; readonly bytes: Buffer }): MadeObject {
    if (this.#entries.has(object.oid)) return object;
    const entry = encodeEntry(delta === undefined ? object : refDelta(delta.base.oid, delta.bytes));
    this.#entries.set(object.oid, entry);
    this.#left -= entry.length;
    // The last of a type reaches the most.
    this.#oids[object.type] = object.oid;
    return object;
  }

  tree(...entries: readonly MadeTreeEntry[]): MadeObject {
    return this.wideTree(entries);
  }

  /** As `tree`, of more entries than a call takes. */
  wideTree(entries: readonly MadeTreeEntry[]): MadeObject {
    return this.add(makeWideTree(entries.toSorted((a, b) => (sortName(a) < sortName(b) ? -1 : 1))));
  }

  /** A tree with the entries of another and further ones, as a delta on it. */
  treeLike(base: MadeObject, entries: readonly MadeTreeEntry[]): MadeObject {
    const tree = makeTree(...entries);
    const { length } = base.content;
    const copies: Buffer[] = [];
    for (let at = 0; at < length; at += 60_000) copies.push(copy(at, Math.min(60_000, length - at)));
    const bytes = encodeDelta(length, tree.content.length, ...copies, insert(tree.content.subarray(length)));
    return this.add(tree, { base, bytes });
  }

  commit(tree: MadeObject, parents: readonly MadeObject[] = [], message?: string): MadeObject {
    return this.add(
      makeCommit(
        tree,
        parents.map(({ oid }) => oid),
        message,
      ),
    );
  }

  ref(name: string, object: MadeObject): void {
    this.#refs.set(`refs/${name}`, object.oid);
  }

  /** A leaf of a tree. */
  leaf(): { readonly name: string; readonly mode: string; readonly object: MadeObject | string } {
    const [name, mode, object] = this.random.pick(LEAVES);
    if (typeof object !== "string") this.add(object);
    return { name, mode, object };
  }

  /** @param main the tip of the branch, unless there is a ref of that name; `fork` likewise */
  finish(
    shape: string,
    main: MadeObject,
    fork: MadeObject,
    { directory = "", file = "a" }: { readonly directory?: string; readonly file?: string } = {},
  ): HostileHistory {
    this.ref("heads/main", main);
    this.ref("heads/fork", fork);
    return {
      shape,
      pack: assemblePack([...this.#entries.values()]),
      refs: this.#refs,
      directory,
      file,
      oids: { ...this.#oids },
    };
  }
}

function sortName([mode, name]: MadeTreeEntry): string {
  return `${Buffer.from(name as string).toString("latin1")}${mode === "40000" ? "/" : ""}`;
}

export function nameOf(index: number): string {
  return index.toString(36).padStart(4, "0");
}
