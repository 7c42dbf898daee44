import { BLOB } from "../../../base/format/object.ts";
import type { ChunkId, ObjectNumber } from "../../../base/numbers/kinds.ts";
import { OID_BYTES, type Oid, toHex } from "../../../base/format/oid.ts";
import { NumberSet, finishAtOnce } from "../../../base/numbers/number-set.ts";
import type { Sql } from "../sql/sql.ts";
import { AbsentObjects } from "./absent-objects.ts";
import { HotChunks } from "./hot-chunks.ts";
import { IdRuns, toEntries, toEntriesInSteps } from "./id-runs.ts";
import {
  copyRows,
  divideRows,
  joinRows,
  type Lookup,
  type MovedObjects,
  newObjectColumns,
  type ObjectColumns,
  type ObjectRow,
  PLACE,
  sliceRows,
} from "./object-columns.ts";
import { damagedIndex, ObjectPage, rowsOf } from "./object-page.ts";
import { ObjectPages } from "./object-pages.ts";
import { ObjectRows } from "./object-rows.ts";
import type { PreparedObjects } from "./prepared-objects.ts";
import { StagingObjects } from "./staging-objects.ts";
import { type Staged, StagedRows } from "./staged-rows.ts";
import { UnfiledObjects } from "./unfiled-objects.ts";

/** Commits, trees, blobs and tags. */
const ALL_TYPES = 4;
/** Rows that are looked up in one step. */
const ROWS_PER_STEP = 4_096;

/** Limit of the objects that match a prefix of an id. */
const MAX_ALIKE = 1_000;

/** The objects of the repository and their locations. Rows are in pages by number (`ObjectPages`),
 * found by id through `IdRuns`; rows of small pushes are beside their chunks at first
 * (`UnfiledObjects`). A repository has one index in memory, since the index caches; it must
 * `forget` after a transaction was rolled back. Writing methods must run in a transaction. */
export class ObjectIndex {
  /** The inline chunks, beside which the rows of small pushes are stored. */
  readonly hot: HotChunks;
  readonly #staged: StagedRows;
  readonly #pages: ObjectPages;
  readonly #ids: IdRuns;
  readonly #unfiled: UnfiledObjects;
  readonly #absent: AbsentObjects;
  readonly #rows: ObjectRows;

  constructor(sql: Sql) {
    this.#staged = new StagedRows(sql);
    this.#pages = new ObjectPages(sql, this.#staged);
    this.#ids = new IdRuns(sql, this.#staged);
    this.hot = new HotChunks(sql);
    this.#unfiled = new UnfiledObjects(this.hot);
    this.#absent = new AbsentObjects(sql);
    this.#rows = new ObjectRows(this.#pages, this.#unfiled, this.#ids, this.#absent);
  }

  /** Clears the cache, which may differ from the tables. */
  forget(): void {
    this.#staged.forget();
    this.#pages.forget();
    this.#ids.forget();
    this.#unfiled.forget();
    this.#absent.forget();
  }

