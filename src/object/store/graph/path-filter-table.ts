import { mayHavePath, type PathFilter, pathFilterBytes } from "../../../base/format/path-filter.ts";
import type { Column } from "../../../base/format/kinds.ts";
import type { GraphPosition, ObjectNumber } from "../../../base/numbers/kinds.ts";
import { RecordPages } from "../index/record-pages.ts";
import { NumberSet } from "../../../base/numbers/number-set.ts";
import type { Sql } from "../sql/sql.ts";
import type { CommitGraph } from "./commit-graph.ts";

/** The filter of a commit. */
export interface StoredFilter {
  /** Object number of the node. */
  readonly number: ObjectNumber;
  /** The filter; for a node that is not a commit, one that rules out no path. */
  readonly filter: PathFilter;
}

/** Upper bound of a record's bytes without its filter. */
const RECORD_BYTES = 8;

/** Limit of the filters in memory in bytes, some 800,000 commits'. Filters beyond it count as
 * missing: history is then found by reading trees. */
const MAX_HELD_BYTES = 16 * 1024 * 1024;

/** Bytes before each filter in memory: its number of paths, little-endian. */
const COUNT_BYTES = 2;

/** Filters of the paths that each commit changes: table `path_filters`. In memory they are one
 * array, with an offset for each position in the graph, loaded on first use and kept as long as
 * the graph: some 25 bytes a commit. A job makes the filters of pushed commits; without a
 * filter, a commit's trees must be read. */
export class PathFilterTable {
  readonly #graph: CommitGraph;
  readonly #pages: RecordPages<StoredFilter>;
  /** Filters, one after another. */
  #held = new Uint8Array(0);
  #heldBytes = 0;
  /** Offsets of the filters by position; 0: there is no filter, or it is not held. */
  #places = new Uint32Array(0);
  #isLoaded = false;
  /** null: not read yet. */
  #lastNumber: ObjectNumber | null = null;

  constructor(sql: Sql, graph: CommitGraph) {
    this.#graph = graph;
    this.#pages = openPathFilters(sql);
  }

  /** The highest number of a node with a filter; 0: none. The first call reads one row. */
  lastNumber(): ObjectNumber {
    return (this.#lastNumber ??= this.#pages.lastNumber());
  }

  /** Lists the numbers of the nodes without a filter, ascending. */
  missing(): Column<ObjectNumber> {
    const filtered = new Set<ObjectNumber>();
    for (const { number } of this.#pages.all()) filtered.add(number);
    const numbers: ObjectNumber[] = [];
    for (let p = 0; p < this.#graph.length; p++) {
      const number = this.#graph.number(p);
      if (!filtered.has(number)) numbers.push(number);
    }
    return Uint32Array.from(numbers).sort();
  }

  /** Stores filters. Needs no transaction: lost ones are made again.
   * @param filters ascending by number */
  add(filters: readonly StoredFilter[]): void {
    this.#pages.write(filters);
    this.#lastNumber = null;
    if (this.#isLoaded) for (const filter of filters) this.#hold(filter);
  }

  /** Reads stored filters with higher numbers than `after`, ascending: `most` of them, or all
   * that are left. */
  next(after: ObjectNumber, most: number): StoredFilter[] {
    const filters: StoredFilter[] = [];
    for (const filter of this.#pages.read(NumberSet.range(after + 1, this.#pages.lastNumber() + 1))) {
      if (filters.push(filter) === most) break;
    }
    return filters;
  }

  /** Removes the filters of pruned commits, from the database only. */
  remove(numbers: NumberSet): void {
    this.#pages.remove(numbers);
    this.#lastNumber = null;
  }

  /** Removes all filters, including unreadable ones, from the database only. */
  clear(): void {
    this.#pages.clear();
    this.#lastNumber = null;
  }

  /** Whether a node has a filter. */
  has(position: GraphPosition): boolean {
    if (!this.#isLoaded) this.#load();
    return (this.#places[position] ?? 0) !== 0;
  }

  /** Whether a commit is known to have the same entry at a path as its first parent, or, for a
   * root, no entry.
   * @param hashes of the path: `hashPath` */
  rulesOut(position: GraphPosition, hashes: Uint32Array): boolean {
    if (!this.#isLoaded) this.#load();
    const place = this.#places[position];
    if (place === undefined || place === 0) return false;
    const paths = this.#held[place - 2]! | (this.#held[place - 1]! << 8);
    return !mayHavePath(this.#held, place, paths, hashes);
  }

  #load(): void {
    for (const filter of this.#pages.all()) this.#hold(filter);
    this.#isLoaded = true;
  }

  #hold({ number, filter }: StoredFilter): void {
    const position = this.#graph.position(number);
    if (position < 0) return;
    const start = this.#heldBytes + COUNT_BYTES;
    const end = start + filter.bytes.length;
    if (end > MAX_HELD_BYTES) return;
    if (end > this.#held.length) this.#held = grown(this.#held, new Uint8Array(Math.max(4_096, 1.5 * end)));
    if (position >= this.#places.length) {
      const { length } = this.#graph;
      this.#places = grown(this.#places, new Uint32Array(length + (length >>> 3)));
    }
    this.#held[start - 2] = filter.paths;
    this.#held[start - 1] = filter.paths >>> 8;
    this.#held.set(filter.bytes, start);
    this.#places[position] = start;
    this.#heldBytes = end;
  }
}

function grown<A extends Uint8Array | Uint32Array>(from: A, to: A): A {
  to.set(from);
  return to;
}

/** Opens table `path_filters`. */
export function openPathFilters(sql: Sql): RecordPages<StoredFilter> {
  return new RecordPages(sql, {
    table: "path_filters",
    column: "filters",
    sums: {},
    sizeOf: ({ filter }) => RECORD_BYTES + filter.bytes.length,
    write(writer, { filter }) {
      writer.varint(filter.paths);
      writer.bytes(filter.bytes);
    },
    /** @returns a filter that is a view */
    read(reader, number) {
      const paths = reader.varint();
      return { number, filter: { paths, bytes: reader.bytes(pathFilterBytes(paths)) } };
    },
  });
}
