// Walks over the entries of a tree's content. Nothing is allocated for skipped entries: a directory
// may have a million, while a page shows a thousand and a change names one.
import { SLASH, SPACE, fromByteString, toByteString } from "./byte-string.ts";
import type { ByteRange } from "./conditional-request.ts";
import { OID_BYTES, type Oid } from "./oid.ts";
import { canonicalMode, parseMode, TREE_MODE, type TreeEntry } from "./tree.ts";

/** A position in a tree. */
export class TreeCursor {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  #at: number;
  #nameAt = 0;
  #nul = 0;
  #mode = 0;
  #canonicalMode = 0;

  /** @param bytes contain the content of a tree that passed fsck
   * @param range place of the content in `bytes`; default: all of them
   * @param offset of the first entry in the content
   * @throws GitError "corrupt-object" on a mode that is not octal */
  constructor(bytes: Uint8Array, { start, length }: ByteRange = { start: 0, length: bytes.length }, offset = 0) {
    this.#bytes = bytes;
    this.#at = start + offset;
    this.#end = start + length;
    this.#parse();
  }

  /** Bytes from this entry to the end. */
  get bytesLeft(): number {
    return Math.max(0, this.#end - this.#at);
  }

  /** Whether the cursor is behind the last entry. */
  get isAtEnd(): boolean {
    return this.#at >= this.#end;
  }

  /** Offset of the entry. */
  get at(): number {
    return this.#at;
  }

  get isTree(): boolean {
    return this.#canonicalMode === TREE_MODE;
  }

  /** Mode as written. */
  get mode(): number {
    return this.#mode;
  }

  /** Mode in git's canonical form. */
  get canonicalMode(): number {
    return this.#canonicalMode;
  }

  /** Whether the mode is written as git writes it. */
  get isCanonical(): boolean {
    const digits = this.#nameAt - 1 - this.#at;
    return this.#mode === this.#canonicalMode && digits === (this.isTree ? 5 : 6);
  }

  /** Byte string. */
  get name(): string {
    return toByteString(this.#bytes.subarray(this.#nameAt, this.#nul));
  }

  get nameBytes(): number {
    return this.#nul - this.#nameAt;
  }

  get oidAt(): number {
    return this.#nul + 1;
  }

  /** The entry's id, a view of the content. */
  get oid(): Oid {
    return this.#bytes.subarray(this.oidAt, this.oidAt + OID_BYTES);
  }

  /** The entry here. Its `oid` is a view of the content. */
  get entry(): TreeEntry {
    return { mode: this.#mode, name: this.name, oid: this.oid };
  }

  advance(): void {
    this.#at = this.oidAt + OID_BYTES;
    this.#parse();
  }

  /** Compares the positions of two entries in tree order: negative, zero or positive. The end
   * comes last. */
  compare(other: TreeCursor): number {
    if (this.isAtEnd || other.isAtEnd) return other.bytesLeft - this.bytesLeft;
    for (let k = 0; ; k++) {
      const left = this.#sortByte(k);
      const right = other.#sortByte(k);
      if (left !== right) return left - right;
      if (left < 0) return 0;
    }
  }

  /** Compares the entry's position with a name's: negative, zero or positive.
   * @param key the name's bytes, a directory's with a slash appended */
  compareKey(key: Uint8Array): number {
    const { length } = key;
    for (let k = 0; k < length; k++) {
      const byte = this.#sortByte(k);
      if (byte !== key[k]) return byte - key[k]!;
    }
    return this.#sortByte(length) < 0 ? 0 : 1;
  }

  /** Whether two entries of the same name have equal modes and ids, as git sees them. */
  isSameAs(other: TreeCursor): boolean {
    if (this.#canonicalMode !== other.#canonicalMode) return false;
    for (let k = 0; k < OID_BYTES; k++) {
      if (this.#bytes[this.oidAt + k] !== other.#bytes[other.oidAt + k]) return false;
    }
    return true;
  }

  /** Byte of the name in git's sort order, where a directory's name ends in a slash; −1: behind
   * the end. */
  #sortByte(k: number): number {
    const at = this.#nameAt + k;
    if (at < this.#nul) return this.#bytes[at]!;
    return at === this.#nul && this.isTree ? SLASH : -1;
  }

  #parse(): void {
    if (this.isAtEnd) return;
    const space = this.#find(SPACE, this.#at);
    this.#nameAt = space + 1;
    this.#nul = this.#find(0, this.#nameAt);
    this.#mode = parseMode(this.#bytes, this.#at, space);
    this.#canonicalMode = canonicalMode(this.#mode);
  }

  #find(byte: number, from: number): number {
    let at = from;
    while (at < this.#end && this.#bytes[at] !== byte) at++;
    return at;
  }
}

/** The key by which an entry sorts, as a byte string: a directory's name has a slash appended. */
export function sortKey({ isTree, name }: Pick<TreeCursor, "isTree" | "name">): string {
  return isTree ? `${name}/` : name;
}

/** Counts the entries of a tree.
 * @param content of a tree that passed fsck */
export function countEntries(content: Uint8Array): number {
  let count = 0;
  for (let at = 0; at < content.length; count++) at = content.indexOf(0, at) + 1 + OID_BYTES;
  return count;
}

/** Offsets of a tree's entries, for many lookups: four bytes an entry. */
export class TreeIndex {
  readonly #content: Uint8Array;
  readonly #places: Uint32Array;

  /** @param content of a tree that passed fsck and so is sorted */
  constructor(content: Uint8Array) {
    this.#content = content;
    let places = new Uint32Array(64);
    let count = 0;
    for (let at = 0; at < content.length; at = content.indexOf(0, at) + 1 + OID_BYTES) {
      if (count === places.length) {
        const grown = new Uint32Array(2 * count);
        grown.set(places);
        places = grown;
      }
      places[count++] = at;
    }
    this.#places = places.subarray(0, count);
  }

  /** Number of entries. */
  get size(): number {
    return this.#places.length;
  }

  /** Finds an entry by its name.
   * @param name byte string
   * @returns null if there is none; its `oid` is a view of the content */
  find(name: string): TreeEntry | null {
    return this.#findKey(fromByteString(name)) ?? this.#findKey(fromByteString(`${name}/`));
  }

  #findKey(key: Uint8Array): TreeEntry | null {
    let low = 0;
    let high = this.#places.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const offset = this.#places[middle]!;
      const cursor = new TreeCursor(this.#content, { start: offset, length: this.#content.length - offset });
      const order = cursor.compareKey(key);
      if (order === 0) return cursor.entry;
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    return null;
  }
}

/** Names to find in many trees, with one pass over each. */
export class EntryNames {
  /** Sort keys in tree order. Each name has two: as a file and as a directory. */
  readonly #places: readonly { readonly key: Uint8Array; readonly name: string }[];

  /** @param names byte strings */
  constructor(names: readonly string[]) {
    const keys = names.flatMap((name) => [[name, name] as const, [`${name}/`, name] as const]);
    keys.sort(([a], [b]) => (a < b ? -1 : 1));
    this.#places = keys.map(([key, name]) => ({ key: fromByteString(key), name }));
  }

  /** Finds the tree's entries with these names, by name. Nothing of the content is kept.
   * @param content of a tree that passed fsck and so is sorted */
  find(content: Uint8Array): Map<string, TreeEntry> {
    const found = new Map<string, TreeEntry>();
    const cursor = new TreeCursor(content);
    for (let i = 0; i < this.#places.length && !cursor.isAtEnd;) {
      const { key, name } = this.#places[i]!;
      const order = cursor.compareKey(key);
      if (order === 0) found.set(name, { mode: cursor.mode, name, oid: cursor.oid.slice() });
      if (order >= 0) i += 1;
      else cursor.advance();
    }
    return found;
  }
}
