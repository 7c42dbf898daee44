// Compares the contents of two trees byte by byte: most of both is the same, so few of their entries
// are parsed.
import { toByteString } from "./byte-string.ts";
import { OID_BYTES, type Oid } from "./oid.ts";
import { canonicalMode, parseMode, TREE_MODE } from "./tree.ts";

/** A file or directory that differs. */
export interface EntryChange {
  /** Byte string. */
  readonly name: string;
  readonly isTree: boolean;
  /** Views of the contents; null: missing on that side. A name that is a file on one side and a
   * directory on the other is two changes. */
  readonly old: Oid | null;
  readonly next: Oid | null;
}

/** Bytes that are compared at a time. */
const WORD_BYTES = 4;

const SPACE = 0x20;
const SLASH = 0x2f;

/** Lists what differs between two trees. Modes that git does not distinguish are equal.
 * @param old content of a tree that passed fsck, empty: a missing one
 * @param next likewise
 * @param use receives each difference; returns whether it wants more
 * @throws GitError "corrupt-object" on a mode that is not octal */
export function compareTrees(old: Uint8Array, next: Uint8Array, use: (change: EntryChange) => boolean): void {
  const start = commonHead(old, next);
  const tailBytes = commonTailBytes(old, next);
  const [a, b] = [new Cursor(old, start), new Cursor(next, start)];
  while (a.bytesLeft + b.bytesLeft > 0) {
    // What is left of both is the same.
    if (a.bytesLeft === b.bytesLeft && a.bytesLeft <= tailBytes) return;
    const order = a.compare(b);
    const isSame = order === 0 && a.isSameAs(b);
    if (!isSame) {
      const { name, isTree } = order <= 0 ? a : b;
      const change = { name, isTree, old: order <= 0 ? a.oid : null, next: order >= 0 ? b.oid : null };
      if (!use(change)) return;
    }
    if (order <= 0) a.advance();
    if (order >= 0) b.advance();
  }
}

/** The end of the last entry before the first byte that differs. */
function commonHead(old: Uint8Array, next: Uint8Array): number {
  const length = Math.min(old.length, next.length);
  const [a, b] = [viewOf(old), viewOf(next)];
  let differs = 0;
  while (differs + WORD_BYTES <= length && a.getUint32(differs, true) === b.getUint32(differs, true))
    differs += WORD_BYTES;
  while (differs < length && old[differs] === next[differs]) differs++;
  // Words again: names are short, and each call of indexOf costs as much as a look at a hundred bytes.
  let end = 0;
  for (let at = 0; at + OID_BYTES < differs;) {
    const nul = nulIn(a.getUint32(at, true));
    at += nul;
    if (nul === WORD_BYTES) continue;
    at += 1 + OID_BYTES;
    if (at <= differs) end = at;
  }
  return end;
}

/** The place of the first byte of a little-endian word that is 0; `WORD_BYTES`: none is. */
function nulIn(word: number): number {
  // The lowest bit that is set is in that byte.
  const found = (word - 0x01010101) & ~word & 0x80808080;
  return found === 0 ? WORD_BYTES : (31 - Math.clz32(found & -found)) >>> 3;
}

function commonTailBytes(old: Uint8Array, next: Uint8Array): number {
  const length = Math.min(old.length, next.length);
  const [a, b] = [viewOf(old), viewOf(next)];
  let [i, j] = [old.length - WORD_BYTES, next.length - WORD_BYTES];
  while (i >= 0 && j >= 0 && a.getUint32(i, true) === b.getUint32(j, true)) {
    i -= WORD_BYTES;
    j -= WORD_BYTES;
  }
  let bytes = old.length - WORD_BYTES - i;
  while (bytes < length && old[old.length - 1 - bytes] === next[next.length - 1 - bytes]) bytes++;
  return bytes;
}

function viewOf(content: Uint8Array): DataView {
  return new DataView(content.buffer, content.byteOffset, content.length);
}

/** A place in a tree. */
class Cursor {
  readonly #content: Uint8Array;
  #at: number;
  #nameAt = 0;
  #nul = 0;
  /** Of the entry here, in git's canonical form. */
  #mode = 0;

  constructor(content: Uint8Array, at: number) {
    this.#content = content;
    this.#at = at;
    this.#parse();
  }

  /** From this entry on. */
  get bytesLeft(): number {
    return Math.max(0, this.#content.length - this.#at);
  }

  get isTree(): boolean {
    return this.#mode === TREE_MODE;
  }

  get name(): string {
    return toByteString(this.#content.subarray(this.#nameAt, this.#nul));
  }

  get oid(): Oid {
    return this.#content.subarray(this.#nul + 1, this.#nul + 1 + OID_BYTES);
  }

  advance(): void {
    this.#at = this.#nul + 1 + OID_BYTES;
    this.#parse();
  }

  /** Compares the places of two entries in the order of a tree: negative, zero or positive. The end
   * comes last. */
  compare(other: Cursor): number {
    if (this.bytesLeft === 0 || other.bytesLeft === 0) return other.bytesLeft - this.bytesLeft;
    for (let k = 0; ; k++) {
      const left = this.#sortByte(k);
      const right = other.#sortByte(k);
      if (left !== right) return left - right;
      if (left < 0) return 0;
    }
  }

  /** Whether two entries of the same name are the same. */
  isSameAs(other: Cursor): boolean {
    if (this.#mode !== other.#mode) return false;
    for (let k = 1; k <= OID_BYTES; k++) {
      if (this.#content[this.#nul + k] !== other.#content[other.#nul + k]) return false;
    }
    return true;
  }

  /** A byte of the name as git sorts it: a directory's has a slash at its end; −1: none is left. */
  #sortByte(k: number): number {
    const at = this.#nameAt + k;
    if (at < this.#nul) return this.#content[at]!;
    return at === this.#nul && this.isTree ? SLASH : -1;
  }

  #parse(): void {
    if (this.bytesLeft === 0) return;
    const space = this.#content.indexOf(SPACE, this.#at);
    this.#nameAt = space + 1;
    this.#nul = this.#content.indexOf(0, this.#nameAt);
    this.#mode = canonicalMode(parseMode(this.#content, this.#at, space));
  }
}
