// Compares the contents of two trees byte by byte. Most bytes are equal, so few entries are parsed.
// Hundreds of thousands of trees are compared in a row, so little is allocated for each.
import type { ByteRange } from "./conditional-request.ts";
import { OID_BYTES } from "./oid.ts";
import { TreeCursor } from "./tree-cursor.ts";

/** Memory that holds the contents of objects. */
export interface ObjectMemory {
  readonly bytes: Uint8Array;
  /** The same bytes as a DataView. */
  readonly view: DataView;
}

/** A file or directory that differs. */
export interface EntryChange {
  /** Byte string. */
  readonly name: string;
  readonly isTree: boolean;
  /** Offsets of the entry's ids in memory; −1: missing on that side. A name that is a file on
   * one side and a directory on the other is two changes. */
  readonly oldAt: number;
  readonly nextAt: number;
}

/** Bytes that are compared at a time. */
const WORD_BYTES = 4;

/** Lists the differences between two trees. Modes that git does not distinguish count as equal.
 * @param old range of a tree that passed fsck; empty: there is none
 * @param next likewise
 * @param use receives each difference; returns whether to continue
 * @throws GitError "corrupt-object" on a mode that is not octal */
export function compareTrees(
  memory: ObjectMemory,
  old: ByteRange,
  next: ByteRange,
  use: (change: EntryChange) => boolean,
): void {
  const headBytes = commonHead(memory, old, next);
  const tailBytes = commonTail(memory, old, next);
  const a = new TreeCursor(memory.bytes, old, headBytes);
  const b = new TreeCursor(memory.bytes, next, headBytes);
  while (a.bytesLeft + b.bytesLeft > 0) {
    // Ends here, because the rest of both trees is equal.
    if (a.bytesLeft === b.bytesLeft && a.bytesLeft <= tailBytes) return;
    const order = a.compare(b);
    const isSame = order === 0 && a.isSameAs(b);
    if (!isSame) {
      const { name, isTree } = order <= 0 ? a : b;
      if (!use({ name, isTree, oldAt: order <= 0 ? a.oidAt : -1, nextAt: order >= 0 ? b.oidAt : -1 })) return;
    }
    if (order <= 0) a.advance();
    if (order >= 0) b.advance();
  }
}

/** Bytes of the whole entries before the first byte that differs. */
function commonHead({ bytes, view }: ObjectMemory, old: ByteRange, next: ByteRange): number {
  const [from, distance] = [old.start, next.start - old.start];
  const end = from + Math.min(old.length, next.length);
  let differs = from;
  while (differs + WORD_BYTES <= end && view.getUint32(differs, true) === view.getUint32(differs + distance, true))
    differs += WORD_BYTES;
  while (differs < end && bytes[differs] === bytes[differs + distance]) differs++;
  // Compares words again: names are short, and each call of indexOf costs as much as a look at a
  // hundred bytes.
  let entry = from;
  for (let at = from; at + OID_BYTES < differs;) {
    const nul = nulIn(view.getUint32(at, true));
    at += nul;
    if (nul === WORD_BYTES) continue;
    at += 1 + OID_BYTES;
    if (at <= differs) entry = at;
  }
  return entry - from;
}

/** Finds the first zero byte of a little-endian word; `WORD_BYTES`: there is none. */
function nulIn(word: number): number {
  // The lowest set bit is in that byte.
  const found = (word - 0x01010101) & ~word & 0x80808080;
  return found === 0 ? WORD_BYTES : (31 - Math.clz32(found & -found)) >>> 3;
}

/** Counts the equal bytes at the end. */
function commonTail({ bytes, view }: ObjectMemory, old: ByteRange, next: ByteRange): number {
  const [end, nextEnd] = [old.start + old.length, next.start + next.length];
  const distance = nextEnd - end;
  const start = end - Math.min(old.length, next.length);
  let at = end;
  while (
    at - WORD_BYTES >= start &&
    view.getUint32(at - WORD_BYTES, true) === view.getUint32(at - WORD_BYTES + distance, true)
  )
    at -= WORD_BYTES;
  while (at > start && bytes[at - 1] === bytes[at - 1 + distance]) at--;
  return end - at;
}
