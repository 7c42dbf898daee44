// The entries at a path in many commits. Trees are read level by level, many at a time in storage
// order, and searched for one name. Results are cached by tree and name for the lifetime of the
// repository's object, as they never change. So a second look at a path's history reads no trees,
// and a look at a neighbouring path reads few.
import type { Kind as NumberKind } from "../../base/format/kinds.ts";
import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import { concatOids, type Oid, toHex } from "../../base/format/oid.ts";
import { findTreeEntry } from "../../base/format/tree-splice.ts";
import {
  canonicalMode,
  EXECUTABLE_MODE,
  FILE_MODE,
  SYMLINK_MODE,
  TREE_MODE,
  typeOfMode,
} from "../../base/format/tree.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import type { RepositoryState } from "../state/repository-state.ts";
import { stepsToRead, type WorkBudget } from "../../base/pacing/work-budget.ts";

/** The entry at a path as one number. Two are equal when git sees no difference. 0: none. */
export type EntryCode = NumberKind<"entry code">;

/** No entry. */
export const ABSENT: EntryCode = 0;

/** The types of an entry that git distinguishes, in the three lowest bits of a code. The object
 * number is above them. */
const KINDS = ["none", "tree", "file", "executable", "symlink"] as const;
type Kind = (typeof KINDS)[number];
/** The mode of each type. */
const MODES: readonly number[] = [0, TREE_MODE, FILE_MODE, EXECUTABLE_MODE, SYMLINK_MODE];
const KIND_SHIFT = 8;

/** The most entries cached for a repository, 40 bytes each. */
const MAX_REMEMBERED = 150_000;

/** The entry's object number; 0 for a gitlink and for no entry. */
export function numberOfCode(code: EntryCode): ObjectNumber {
  return code > 0 ? Math.floor(code / KIND_SHIFT) : 0;
}

/** The entry's type; null for a gitlink. */
export function kindOfCode(code: EntryCode): Kind | null {
  return code >= 0 ? KINDS[code % KIND_SHIFT]! : null;
}

/** The entries of one path, tree by tree. */
export class PathEntries {
  readonly #repository: OpenRepository;
  readonly #names: readonly string[];
  /** By level: the entry with that level's name in each tree that was searched. */
  readonly #levels: readonly Map<ObjectNumber, EntryCode>[];
  readonly #memory: EntryMemory;

  /** @param path byte string, parts separated by "/" */
  constructor(repository: OpenRepository, path: string) {
    this.#repository = repository;
    this.#memory = memoryOf(repository.state);
    this.#names = path.split("/");
    this.#levels = this.#names.map((name) => this.#memory.entriesOf(name));
  }

  /** The entry at the path below a root tree; undefined: trees must be loaded first. */
  find(root: ObjectNumber): EntryCode | undefined {
    let tree = root;
    for (const [level, entries] of this.#levels.entries()) {
      const code = entries.get(tree);
      if (code === undefined || level === this.#levels.length - 1) return code;
      if (kindOfCode(code) !== "tree") return ABSENT;
      tree = numberOfCode(code);
    }
    return undefined;
  }

  /** Reads what `find` needs for these root trees.
   * @throws GitError "storage-failed" when a tree cannot be read */
  async load(roots: Iterable<ObjectNumber>, budget: WorkBudget): Promise<void> {
    let trees = new Set(roots);
    for (const [level, name] of this.#names.entries()) {
      const entries = this.#levels[level]!;
      const unknown = [...trees].filter((tree) => !entries.has(tree));
      if (unknown.length > 0) await this.#look(unknown, name, entries, budget);
      const codes = Array.from(trees, (tree) => entries.get(tree)!);
      trees = new Set(codes.filter((code) => kindOfCode(code) === "tree").map(numberOfCode));
    }
    this.#memory.trim();
  }

  /** Searches trees for a name. */
  async #look(
    trees: readonly ObjectNumber[],
    name: string,
    entries: Map<ObjectNumber, EntryCode>,
    budget: WorkBudget,
  ): Promise<void> {
    const found: { tree: ObjectNumber; mode: number; hex: string }[] = [];
    const oids = new Map<string, Oid>();
    const { reader } = this.#repository;
    for await (const [tree, { bytes }] of reader.readEach(NumberSet.fromUnsorted(trees))) {
      const entry = findTreeEntry(bytes, name);
      if (entry === null) entries.set(tree, ABSENT);
      else {
        const hex = toHex(entry.oid);
        found.push({ tree, mode: entry.mode, hex });
        if (!oids.has(hex)) oids.set(hex, entry.oid.slice());
      }
      await budget.step(stepsToRead(bytes.length));
    }
    const numbers = this.#repository.tables.objects.lookupMany(concatOids([...oids.values()])).number;
    const numberOf = new Map(Array.from(oids.keys(), (hex, i) => [hex, numbers[i]!]));
    for (const { tree, mode, hex } of found) entries.set(tree, this.#memory.encode(mode, hex, numberOf.get(hex)!));
  }
}

/** The cached entries of a repository's trees. */
class EntryMemory {
  readonly #byName = new Map<string, Map<ObjectNumber, EntryCode>>();
  /** Gitlinks have no object number: their codes are negative. */
  readonly #gitlinks = new Map<string, EntryCode>();

  /** The entries of a name, by tree. */
  entriesOf(name: string): Map<ObjectNumber, EntryCode> {
    const entries = this.#byName.get(name) ?? new Map<ObjectNumber, EntryCode>();
    // Move the name to the end: the name used last is dropped last.
    this.#byName.delete(name);
    this.#byName.set(name, entries);
    return entries;
  }

  encode(mode: number, hex: string, number: ObjectNumber): EntryCode {
    if (typeOfMode(mode) !== "commit") return number * KIND_SHIFT + MODES.indexOf(canonicalMode(mode));
    const code = this.#gitlinks.get(hex) ?? -1 - this.#gitlinks.size;
    this.#gitlinks.set(hex, code);
    return code;
  }

  /** Drops names until the cache is small enough. A caller that holds a name's entries keeps
   * them. */
  trim(): void {
    let count = 0;
    for (const entries of this.#byName.values()) count += entries.size;
    for (const [name, entries] of this.#byName) {
      if (count <= MAX_REMEMBERED) return;
      this.#byName.delete(name);
      count -= entries.size;
    }
  }
}

const MEMORIES = new WeakMap<RepositoryState, EntryMemory>();

function memoryOf(state: RepositoryState): EntryMemory {
  const memory = MEMORIES.get(state) ?? new EntryMemory();
  MEMORIES.set(state, memory);
  return memory;
}
