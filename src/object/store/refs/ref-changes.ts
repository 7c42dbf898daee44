import { checkLimit, MAX_REF_DIRECTORIES_BYTES, REF_DIRECTORY_BYTES } from "../../../base/format/limits.ts";
import { equalOids, type Oid, toHex } from "../../../base/format/oid.ts";
import { BLOB_MAX_BYTES, type Sql } from "../sql/sql.ts";

/** The outcome of an update: done; stale, if the ref had another value than expected (`actual`,
 * null: absent); or in conflict with another ref, since a name cannot also be a directory. */
export type RefOutcome =
  | { readonly kind: "ok" }
  | { readonly kind: "stale"; readonly actual: Oid | null }
  | { readonly kind: "conflict"; readonly with: string };

/** Characters of JSON per statement: in UTF-8 each takes at most two bytes. */
const STATEMENT_CHARS = BLOB_MAX_BYTES / 2;

/** Directories that are looked up at a time. */
const DIRECTORIES_PER_LOOK = 5_000;

/** Selects the id of each name, and whether there are refs below it, as in a directory. */
const LOAD = `SELECT wanted.value, hex(oid),
    EXISTS (SELECT 1 FROM refs AS child WHERE child.name >= wanted.value || '/' AND child.name < wanted.value || '0')
  FROM json_each(?) AS wanted LEFT JOIN refs ON refs.name = wanted.value AND oid IS NOT NULL`;

const BELOW = "SELECT name FROM refs WHERE name >= ? || '/' AND name < ? || '0' LIMIT 1";

/** Selects the names that are refs. */
const EXISTING = `SELECT wanted.value FROM json_each(?) AS wanted
  WHERE EXISTS (SELECT 1 FROM refs WHERE name = wanted.value AND oid IS NOT NULL)`;

const PUT = `INSERT OR REPLACE INTO refs (name, oid, peeled)
  SELECT value ->> 0, unhex(value ->> 1), unhex(value ->> 2) FROM json_each(?)`;

const DELETE = "DELETE FROM refs WHERE name IN (SELECT value FROM json_each(?))";

/** Changes of many refs in sequence, so that later ones see the earlier. 150,000 changes take one
 * statement for each megabyte of their names. From `RefStore.change` to `write` they must run in
 * one transaction, and each ref is changed once. */
export class RefChanges {
  readonly #sql: Sql;
  /** Values of the named refs, including the changes so far. */
  readonly #values = new Map<string, Oid | null>();
  /** Names below which there were refs before the changes. */
  readonly #directories = new Set<string>();
  /** Directories of the names created here, each with its name. */
  readonly #created = new Map<string, string>();
  /** Directories of the named refs that are refs in the table; null: not looked up yet. */
  #refDirectories: ReadonlySet<string> | null = null;
  #puts: string[] = [];
  #deletions: string[] = [];

  /** @param names of all refs to be changed; byte strings
   * @throws GitError "too-large" */
  constructor(sql: Sql, names: readonly string[]) {
    this.#sql = sql;
    checkDirectories(names);
    // Skips the lookup, because without any refs there is no conflict.
    if (sql.exec("SELECT 1 FROM refs WHERE oid IS NOT NULL LIMIT 1").toArray().length === 0) return;
    for (const json of inStatements(names.map((name) => JSON.stringify(name)))) {
      for (const [name, oid, isDirectory] of this.#sql.exec(LOAD, json).raw()) {
        this.#values.set(name as string, oid === "" ? null : Uint8Array.fromHex(oid as string));
        if (isDirectory === 1) this.#directories.add(name as string);
      }
    }
  }

  /** Finds the value of one of the refs; null: it does not exist. */
  get(name: string): Oid | null {
    return this.#values.get(name) ?? null;
  }

