// Finds objects by id. An entry is the first four bytes of an id and an object number; a search
// compares the whole id with the object's row. Entries lie in runs, each sorted, so that a few new
// entries cost no more than the last page. Runs are merged so that there are few: a run is at least
// twice as long as the next, as with the packs of `git repack --geometric`.
//
// An entry may outlive its object, whose number is never used again.
import type { Column } from "../../../base/format/kinds.ts";
import { OID_BYTES } from "../../../base/format/oid.ts";
import type { ObjectNumber } from "../../../base/numbers/kinds.ts";
import { sortIndices, finishAtOnce } from "../../../base/numbers/number-set.ts";
import type { Sql } from "../sql/sql.ts";
import { lastPageFrom } from "./fences.ts";
import type { StagedRows } from "./staged-rows.ts";

/** Entries of a page, 8 bytes each. */
const PAGE_ENTRIES = 65_536;

/** Entries, ascending by prefix. */
export interface IdEntries {
  readonly prefixes: Uint32Array;
  readonly numbers: Column<ObjectNumber>;
}

function prefixOf(oids: Uint8Array, at: number): number {
  return ((oids[at]! << 24) | (oids[at + 1]! << 16) | (oids[at + 2]! << 8) | oids[at + 3]!) >>> 0;
}

/** Takes the first four bytes of each packed id. */
export function prefixesOf(oids: Uint8Array): Uint32Array {
  const prefixes = new Uint32Array(oids.length / OID_BYTES);
  for (let i = 0; i < prefixes.length; i++) prefixes[i] = prefixOf(oids, i * OID_BYTES);
  return prefixes;
}

/** Makes sorted entries of objects.
 * @param oids packed, in the order of `numbers` */
export function toEntries(oids: Uint8Array, numbers: Column<ObjectNumber>): IdEntries {
  return finishAtOnce(toEntriesInSteps(oids, numbers));
}

/** As `toEntries`, for many objects: yields between steps. */
export function* toEntriesInSteps(oids: Uint8Array, numbers: Column<ObjectNumber>): Generator<void, IdEntries> {
  const prefixes = prefixesOf(oids);
  yield;
  const order = sortIndices(prefixes);
  yield;
  const entries = { prefixes: new Uint32Array(order.length), numbers: new Uint32Array(order.length) };
  for (let i = 0; i < order.length; i++) entries.prefixes[i] = prefixes[order[i]!]!;
  yield;
  for (let i = 0; i < order.length; i++) entries.numbers[i] = numbers[order[i]!]!;
  return entries;
}

/** Number of prefix bits by which many entries are divided before they are sorted. */
const RANGE_BITS = 16;

/** Number of entries that are sorted at a time. */
const RANGE_ENTRIES = 4 * PAGE_ENTRIES;

/** Makes the entries of more objects than can be sorted at once: in parts, each above the one
 * before.
 * @param prefixes of the ids of consecutive numbers, from `first` on */
export function* toEntryParts(prefixes: Uint32Array, first: ObjectNumber): Generator<IdEntries> {
  const shift = 32 - RANGE_BITS;
  const counts = new Uint32Array(2 ** RANGE_BITS);
  for (const prefix of prefixes) counts[prefix >>> shift]! += 1;
  for (let range = 0; range < counts.length;) {
    const from = range;
    let count = counts[range++]!;
    while (range < counts.length && count + counts[range]! <= RANGE_ENTRIES) count += counts[range++]!;
    if (count === 0) continue;
    const part = { prefixes: new Uint32Array(count), numbers: new Uint32Array(count) };
    let length = 0;
    for (let i = 0; length < count; i++) {
      const high = prefixes[i]! >>> shift;
      if (high < from || high >= range) continue;
      part.prefixes[length] = prefixes[i]!;
      part.numbers[length++] = first + i;
    }
    const order = sortIndices(part.prefixes);
    yield {
      prefixes: Uint32Array.from(order, (i) => part.prefixes[i]!),
      numbers: Uint32Array.from(order, (i) => part.numbers[i]!),
    };
  }
}

/** Merges two lists of entries; an entry in both is in the result once. */
export function mergeEntries(a: IdEntries, b: IdEntries): IdEntries {
  const prefixes = new Uint32Array(a.prefixes.length + b.prefixes.length);
  const numbers = new Uint32Array(prefixes.length);
  let length = 0;
  for (let i = 0, j = 0; i < a.prefixes.length || j < b.prefixes.length;) {
    const difference = (a.prefixes[i] ?? Infinity) - (b.prefixes[j] ?? Infinity) || a.numbers[i]! - b.numbers[j]!;
    const from = difference > 0 ? b : a;
    const at = difference > 0 ? j : i;
    prefixes[length] = from.prefixes[at]!;
    numbers[length++] = from.numbers[at]!;
    if (difference <= 0) i++;
    if (difference >= 0) j++;
  }
  return { prefixes: prefixes.subarray(0, length), numbers: numbers.subarray(0, length) };
}

/** Finds the first entry whose prefix is not lower.
 * @param from earliest index of that entry; the search is faster if it is near */