  /** The highest number ever assigned; 0: none. Numbers of pruned objects are not reused. */
  lastNumber(): ObjectNumber {
    return Math.max(this.#pages.lastNumber(), this.#unfiled.lastNumber(), this.#absent.lastPruned);
  }

  /** The numbers of pruned objects. */
  pruned(): NumberSet {
    return this.#absent.pruned;
  }

  /** The numbers of hidden objects. @see AbsentObjects */
  hidden(): NumberSet {
    return this.#absent.hidden;
  }

  /** The numbers of all objects that are not hidden. */
  present(): NumberSet {
    return NumberSet.range(1, this.lastNumber() + 1)
      .difference(this.pruned())
      .difference(this.hidden());
  }

  /** Inserts rows: 10 ms per 10,000.
   * @param rows ascending by number, above all others
   * @throws GitError "storage-failed" when a number or an id exists already */
  insertMany(rows: ObjectColumns): void {
    if (rows.number.length > 0) this.insertPrepared(finishAtOnce(this.prepare(rows)));
  }

  /** Prepares rows for `insertPrepared`, in steps.
   * @param rows ascending by number, above all others
   * @throws as `insertMany` */
  *prepare(rows: ObjectColumns): Generator<void, PreparedObjects> {
    for (let from = 0; from < rows.number.length; from += ROWS_PER_STEP) {
      this.#checkNew(sliceRows(rows, from, Math.min(from + ROWS_PER_STEP, rows.number.length)));
      yield;
    }
    const ids = yield* toEntriesInSteps(rows.oid, rows.number);
    yield;
    return { ids, rows: yield* this.#pages.prepare(rows), staged: null };
  }

  /** Stages prepared rows ahead of their transaction, so that little is left to insert. Needs no
   * transaction. Yields after each row; nothing else may write in that turn. Removes earlier staged
   * rows, and its own if the generator is left before its end. */
  *stage(prepared: PreparedObjects): Generator<void, PreparedObjects> {
    if (prepared.staged !== null) return prepared;
    const first = this.#pages.firstToStage(prepared.rows);
    if (first === null || "fences" in prepared.ids) return prepared;
    this.unstage();
    const staged: Staged = { first, run: this.#ids.nextRun() };
    this.#staged.begin(staged);
    let isWhole = false;
    try {
      const rows = yield* this.#pages.stage(prepared.rows);
      const ids = yield* this.#ids.stage([prepared.ids]);
      isWhole = true;
      return { rows, ids, staged };
    } finally {
      if (!isWhole) this.unstage(staged);
    }
  }

  /** Begins to stage `count` rows as they arrive, with consecutive numbers from `first` on, above
   * all others. Removes earlier staged rows. */
  beginStaging(first: ObjectNumber, count: number): StagingObjects {
    this.unstage();
    const staged: Staged = { first, run: this.#ids.nextRun() };
    this.#staged.begin(staged);
    return new StagingObjects(staged, count, {
      pages: this.#pages,
      ids: this.#ids,
      checkNew: (rows) => this.#checkNew(rows),
      unstage: () => this.unstage(staged),
    });
  }

  /** Removes staged rows, if there are any.
   * @param staged only if they begin here */
  unstage(staged = this.#staged.get()): void {
    if (staged === null || staged !== this.#staged.get()) return;
    this.#pages.unstage(staged.first);
    this.#ids.unstage(staged.run);
    this.#staged.end();
  }

  /** Whether rows can still be inserted: all of them that were staged still exist. */
  isStaged({ staged }: PreparedObjects): boolean {
    return staged === null || staged === this.#staged.get();
  }

  /** Inserts prepared rows. Nothing may have been written since, and staged rows must still
   * exist. */
  insertPrepared({ rows, ids, staged }: PreparedObjects): void {
    if (staged === null) this.unstage();
    else this.#staged.end();
    this.#pages.insertPrepared(rows);
    if ("fences" in ids) this.#ids.addStaged(ids);
    else this.#ids.add(ids);
  }

  /** Adds the rows that are about to be written beside a chunk.
   * @param page from `encodeObjectPage`
   * @throws as `insertMany` */
  noteUnfiled(chunk: ChunkId, page: Uint8Array): void {
    const decoded = new ObjectPage(page);
    this.#checkNew(decoded.all());
    this.#unfiled.add(chunk, decoded);
  }

  /** Updates the locations of rewritten objects. The caller must release the chunks that they
   * leave. */
  move(moved: MovedObjects): void {
    const numbers = NumberSet.fromSorted(moved.number);
    const change = (rows: ObjectColumns, i: number): void => {
      const at = numbers.indexOf(rows.number[i]!);
      for (const name of PLACE) rows[name][i] = moved[name][at]!;
    };
    this.#pages.edit(numbers, change);
    const filed: ObjectColumns[] = [];
    this.#unfiled.rewrite(numbers, (rows) => {
      const { named, others } = divideRows(rows, numbers);
      named.number.forEach((_, i) => change(named, i));
      filed.push(named);
      return others;
    });
    if (filed.length > 0) this.#file(joinRows(filed));
  }

  /** Looks up packed oids: 5 ms per 10,000. An empty index answers at once. */
  lookupMany(oids: Uint8Array): Lookup {
    const count = oids.length / OID_BYTES;
    const found: Lookup = {
      number: new Uint32Array(count),
      type: new Uint8Array(count),
      size: new Float64Array(count),
      introducer: new Uint32Array(count),
    };
    this.#rows.search(oids, (i, page, at, number) => {
      const row = page.row(at);
      found.number[i] = number;
      found.type[i] = row.type;
      found.size[i] = row.size;
      found.introducer[i] = row.introducer;
    });
    return found;
  }

  /** Reads the rows of these numbers, ascending: 2 ms per 10,000.
   * @throws GitError "storage-failed" when one is missing */
  locate(numbers: NumberSet): ObjectColumns {
    const rows = this.locateExisting(numbers);
    if (rows.number.length < numbers.size)
      throw damagedIndex(`has only ${rows.number.length} of ${numbers.size} objects`);
    return rows;
  }

  /** Reads the rows of those numbers that exist, ascending. */
  locateExisting(numbers: NumberSet): ObjectColumns {
    const rows = newObjectColumns(numbers.size);
    let count = 0;
    for (const { page, wanted } of this.#rows.parts(numbers)) {
      for (const { part, from, end } of rowsOf(page, wanted)) {
        copyRows(part, from, end, rows, numbers.indexOf(part.number[from]!));
        count += end - from;
      }
    }
    // Drops absent objects, which have number 0.
    return count === numbers.size ? rows : divideRows(rows, NumberSet.of(0)).others;
  }

  /** Adds all objects on the delta chains of these objects. */
  withBases(numbers: NumberSet): NumberSet {
    const found = new Set<ObjectNumber>();
    let page: ObjectPage | null = null;
    for (const number of numbers.toArray()) {
      for (let at = number; at !== 0 && !found.has(at);) {
        if (page === null || !page.numbers.has(at)) page = this.#rows.pageOf(at);
        if (page === null) break;
        found.add(at);
        at = page.row(page.numbers.indexOf(at)).base;
      }
    }
    return NumberSet.fromUnsorted(found);
  }

  /** Selects the objects that have one of the types, without blobs of `blobLimitBytes` or more. */
  passing(numbers: NumberSet, types: ReadonlySet<number>, blobLimitBytes: number): NumberSet {
    if (types.size === ALL_TYPES && blobLimitBytes === Infinity) return numbers;
    return this.#rows.select(
      numbers,
      ({ type, size }, i) => types.has(type[i]!) && (type[i] !== BLOB || size[i]! < blobLimitBytes),
    );
  }