  /** Creates, moves or deletes a ref if it has the expected value.
   * @param expected null: absent
   * @param oid the new value; null: delete
   * @param peeled object at the end of an annotated tag's chain; null for other refs */
  compareAndSwap(name: string, expected: Oid | null, oid: Oid | null, peeled: Oid | null): RefOutcome {
    const actual = this.get(name);
    const isExpected = actual === null || expected === null ? actual === expected : equalOids(actual, expected);
    if (!isExpected) return { kind: "stale", actual };
    if (oid === null) {
      this.#deletions.push(JSON.stringify(name));
    } else {
      const inTheWay = actual === null ? this.#findConflict(name) : null;
      if (inTheWay !== null) return { kind: "conflict", with: inTheWay };
      this.#puts.push(JSON.stringify([name, toHex(oid), peeled && toHex(peeled)]));
      if (actual === null) for (const directory of directoriesOf(name)) this.#created.set(directory, name);
    }
    this.#values.set(name, oid);
    return { kind: "ok" };
  }

  /** Writes the changes. */
  write(): void {
    // Deletes first, because later creations may depend on the freed names.
    for (const json of inStatements(this.#deletions)) this.#sql.exec(DELETE, json);
    for (const json of inStatements(this.#puts)) this.#sql.exec(PUT, json);
    this.#deletions = [];
    this.#puts = [];
  }

  /** Finds a ref that conflicts with this name: one of its directories, or one below it. */
  #findConflict(name: string): string | null {
    const child = this.#created.get(name) ?? (this.#directories.has(name) ? this.#readBelow(name) : null);
    return child ?? directoriesOf(name).find((directory) => this.#isRef(directory)) ?? null;
  }

  #readBelow(name: string): string | null {
    this.write();
    return this.#sql.exec<{ name: string }>(BELOW, name, name).toArray()[0]?.name ?? null;
  }

  #isRef(name: string): boolean {
    const known = this.#values.get(name);
    if (known !== undefined) return known !== null;
    this.#refDirectories ??= this.#findRefDirectories();
    return this.#refDirectories.has(name);
  }

  /** Looks up all directories at once, because many refs may have as many directories. */
  #findRefDirectories(): ReadonlySet<string> {
    const found = new Set<string>();
    const directories = new Set<string>();
    const look = (): void => {
      for (const json of inStatements(Array.from(directories, (directory) => JSON.stringify(directory)))) {
        for (const [name] of this.#sql.exec(EXISTING, json).raw()) found.add(name as string);
      }
      directories.clear();
    };
    for (const name of this.#values.keys()) {
      for (const directory of directoriesOf(name)) directories.add(directory);
      if (directories.size >= DIRECTORIES_PER_LOOK) look();
    }
    look();
    return found;
  }
}

/** Checks the directories of names.
 * @throws GitError "too-large" when there are too many, or they are too long */
function checkDirectories(names: readonly string[]): void {
  let bytes = 0;
  for (const name of names) {
    for (let slash = name.indexOf("/"); slash >= 0; slash = name.indexOf("/", slash + 1))
      bytes += slash + REF_DIRECTORY_BYTES;
  }
  const what = `the directories of the refs in one push (bytes of their names, and ${REF_DIRECTORY_BYTES} for each)`;
  checkLimit(what, MAX_REF_DIRECTORIES_BYTES, bytes, "push fewer refs at once, or give them fewer levels");
}

/** Lists the directories of a name: `refs`, `refs/heads`, … */
function directoriesOf(name: string): string[] {
  const directories: string[] = [];
  for (let slash = name.indexOf("/"); slash >= 0; slash = name.indexOf("/", slash + 1))
    directories.push(name.slice(0, slash));
  return directories;
}

/** Makes JSON arrays of values, each short enough for one statement. */
function* inStatements(values: readonly string[]): Generator<string> {
  for (let start = 0; start < values.length;) {
    let end = start;
    for (let chars = 2; end < values.length; end++) {
      chars += values[end]!.length + 1;
      if (chars > STATEMENT_CHARS) break;
    }
    yield `[${values.slice(start, end).join(",")}]`;
    start = end;
  }
}