export function firstFrom(prefixes: ArrayLike<number>, prefix: number, from = 0): number {
  let low = from;
  let step = 1;
  for (; low + step < prefixes.length && prefixes[low + step]! < prefix; step *= 2) low += step;
  let high = Math.min(prefixes.length, low + step);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (prefixes[middle]! < prefix) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A page's bounds, without its entries. */
interface Fence {
  /** Lowest prefix of the page; its prefixes are below the next page's. The first page of a run
   * also has all lower ones. */
  readonly first: number;
  readonly count: number;
}

/** A run's pages. */
export interface Run {
  readonly id: number;
  fences: Fence[];
}

/** The runs: table `object_ids`. Fences are in memory; pages are weakly held: the garbage
 * collector may drop them. Writing methods must run in a transaction. */
export class IdRuns {
  readonly #sql: Sql;
  readonly #staged: Pick<StagedRows, "get">;
  /** Runs from the longest to the newest. */
  #runs: Run[] | null = null;
  #pages = new Map<string, WeakRef<IdEntries>>();

  constructor(sql: Sql, staged: Pick<StagedRows, "get">) {
    this.#sql = sql;
    this.#staged = staged;
  }

  /** Clears the cache, which may differ from the table. */
  forget(): void {
    this.#runs = null;
    this.#pages.clear();
  }

  /** Finds candidate numbers of the objects with some prefixes.
   * @param prefixes ascending
   * @param found receives the index of a prefix, and a number */
  find(prefixes: Uint32Array, found: (i: number, number: ObjectNumber) => void): void {
    for (const { id, fences } of this.#all()) {
      for (let i = 0; i < prefixes.length;) {
        const f = pageOf(fences, prefixes[i]!);
        const page = this.#read(id, fences[f]!);
        const end = fences[f + 1]?.first ?? Infinity;
        for (let at = 0; i < prefixes.length && prefixes[i]! < end; i++) {
          at = firstFrom(page.prefixes, prefixes[i]!, at);
          for (let same = at; page.prefixes[same] === prefixes[i]; same++) found(i, page.numbers[same]!);
        }
      }
    }
  }

  /** Yields candidate numbers of the objects with prefixes in a range.
   * @param last inclusive */
  *inRange(first: number, last: number): Generator<ObjectNumber> {
    for (const { id, fences } of this.#all()) {
      for (let f = pageOf(fences, first); f < fences.length && (f === 0 || fences[f]!.first <= last); f++) {
        const { prefixes, numbers } = this.#read(id, fences[f]!);
        for (let at = firstFrom(prefixes, first); prefixes[at]! <= last; at++) yield numbers[at]!;
      }
    }
  }

  /** Adds entries to the newest run while it has one page, else as a new run. */
  add(entries: IdEntries): void {
    const runs = this.#all();
    const count = entries.prefixes.length;
    if (count === 0) return;
    const newest = runs.at(-1);
    if (newest !== undefined && newest.fences.length === 1 && newest.fences[0]!.count + count <= PAGE_ENTRIES) {
      return this.#put(newest, entries);
    }
    const run = { id: this.nextRun(), fences: [] };
    this.#write(run, 0, entries, null);
    runs.push(run);
  }

  /** Id of the next run. */
  nextRun(): number {
    return (this.#all().at(-1)?.id ?? 0) + 1;
  }

  /** Writes entries as the next run, which must be staged. Yields after each page.
   * @param parts parts of the entries, each above the one before */
  *stage(parts: Iterable<IdEntries>): Generator<void, Run> {
    const run: Run = { id: this.nextRun(), fences: [] };
    for (const entries of parts) {
      for (const part of divide(entries)) {
        this.#store(run, part.prefixes[0]!, part, false);
        run.fences.push({ first: part.prefixes[0]!, count: part.prefixes.length });
        yield;
      }
    }
    return run;
  }

  /** Removes staged entries. */
  unstage(run: number): void {
    this.#sql.exec("DELETE FROM object_ids WHERE run >= ?", run);
    this.#pages.clear();
  }

  /** Adds a run that was staged. */
  addStaged(run: Run): void {
    this.#all().push(run);
  }

  /** Whether any run is less than twice as long as the next. */
  isMergeDue(): boolean {
    return this.#mergePair() !== null;
  }

  /** Moves a page of a run into the run before it, if a merge is due.
   * @param isGone whether an object was removed */
  merge(isGone: (number: ObjectNumber) => boolean): void {
    const pair = this.#mergePair();
    if (pair === null) return;
    const { longer, shorter } = pair;
    const [fence] = shorter.fences;
    const { prefixes, numbers } = this.#read(shorter.id, fence!);
    this.#put(longer, {
      prefixes: prefixes.filter((_, i) => !isGone(numbers[i]!)),
      numbers: numbers.filter((number) => !isGone(number)),
    });
    this.#remove(shorter, fence!);
    shorter.fences.shift();
    if (shorter.fences.length === 0) this.#runs = this.#all().filter((run) => run !== shorter);
  }

  /** Finds the newest two adjacent runs whose older one is less than twice as long; null: none. */
  #mergePair(): { longer: Run; shorter: Run } | null {
    const runs = this.#all();
    const k = runs.findLastIndex((run, i) => i > 0 && sizeOf(runs[i - 1]!) < 2 * sizeOf(run));
    return k < 0 ? null : { longer: runs[k - 1]!, shorter: runs[k]! };
  }

  /** Adds entries to the pages of a run. */
  #put(run: Run, { prefixes, numbers }: IdEntries): void {
    for (let from = 0; from < prefixes.length;) {
      const f = pageOf(run.fences, prefixes[from]!);
      const end = firstFrom(prefixes, run.fences[f + 1]?.first ?? Infinity);
      const added = { prefixes: prefixes.subarray(from, end), numbers: numbers.subarray(from, end) };
      this.#write(run, f, mergeEntries(this.#read(run.id, run.fences[f]!), added), run.fences[f]!);
      from = end;
    }
  }

  /** Writes the entries of one page, divided into pages of equal length if there are too many.
   * @param former the page's fence; null: it is new */
  #write(run: Run, f: number, entries: IdEntries, former: Fence | null): void {
    const fences: Fence[] = [];
    const parts = [...divide(entries)];
    // The first page of a run may have received so many lower prefixes that even its second part
    // begins below the page's fence.
    const isKept = former !== null && former.first < (parts[1]?.prefixes[0] ?? Infinity);
    if (former !== null && !isKept) this.#remove(run, former);
    for (const part of parts) {
      const exists = isKept && fences.length === 0;
      const first = exists ? former.first : part.prefixes[0]!;
      this.#store(run, first, part, exists);
      fences.push({ first, count: part.prefixes.length });
    }
    run.fences = [...run.fences.slice(0, f), ...fences, ...run.fences.slice(f + (former === null ? 0 : 1))];
  }

  #store(run: Run, first: number, entries: IdEntries, exists: boolean): void {
    const words = new Uint32Array(entries.prefixes.length * 2);
    words.set(entries.prefixes);
    words.set(entries.numbers as Uint32Array, entries.prefixes.length);
    this.#sql.exec(
      exists
        ? "UPDATE object_ids SET entries = ?3 WHERE run = ?1 AND first = ?2"
        : "INSERT INTO object_ids (run, first, entries) VALUES (?1, ?2, ?3)",
      run.id,
      first,
      new Uint8Array(words.buffer),
    );
    this.#pages.set(`${run.id}.${first}`, new WeakRef(entries));
  }

  #remove(run: Run, { first }: Fence): void {
    this.#sql.exec("DELETE FROM object_ids WHERE run = ? AND first = ?", run.id, first);
    this.#pages.delete(`${run.id}.${first}`);
  }

  #read(run: number, { first }: Fence): IdEntries {
    const key = `${run}.${first}`;
    const known = this.#pages.get(key)?.deref();
    if (known !== undefined) return known;
    const row = this.#sql
      .exec<{ entries: ArrayBuffer }>("SELECT entries FROM object_ids WHERE run = ? AND first = ?", run, first)
      .one();
    const words = new Uint32Array(row.entries);
    const entries = { prefixes: words.subarray(0, words.length / 2), numbers: words.subarray(words.length / 2) };
    this.#pages.set(key, new WeakRef(entries));
    return entries;
  }

  #all(): Run[] {
    if (this.#runs !== null) return this.#runs;
    const runs = new Map<number, Run>();
    const query = "SELECT run, first, length(entries) / 8 AS count FROM object_ids WHERE run < ? ORDER BY run, first";
    const end = this.#staged.get()?.run ?? Number.MAX_SAFE_INTEGER;
    for (const { run, ...fence } of this.#sql.exec<{ run: number; first: number; count: number }>(query, end)) {
      const known = runs.get(run);
      if (known === undefined) runs.set(run, { id: run, fences: [fence] });
      else known.fences.push(fence);
    }
    this.#runs = [...runs.values()];
    return this.#runs;
  }
}

/** Divides entries into pages of equal length. */
function* divide({ prefixes, numbers }: IdEntries): Generator<IdEntries> {
  const parts = Math.ceil(prefixes.length / PAGE_ENTRIES);
  for (let part = 0, from = 0; from < prefixes.length; part++) {
    const middle = Math.max(from + 1, Math.ceil(((part + 1) * prefixes.length) / parts));
    // Keeps equal prefixes together.
    const end = middle >= prefixes.length ? prefixes.length : firstFrom(prefixes, prefixes[middle - 1]! + 1);
    yield { prefixes: prefixes.slice(from, end), numbers: numbers.slice(from, end) };
    from = end;
  }
}

function sizeOf(run: Run): number {
  return run.fences.reduce((sum, { count }) => sum + count, 0);
}

/** Finds the page of a prefix. */
function pageOf(fences: readonly Fence[], prefix: number): number {
  return Math.max(0, lastPageFrom(fences, prefix));
}
