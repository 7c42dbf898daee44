import { NumberSet } from "../../../base/numbers/number-set.ts";
import { BLOB_MAX_BYTES, type Sql } from "../sql/sql.ts";
import { tableExists } from "../sql/schema.ts";

const TABLE = `
CREATE TABLE IF NOT EXISTS pins (
  holder TEXT NOT NULL,                  -- id of the repository that needs the keys
  part INTEGER NOT NULL,                 -- from 0, in order
  version INTEGER NOT NULL,              -- of the holder's request
  keys TEXT NOT NULL,                    -- JSON: R2 keys
  PRIMARY KEY (holder, part)
) WITHOUT ROWID;
`;

/** Characters of keys in a row; keys are ASCII. */
const PART_CHARS = BLOB_MAX_BYTES / 2;

interface Pin {
  readonly version: number;
  readonly keys: ReadonlySet<string>;
}

/** R2 objects of this repository that other repositories of the family need: table `pins`. A
 * pinned object is not deleted, even when this repository is. After the first read, the whole
 * table is in memory. */
export class PinTable {
  readonly #sql: Sql;
  #known: Map<string, Pin> | null = null;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Clears the cache, which may differ from the table. */
  forget(): void {
    this.#known = null;
  }

  /** Whether any repository needs an R2 object. */
  has(key: string): boolean {
    for (const { keys } of this.#all().values()) if (keys.has(key)) return true;
    return false;
  }

  /** Whether anything is pinned. */
  isEmpty(): boolean {
    return this.#all().size === 0;
  }

  /** Keys that one repository needs. */
  of(holder: string): ReadonlySet<string> {
    return this.#all().get(holder)?.keys ?? new Set();
  }

  /** Sets the keys that one repository needs; must run in a transaction.
   * @param keys empty: the repository no longer needs any
   * @returns the keys that are no longer pinned by it; null: a request with a higher version
   *   came before, and nothing has changed */
  set(holder: string, version: number, keys: ReadonlySet<string>): string[] | null {
    const before = this.#all().get(holder);
    if (before !== undefined && version < before.version) return null;
    if (before === undefined && keys.size === 0) return [];
    this.#known = null;
    this.#sql.exec(TABLE);
    this.#sql.exec("DELETE FROM pins WHERE holder = ?", holder);
    for (const [part, list] of inParts(keys).entries()) {
      const insert = "INSERT INTO pins (holder, part, version, keys) VALUES (?, ?, ?, ?)";
      this.#sql.exec(insert, holder, part, version, JSON.stringify(list));
    }
    return Array.from(before?.keys ?? []).filter((key) => !keys.has(key));
  }

  #all(): Map<string, Pin> {
    if (this.#known !== null) return this.#known;
    const pins = new Map<string, { version: number; keys: Set<string> }>();
    if (!tableExists(this.#sql, "pins")) return (this.#known = pins);
    const rows = this.#sql.exec<{ holder: string; version: number; keys: string }>(
      "SELECT holder, version, keys FROM pins ORDER BY holder, part",
    );
    for (const { holder, version, keys } of rows) {
      const pin = pins.get(holder) ?? { version, keys: new Set<string>() };
      for (const key of JSON.parse(keys) as string[]) pin.keys.add(key);
      pins.set(holder, pin);
    }
    return (this.#known = pins);
  }
}

function inParts(keys: ReadonlySet<string>): string[][] {
  const parts: string[][] = [];
  let chars = Infinity;
  for (const key of keys) {
    if (chars + key.length > PART_CHARS) {
      parts.push([]);
      chars = 0;
    }
    parts.at(-1)!.push(key);
    chars += key.length + 3;
  }
  return parts;
}

/** Objects that came from other repositories of the family: column `repository.shared`. They do
 * not count against a quota. */
export class SharedObjects {
  readonly #sql: Sql;
  #numbers: NumberSet | null = null;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Numbers of these objects. */
  get numbers(): NumberSet {
    if (this.#numbers !== null) return this.#numbers;
    const { shared } = this.#sql.exec<{ shared: ArrayBuffer | null }>("SELECT shared FROM repository").one();
    return (this.#numbers = shared === null ? NumberSet.EMPTY : NumberSet.decode(new Uint8Array(shared)));
  }

  /** Adds objects; must run in a transaction. */
  add(numbers: NumberSet): void {
    const all = this.numbers.union(numbers);
    this.#numbers = null;
    this.#sql.exec("UPDATE repository SET shared = ?", all.encode());
  }
}
