import { NO_INDEX, type PackEntry, type PackIndex } from "../../base/codec/pack-index.ts";
import { firstFrom } from "../store/index/id-runs.ts";
import { freeBytes } from "../../base/bytes/held-bytes.ts";

/** Bytes of the pack that are read at once. */
const READ_BYTES = 1024 * 1024;

/** Bytes of memory for them: what the largest index leaves of a push's 64 MiB, and at most, where
 * the isolate has memory to lend. */
const KEPT_BYTES = 3.5 * 1024 * 1024;
const MOST_BYTES = 16 * 1024 * 1024;

/** A larger entry is read when it is asked for. */
const MAX_ENTRY_BYTES = 16 * 1024;

/** Bytes of memory for where an entry is, and how long. */
const PLACE_BYTES = 10;

/** Entries that must have been asked for before the next ones are read: reading them costs a
 * request for each megabyte of the pack. */
const LEAST_SERVED = 300;

/** The entries of a pack that its unresolved deltas need: they, and what they are deltas on. They
 * are a small part of a large pack, all over it, in an order that jumps. So they are read in the
 * pack's order, and only they are kept. */
export class NeededEntries {
  readonly #offsets: Float64Array;
  /** In bytes: `MAX_ENTRY_BYTES` at most. */
  readonly #lengths: Uint16Array;
  #limitBytes = KEPT_BYTES;
  /** Those in memory: their bytes, one after another, each from its place on. */
  #first = 0;
  #places = new Uint32Array(0);
  #bytes = new Uint8Array(0);
  /** How many were asked for since the last reading. */
  #served = LEAST_SERVED;

  /** @param index of the pack, whose deltas are not all resolved */
  constructor(index: Pick<PackIndex, "count" | "offset" | "end" | "base" | "nodeOf">) {
    const { count, end } = index;
    // Behind the pack's entries are external ones.
    const lengthOf = (entry: PackEntry): number =>
      (entry + 1 < count ? index.offset(entry + 1) : end) - index.offset(entry);
    const isNeeded = new Uint8Array(count);
    let needed = 0;
    for (let entry = 0; entry < count; entry++) {
      if (index.nodeOf(entry) !== NO_INDEX) continue;
      for (let at: PackEntry = entry; at < count && isNeeded[at] === 0; at = index.base(at)) {
        isNeeded[at] = 1;
        const isSmall = lengthOf(at) <= MAX_ENTRY_BYTES;
        if (isSmall) needed += 1;
        else isNeeded[at] = 2;
      }
    }
    this.#offsets = new Float64Array(needed);
    this.#lengths = new Uint16Array(needed);
    for (let entry = 0, i = 0; entry < count; entry++) {
      if (isNeeded[entry] !== 1) continue;
      this.#offsets[i] = index.offset(entry);
      this.#lengths[i++] = lengthOf(entry);
    }
  }

  /** Bytes that it could use beyond what it may take. */
  get wantedBytes(): number {
    const all = this.#lengths.reduce((sum, length) => sum + length, PLACE_BYTES * this.#offsets.length);
    return Math.max(0, Math.min(all, MOST_BYTES) - this.#limitBytes);
  }

  /** Lets it take more memory, which the isolate has lent. */
  allow(bytes: number): void {
    this.#limitBytes += bytes;
  }

  /** Bytes in memory, without those that the isolate has lent. */
  get sizeBytes(): number {
    return Math.min(KEPT_BYTES, PLACE_BYTES * this.#offsets.length + this.#bytes.length);
  }

  /** Whether the entry at `offset` is in memory. */
  holds(offset: number): boolean {
    const i = firstFrom(this.#offsets, offset);
    return this.#offsets[i] === offset && i >= this.#first && i < this.#first + this.#places.length;
  }

  /** Copies an entry into `out`.
   * @returns its bytes; 0: it is not in memory */
  read(offset: number, out: Uint8Array): number {
    if (!this.holds(offset)) return 0;
    const i = firstFrom(this.#offsets, offset);
    const start = this.#places[i - this.#first]!;
    const length = Math.min(out.length, this.#lengths[i]!);
    out.set(this.#bytes.subarray(start, start + length));
    this.#served += 1;
    return length;
  }

  /** Whether it is worth while to read the entries from `offset` on. */
  isWorthReading(offset: number): boolean {
    return this.#served >= LEAST_SERVED && this.#offsets[firstFrom(this.#offsets, offset)] === offset;
  }

  /** Forgets those in memory. */
  clear(): void {
    this.#places = new Uint32Array(0);
    freeBytes(this.#bytes);
    this.#bytes = new Uint8Array(0);
  }

  /** Reads the entries from `offset` on, as many as there is memory for, in place of others.
   * @param read reads bytes of the pack, into a buffer of their own */
  async load(offset: number, read: (offset: number, lengthBytes: number) => Promise<Uint8Array>): Promise<void> {
    this.clear();
    this.#served = 0;
    let first = firstFrom(this.#offsets, offset);
    let end = first;
    let bytes = PLACE_BYTES * this.#offsets.length;
    while (end < this.#offsets.length && (bytes += this.#lengths[end]!) <= this.#limitBytes) end++;
    // Those before it, where those behind it leave memory.
    if (end === this.#offsets.length)
      while (first > 0 && (bytes += this.#lengths[first - 1]!) <= this.#limitBytes) first--;
    const places = new Uint32Array(end - first);
    for (let i = first + 1; i < end; i++) places[i - first] = places[i - first - 1]! + this.#lengths[i - 1]!;
    const kept = new Uint8Array(end === first ? 0 : places.at(-1)! + this.#lengths[end - 1]!);
    for (let i = first; i < end;) {
      const start = this.#offsets[i]!;
      let next = i + 1;
      while (next < end && this.#end(next) - start <= READ_BYTES) next++;
      const piece = await read(start, this.#end(next - 1) - start);
      for (; i < next; i++)
        kept.set(piece.subarray(this.#offsets[i]! - start, this.#end(i) - start), places[i - first]);
      freeBytes(piece);
    }
    this.#first = first;
    this.#places = places;
    this.#bytes = kept;
  }

  #end(i: number): number {
    return this.#offsets[i]! + this.#lengths[i]!;
  }
}
