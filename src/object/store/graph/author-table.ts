import { fromByteString, toByteString } from "../../../base/format/byte-string.ts";
import type { Column } from "../../../base/format/kinds.ts";
import type { GraphPosition, ObjectNumber } from "../../../base/numbers/kinds.ts";
import type { CommitGraph } from "./commit-graph.ts";
import { RecordPages } from "../index/record-pages.ts";
import { NumberSet } from "../../../base/numbers/number-set.ts";
import type { Sql } from "../sql/sql.ts";

/** The author of a commit. */
export interface Author {
  /** Byte string. */
  readonly name: string;
  /** Byte string, without the angle brackets. */
  readonly email: string;
}

/** The authorship of one commit. */
export interface AuthoredCommit {
  /** Object number. */
  readonly number: ObjectNumber;
  readonly author: Author;
  /** Author time, seconds since 1970. */
  readonly time: number;
  /** The author's zone: minutes east of UTC. */
  readonly zone: number;
}

/** A record of table `authors`: name and email, each after its length. */
interface NumberedAuthor extends Author {
  /** The author's id, counted from 1. */
  readonly number: number;
}

/** A record of table `authored`: a sequence of LEB128 varints, the last as zigzag. */
interface AuthoredRecord extends Omit<AuthoredCommit, "author"> {
  /** Id of the author. */
  readonly author: number;
}

/** Upper bound of an integer's bytes in a record. */
const INTEGER_BYTES = 10;

/** Marks a node that is not a commit. */
const NO_COMMIT = 0xffffffff;

/** Author and author time of each commit: tables `authors` and `authored`, pages of many each.
 * In memory they are arrays by the commit's position in the graph, loaded on first use and kept
 * as long as the graph: 16 bytes a commit. A job enters pushed commits a little later, so a
 * caller that counts must first enter the missing ones. */
export class AuthorTable {
  readonly #graph: CommitGraph;
  readonly #named: RecordPages<NumberedAuthor>;
  readonly #authored: RecordPages<AuthoredRecord>;
  /** Authors by id, and ids by `toKey`. */
  readonly #authors: (Author | undefined)[] = [];
  readonly #idOf = new Map<string, number>();
  /** Author ids by position; 0: not entered yet. */
  #ids = new Uint32Array(0);
  #times = new Float64Array(0);
  #zones = new Int32Array(0);
  #isLoaded = false;

  constructor(sql: Sql, graph: CommitGraph) {
    this.#graph = graph;
    this.#named = openAuthors(sql);
    this.#authored = openAuthored(sql);
  }

  /** The highest number of an entered commit; 0: none. Reads one row. */
  lastNumber(): ObjectNumber {
    return this.#authored.lastNumber();
  }

  /** Lists the numbers of the nodes that are not entered yet, ascending. */
  missing(): Column<ObjectNumber> {
    this.#load();
    const numbers: ObjectNumber[] = [];
    for (let p = 0; p < this.#graph.length; p++) if (this.#ids[p] === 0) numbers.push(this.#graph.number(p));
    return Uint32Array.from(numbers).sort();
  }

  /** Enters commits. Needs no transaction: authors without commits do no harm, and lost commits are
   * entered again.
   * @param commits ascending by number */
  add(commits: readonly AuthoredCommit[]): void {
    this.#load();
    const added = new Map<string, NumberedAuthor>();
    const idOf = (author: Author): number => {
      const key = toKey(author);
      const known = this.#idOf.get(key) ?? added.get(key)?.number;
      if (known !== undefined) return known;
      const number = Math.max(this.#authors.length, 1) + added.size;
      added.set(key, { ...author, number });
      return number;
    };
    const records = commits.map((commit) => ({ ...commit, author: idOf(commit.author) }));
    this.#named.write([...added.values()]);
    for (const author of added.values()) this.#know(author);
    this.#authored.write(records);
    for (const record of records) this.#enter(record);
  }

  /** Removes pruned commits, from the database only. */
  remove(numbers: NumberSet): void {
    this.#authored.remove(numbers);
  }

  /** Excludes nodes that are not commits from `missing`, for the life of the graph. */
  skip(numbers: Iterable<ObjectNumber>): void {
    for (const number of numbers) this.#enter({ number, author: NO_COMMIT, time: 0, zone: 0 });
  }

  /** Author id of the commit at a position, a small number; 0: the node is not a commit. */
  id(position: GraphPosition): number {
    const id = this.#ids[position]!;
    return id === NO_COMMIT ? 0 : id;
  }

  /** Author time of the commit at a position, seconds since 1970. */
  time(position: GraphPosition): number {
    return this.#times[position]!;
  }

  /** The author's zone: minutes east of UTC. */
  zone(position: GraphPosition): number {
    return this.#zones[position]!;
  }

  /** Finds the author with an id. */
  author(id: number): Author {
    return this.#authors[id]!;
  }

  /** Exclusive upper bound of the ids. */
  get end(): number {
    return this.#authors.length;
  }

  #load(): void {
    this.#reserve();
    // Reads authors that another table of the same database has entered.
    const added = NumberSet.range(Math.max(this.#authors.length, 1), this.#named.lastNumber() + 1);
    for (const author of this.#named.read(added)) this.#know(author);
    if (this.#isLoaded) return;
    for (const record of this.#authored.all()) this.#enter(record);
    this.#isLoaded = true;
  }

  #know({ number, name, email }: NumberedAuthor): void {
    this.#authors[number] = { name, email };
    this.#idOf.set(toKey({ name, email }), number);
  }

  #enter({ number, author, time, zone }: AuthoredRecord): void {
    const position = this.#graph.position(number);
    if (position < 0) return;
    this.#ids[position] = author;
    this.#times[position] = time;
    this.#zones[position] = zone;
  }

  /** Grows the arrays to the size of the graph. */
  #reserve(): void {
    const { length } = this.#graph;
    if (length <= this.#ids.length) return;
    const capacity = length + (length >>> 3);
    const [ids, times, zones] = [new Uint32Array(capacity), new Float64Array(capacity), new Int32Array(capacity)];
    ids.set(this.#ids);
    times.set(this.#times);
    zones.set(this.#zones);
    [this.#ids, this.#times, this.#zones] = [ids, times, zones];
  }
}

/** Opens table `authors`. */
export function openAuthors(sql: Sql): RecordPages<NumberedAuthor> {
  return new RecordPages(sql, {
    table: "authors",
    column: "authors",
    sums: {},
    sizeOf: ({ name, email }) => 3 * INTEGER_BYTES + name.length + email.length,
    write(writer, { name, email }) {
      for (const text of [name, email]) {
        writer.varint(text.length);
        writer.bytes(fromByteString(text));
      }
    },
    read(reader, number) {
      const text = (): string => toByteString(reader.bytes(reader.varint()));
      return { number, name: text(), email: text() };
    },
  });
}

/** Opens table `authored`. */
export function openAuthored(sql: Sql): RecordPages<AuthoredRecord> {
  return new RecordPages(sql, {
    table: "authored",
    column: "authors",
    sums: {},
    sizeOf: () => 4 * INTEGER_BYTES,
    write(writer, { author, time, zone }) {
      writer.varint(author);
      writer.varint(time);
      writer.zigzag(zone);
    },
    read: (reader, number) => ({ number, author: reader.varint(), time: reader.varint(), zone: reader.zigzag() }),
  });
}

/** Joins name and email with a line feed, which identities do not contain. */
function toKey({ name, email }: Author): string {
  return `${name}\n${email}`;
}
