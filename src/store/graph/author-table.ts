import type { Column } from "../../format/kinds.ts";
import type { GraphPosition, ObjectNumber } from "../numbers/kinds.ts";
import type { CommitGraph } from "./commit-graph.ts";
import { RecordPages } from "../index/record-pages.ts";
import type { NumberSet } from "../numbers/number-set.ts";
import { readIntegers } from "../sql/packed-rows.ts";
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

const INSERT_AUTHORS = `INSERT OR IGNORE INTO authors (name, email)
  SELECT value ->> 0, value ->> 1 FROM json_each(?) WHERE true`;

const FIND_AUTHORS = `SELECT json_group_array(id) FROM
  (SELECT authors.id FROM json_each(?) AS one CROSS JOIN authors ON name = value ->> 0 AND email = value ->> 1 ORDER BY one.key)`;

/** A record of table `authored`: a sequence of LEB128 varints, the last as zigzag. */
interface AuthoredRecord extends Omit<AuthoredCommit, "author"> {
  /** Id of the author. */
  readonly author: number;
}

/** Bytes of a record, at most: four integers. */
const RECORD_BYTES = 40;

/** Authors in a statement. Two names of 255 bytes, written as JSON, take 3 KB at most. */
const STATEMENT_AUTHORS = 500;

/** Marks a node that is not a commit. */
const NO_COMMIT = 0xffffffff;

/** Author and author time of each commit: tables `authors` and `authored`. In memory they are
 * arrays by the commit's position in the graph, loaded on first use and kept as long as the graph:
 * 16 bytes a commit. Pushed commits are entered a little later by a job; whoever counts must first
 * enter the missing ones. */
export class AuthorTable {
  readonly #sql: Sql;
  readonly #graph: CommitGraph;
  readonly #authored: RecordPages<AuthoredRecord>;
  /** By id. */
  readonly #authors: (Author | undefined)[] = [];
  /** By position: the author's id; 0: not entered yet. */
  #ids = new Uint32Array(0);
  #times = new Float64Array(0);
  #zones = new Int32Array(0);
  #isLoaded = false;

  constructor(sql: Sql, graph: CommitGraph) {
    this.#sql = sql;
    this.#graph = graph;
    this.#authored = openAuthored(sql);
  }

  /** The highest number of an entered commit; 0: none. Reads one row. */
  lastNumber(): ObjectNumber {
    return this.#authored.lastNumber();
  }

  /** Object numbers of the nodes that are not entered yet, ascending. */
  missing(): Column<ObjectNumber> {
    this.#load();
    const numbers: ObjectNumber[] = [];
    for (let p = 0; p < this.#graph.length; p++) if (this.#ids[p] === 0) numbers.push(this.#graph.number(p));
    return Uint32Array.from(numbers).sort();
  }

  /** Enters commits. Needs no transaction: authors without commits do no harm, and commits that are
   * lost are entered again.
   * @param commits ascending by number */
  add(commits: readonly AuthoredCommit[]): void {
    this.#load();
    const authors = [...new Map(commits.map(({ author }) => [toKey(author), author])).values()];
    const idOf = new Map<string, number>();
    for (let from = 0; from < authors.length; from += STATEMENT_AUTHORS) {
      const some = authors.slice(from, from + STATEMENT_AUTHORS);
      const list = JSON.stringify(some.map(({ name, email }) => [name, email]));
      this.#sql.exec(INSERT_AUTHORS, list);
      const ids = readIntegers([...this.#sql.exec(FIND_AUTHORS, list).raw()][0]![0]);
      for (const [i, author] of some.entries()) {
        idOf.set(toKey(author), ids[i]!);
        this.#authors[ids[i]!] = author;
      }
    }
    const records = commits.map((commit) => ({ ...commit, author: idOf.get(toKey(commit.author))! }));
    this.#authored.write(records);
    for (const record of records) this.#enter(record);
  }

  /** Removes commits that are pruned, from the database only. */
  remove(numbers: NumberSet): void {
    this.#authored.remove(numbers);
  }

  /** Excludes nodes that are not commits from `missing`, for the life of the graph. */
  skip(numbers: Iterable<ObjectNumber>): void {
    for (const number of numbers) this.#enter({ number, author: NO_COMMIT, time: 0, zone: 0 });
  }

  /** The author's id, a small number, for the commit at a position; 0 for a node that is not a
   * commit. */
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

  /** The author with an id. */
  author(id: number): Author {
    return this.#authors[id]!;
  }

  /** One more than the highest id. */
  get end(): number {
    return this.#authors.length;
  }

  #load(): void {
    this.#reserve();
    if (this.#isLoaded) return;
    for (const { id, ...author } of this.#sql.exec<{ id: number; name: string; email: string }>(
      "SELECT id, name, email FROM authors",
    )) {
      this.#authors[id] = author;
    }
    for (const record of this.#authored.all()) this.#enter(record);
    this.#isLoaded = true;
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

/** Opens table `authored`. */
export function openAuthored(sql: Sql): RecordPages<AuthoredRecord> {
  return new RecordPages(sql, {
    table: "authored",
    column: "authors",
    sums: {},
    sizeOf: () => RECORD_BYTES,
    write(writer, { author, time, zone }) {
      writer.varint(author);
      writer.varint(time);
      writer.zigzag(zone);
    },
    read: (reader, number) => ({ number, author: reader.varint(), time: reader.varint(), zone: reader.zigzag() }),
  });
}

/** Identities contain no line feed. */
function toKey({ name, email }: Author): string {
  return `${name}\n${email}`;
}
