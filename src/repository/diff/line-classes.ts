import { type TextLines, withoutBlanks } from "./text-lines.ts";

/** One side of a comparison. */
export interface DiffSide {
  readonly lines: TextLines;
  /** Equal lines of both sides have the same class, a number below `classCount`. */
  readonly classes: Int32Array;
  readonly classCount: number;
  /** 1 for each line without a counterpart on the other side. Has one entry more than there are
   * lines, always 0. */
  readonly changed: Uint8Array;
}

/** The budget of a comparison. Once it is spent, lines not yet compared count as changed. */
export interface Effort {
  stepsLeft: number;
}

/** Prepares both sides for a comparison: lines become class numbers, none is marked as changed.
 * @param ignoresBlanks whether lines are equal that differ only in blanks */
export function makeSides(old: TextLines, next: TextLines, ignoresBlanks = false): [DiffSide, DiffSide] {
  const table = new LineTable(old.count + next.count);
  const oldClasses = table.classify(ignoresBlanks ? withoutBlanks(old) : old);
  const nextClasses = table.classify(ignoresBlanks ? withoutBlanks(next) : next);
  const classCount = table.count;
  return [
    { lines: old, classes: oldClasses, classCount, changed: new Uint8Array(old.count + 1) },
    { lines: next, classes: nextClasses, classCount, changed: new Uint8Array(next.count + 1) },
  ];
}

/** The different lines seen so far, in an open-addressing hash table. */
class LineTable {
  count = 0;
  /** Class + 1, or 0 where the slot is free. */
  readonly #slots: Int32Array;
  // For each class: its hash, and the position of one line of it.
  readonly #hashes: Int32Array;
  readonly #texts: Uint8Array[] = [];
  readonly #starts: Uint32Array;
  readonly #ends: Uint32Array;

  constructor(lineCount: number) {
    this.#slots = new Int32Array(1 << (33 - Math.clz32(lineCount | 1)));
    this.#hashes = new Int32Array(lineCount);
    this.#starts = new Uint32Array(lineCount);
    this.#ends = new Uint32Array(lineCount);
  }

  classify(lines: TextLines): Int32Array {
    const { bytes, starts } = lines;
    const classes = new Int32Array(lines.count);
    for (let i = 0; i < lines.count; i++) classes[i] = this.#classOf(bytes, starts[i]!, starts[i + 1]!);
    return classes;
  }

  #classOf(bytes: Uint8Array, start: number, end: number): number {
    let hash = 0x811c9dc5;
    for (let at = start; at < end; at++) hash = Math.imul(hash ^ bytes[at]!, 0x01000193);
    hash ^= hash >>> 15;
    const mask = this.#slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const found = this.#slots[slot]! - 1;
      if (found === -1) return this.#add(slot, hash, bytes, start, end);
      if (this.#hashes[found] === hash && this.#isLine(found, bytes, start, end)) return found;
    }
  }

  #add(slot: number, hash: number, bytes: Uint8Array, start: number, end: number): number {
    const added = this.count++;
    this.#slots[slot] = this.count;
    this.#hashes[added] = hash;
    this.#texts.push(bytes);
    this.#starts[added] = start;
    this.#ends[added] = end;
    return added;
  }

  #isLine(known: number, bytes: Uint8Array, start: number, end: number): boolean {
    const text = this.#texts[known]!;
    let other = this.#starts[known]!;
    if (end - start !== this.#ends[known]! - other) return false;
    for (let at = start; at < end; at++, other++) if (bytes[at] !== text[other]) return false;
    return true;
  }
}
