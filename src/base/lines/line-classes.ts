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
  /** Buffer for the counts of classes: at least `classCount` zeros, which are zeros again after
   * the comparison. Without it, one is allocated. */
  readonly counts?: Uint32Array;
}

/** The budget of a comparison. Once it is spent, lines not yet compared count as changed. */
export interface Effort {
  stepsLeft: number;
}

/** Prepares both sides for a comparison: lines become class numbers, none is marked as changed.
 * @param ignoresBlanks whether to ignore whitespace within lines */
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

/** Bytes of a block of copied lines. */
const BLOCK_BYTES = 64 * 1024;

/** Initial capacity of a table in lines. A text of millions of lines may have few different
 * ones. */
const MIN_LINES = 16;
const MAX_FIRST_LINES = 64 * 1024;

/** The different lines seen so far, in an open-addressing hash table. */
export class LineTable {
  count = 0;
  /** Class + 1, or 0 where the slot is free. */
  #slots: Int32Array;
  // For each class: its hash, and the position of one line of it.
  #hashes: Int32Array;
  readonly #texts: Uint8Array[] = [];
  #starts: Uint32Array;
  #ends: Uint32Array;
  readonly #copiesLines: boolean;
  #block = new Uint8Array(0);
  #blockUsed = 0;
  #blockBytes = 0;

  /** @param lineCount approximate number of different lines
   * @param copiesLines whether each different line is copied, so that texts need not be kept */
  constructor(lineCount: number, copiesLines = false) {
    const capacity = Math.max(MIN_LINES, Math.min(lineCount, MAX_FIRST_LINES));
    this.#slots = new Int32Array(slotsFor(capacity));
    this.#hashes = new Int32Array(capacity);
    this.#starts = new Uint32Array(capacity);
    this.#ends = new Uint32Array(capacity);
    this.#copiesLines = copiesLines;
  }

  /** Approximate bytes in memory. */
  get sizeBytes(): number {
    return this.#blockBytes + 4 * this.#slots.length + 12 * this.#hashes.length + 8 * this.#texts.length;
  }

  /** Finds the classes of a text's lines. */
  classify(lines: TextLines): Int32Array {
    const { bytes, starts } = lines;
    const classes = new Int32Array(lines.count);
    for (let i = 0; i < lines.count; i++) classes[i] = this.classOf(bytes, starts[i]!, starts[i + 1]!);
    return classes;
  }

  /** Finds the class of one line. */
  classOf(bytes: Uint8Array, start: number, end: number): number {
    let hash = 0x811c9dc5;
    for (let at = start; at < end; at++) hash = Math.imul(hash ^ bytes[at]!, 0x01000193);
    hash ^= hash >>> 15;
    const mask = this.#slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const found = this.#slots[slot]! - 1;
      if (found === -1) {
        if (this.count < this.#hashes.length) return this.#add(slot, hash, bytes, start, end);
        this.#grow();
        return this.classOf(bytes, start, end);
      }
      if (this.#hashes[found] === hash && this.#isLine(found, bytes, start, end)) return found;
    }
  }

  #add(slot: number, hash: number, bytes: Uint8Array, start: number, end: number): number {
    const added = this.count++;
    this.#slots[slot] = this.count;
    this.#hashes[added] = hash;
    if (this.#copiesLines) this.#copy(bytes.subarray(start, end));
    this.#texts.push(this.#copiesLines ? this.#block : bytes);
    this.#starts[added] = this.#copiesLines ? this.#blockUsed - (end - start) : start;
    this.#ends[added] = this.#copiesLines ? this.#blockUsed : end;
    return added;
  }

  #grow(): void {
    const capacity = 2 * this.#hashes.length;
    this.#hashes = copyInto(new Int32Array(capacity), this.#hashes);
    this.#starts = copyInto(new Uint32Array(capacity), this.#starts);
    this.#ends = copyInto(new Uint32Array(capacity), this.#ends);
    this.#slots = new Int32Array(slotsFor(capacity));
    const mask = this.#slots.length - 1;
    for (let known = 0; known < this.count; known++) {
      let slot = this.#hashes[known]! & mask;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
      this.#slots[slot] = known + 1;
    }
  }

  /** Copies a line to the end of the block, or of a new one where it does not fit. */
  #copy(line: Uint8Array): void {
    if (this.#blockUsed + line.length > this.#block.length) {
      this.#block = new Uint8Array(Math.max(BLOCK_BYTES, line.length));
      this.#blockBytes += this.#block.length;
      this.#blockUsed = 0;
    }
    this.#block.set(line, this.#blockUsed);
    this.#blockUsed += line.length;
  }

  #isLine(known: number, bytes: Uint8Array, start: number, end: number): boolean {
    const text = this.#texts[known]!;
    let other = this.#starts[known]!;
    if (end - start !== this.#ends[known]! - other) return false;
    for (let at = start; at < end; at++, other++) if (bytes[at] !== text[other]) return false;
    return true;
  }
}

/** Number of slots: a power of two, and at least twice the number of lines. */
function slotsFor(lineCount: number): number {
  return 1 << (33 - Math.clz32(lineCount | 1));
}

/** Copies numbers to the beginning of a larger array.
 * @returns the larger array */
export function copyInto<Numbers extends Int32Array | Uint32Array>(larger: Numbers, numbers: Numbers): Numbers {
  larger.set(numbers);
  return larger;
}