  /** Finds the other objects, including hidden ones, that are stored as deltas on one of these.
   * Reads every row. */
  dependents(bases: NumberSet): NumberSet {
    if (bases.size === 0) return NumberSet.EMPTY;
    return this.#rows.select(
      this.present().union(this.hidden()),
      ({ number, base }, i) => bases.has(base[i]!) && !bases.has(number[i]!),
    );
  }

  /** Finds the objects in a chunk.
   * @param first lowest possible number, `last` the highest */
  inChunk(chunk: ChunkId, first: ObjectNumber, last: ObjectNumber): NumberSet {
    return this.#rows.select(NumberSet.range(first, last + 1), (rows, i) => rows.chunk[i] === chunk);
  }

  /** Sums the stored bytes of the objects in a chunk; parameters as `inChunk`. */
  bytesIn(chunk: ChunkId, first: ObjectNumber, last: ObjectNumber): number {
    return this.locate(this.inChunk(chunk, first, last)).length.reduce((sum, bytes) => sum + bytes, 0);
  }

  /** Finds the ids of the chunks that contain objects. */
  chunksOf(numbers: NumberSet): Set<ChunkId> {
    const found = new Set<ChunkId>();
    this.#rows.select(numbers, ({ chunk }, i) => {
      found.add(chunk[i]!);
      return false;
    });
    return found;
  }

  /** Reads the row of one id. */
  find(oid: Oid): ObjectRow | null {
    let row: ObjectRow | null = null;
    this.#rows.search(oid, (_, page, at) => {
      row = { oid, ...page.row(at) };
    });
    return row;
  }

  /** Finds the numbers of objects whose ids begin with a prefix, at most 1,000.
   * @param prefix at least one hex digit */
  withPrefix(prefix: string): ObjectNumber[] {
    const bound = (digit: string): number => Number.parseInt(prefix.slice(0, 8).padEnd(8, digit), 16);
    const found = new Set<ObjectNumber>();
    for (const source of [this.#unfiled, this.#ids]) {
      for (const number of source.inRange(bound("0"), bound("f"))) {
        const page = this.#rows.pageOf(number);
        if (page === null || this.#absent.has(number)) continue;
        if (toHex(page.oid(page.numbers.indexOf(number))).startsWith(prefix)) found.add(number);
        if (found.size === MAX_ALIKE) return [...found];
      }
    }
    return [...found];
  }

  /** Whether any object that is not hidden has no introducer. */
  hasUnintroduced(): boolean {
    const has =
      this.#pages.hasUnintroduced() || this.#unfiled.pages().some((page) => page.all().introducer.includes(0));
    return has && (this.hidden().size === 0 || this.unintroduced().size > 0);
  }

  /** Finds the objects without an introducer, except hidden ones. */
  unintroduced(): NumberSet {
    const pages = [...this.#pages.unintroducedPages(), ...this.#unfiled.pages()];
    const numbers = pages.flatMap((page) => {
      const { number, introducer } = page.all();
      return Array.from(number.filter((_, i) => introducer[i] === 0));
    });
    return NumberSet.fromUnsorted(numbers).difference(this.hidden());
  }

  /** Sets the introducers of objects; 0: none. */
  setIntroducers(introducers: ReadonlyMap<ObjectNumber, ObjectNumber>): void {
    if (introducers.size === 0) return;
    const numbers = NumberSet.fromUnsorted(introducers.keys());
    const change = (rows: ObjectColumns, i: number): void => {
      rows.introducer[i] = introducers.get(rows.number[i]!)!;
    };
    this.#pages.edit(numbers, change);
    const touched = this.#unfiled.rewrite(numbers, (rows) => {
      const changed = joinRows([rows]);
      changed.number.forEach((number, i) => introducers.has(number) && change(changed, i));
      return changed;
    });
    this.#unfiled.write(touched);
  }

  /** Removes objects permanently.
   * @throws GitError "too-large" when the set of all removed objects does not fit into a row */
  remove(objects: NumberSet): void {
    this.#absent.set(this.pruned().union(objects), this.hidden().difference(objects));
    this.#pages.remove(objects);
    this.#unfiled.write(this.#unfiled.rewrite(objects, (rows) => divideRows(rows, objects).others));
  }

  /** Hides objects: from now on they serve only as delta bases of others.
   * @throws as `remove` */
  hide(objects: NumberSet): void {
    this.#absent.set(this.pruned(), this.hidden().union(objects));
  }

  /** Encodes the rows that belong beside a chunk; null: they are in pages. */
  besideChunk(chunk: ChunkId): Uint8Array | null {
    return this.#unfiled.encoded(chunk);
  }

  /** Whether `mergeIds` has any work. */
  isMergeDue(): boolean {
    return this.#ids.isMergeDue();
  }

  /** Moves one page of ids from a run to another, if a merge is due. */
  mergeIds(): void {
    this.#ids.merge((number) => this.#absent.has(number));
  }

  #checkNew({ number, oid }: ObjectColumns): void {
    for (const { wanted } of this.#rows.parts(NumberSet.fromSorted(number))) {
      throw damagedIndex(`has object number ${wanted.first} already`);
    }
    this.#rows.search(oid, (i) => {
      throw damagedIndex(`has the object of number ${number[i]} already`);
    });
  }

  #file(rows: ObjectColumns): void {
    // Removes staged rows, because new rows may take their place.
    this.unstage();
    this.#pages.put(rows);
    this.#ids.add(toEntries(rows.oid, rows.number));
  }
}
