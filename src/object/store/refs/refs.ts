import { OID_BYTES, type Oid } from "../../../base/format/oid.ts";
import { MAX_REF_NAME_BYTES } from "../../../base/format/limits.ts";
import { readBytes } from "../sql/packed-rows.ts";
import { RefChanges } from "./ref-changes.ts";
import { BLOB_MAX_BYTES, type Sql } from "../sql/sql.ts";
import type { RefColumns } from "../../../contract/refs.ts";

/** One ref. */
export interface Ref {
  readonly name: string;
  readonly oid: Oid;
  readonly peeled: Oid | null;
}

/** Bytes of a ref besides its name: its id, and the peeled one. */
export const REF_ROW_BYTES = 2 * OID_BYTES;

/** Rows per listing statement: their names, with separators, stay below the size limit of a value,
 * even if each byte takes two in UTF-8. */
const LIST_ROWS = Math.floor(BLOB_MAX_BYTES / (2 * MAX_REF_NAME_BYTES + 1));

/** Number of prefixes up to which each has its own range query; for more, one pass over all refs is
 * cheaper. */
const RANGE_PREFIXES = 32;

/** Sorts after every name: names have char codes up to 255. */
const AFTER_ALL = "\u0100";

/** Separated by newlines, which names cannot contain. */
const LIST = `SELECT group_concat(name, char(10)), group_concat(hex(oid), ''),
    group_concat(hex(ifnull(peeled, zeroblob(${OID_BYTES}))), '')
  FROM (SELECT name, oid, peeled FROM refs WHERE name >= ? AND name < ? AND oid IS NOT NULL ORDER BY name LIMIT ${LIST_ROWS})`;

/** The refs: table `refs`. */
export class RefStore {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** All refs, without HEAD. */
  all(): RefColumns {
    return this.#list([""]);
  }

  /** Bytes of all refs: their names, and `REF_ROW_BYTES` each. Reads a row per ref. */
  sizeBytes(): number {
    const query = `SELECT ifnull(sum(length(name) + ${REF_ROW_BYTES}), 0) AS bytes FROM refs WHERE oid IS NOT NULL`;
    return this.#sql.exec<{ bytes: number }>(query).one().bytes;
  }

  /** Lists the refs whose names begin with one of the prefixes, each once. */
  withPrefixes(prefixes: readonly string[]): RefColumns {
    const separate = withoutCovered(prefixes);
    return separate.length > RANGE_PREFIXES ? filterByPrefix(this.all(), separate) : this.#list(separate);
  }

  /** Lists a page of the refs whose names begin with a prefix, sorted by name.
   * @param after last name of the previous page; null: from the beginning */
  page(prefix: string, after: string | null, limit: number): Ref[] {
    const query =
      "SELECT name, oid, peeled FROM refs WHERE name > ? AND name < ? AND oid IS NOT NULL ORDER BY name LIMIT ?";
    // No ref has the prefix itself as its name, since that ends in a slash.
    return this.#sql
      .exec<RefRow>(query, after ?? prefix, prefix + AFTER_ALL, limit)
      .toArray()
      .map(toRef);
  }

  /** Finds a ref; null: there is none of that name, or it is symbolic. */
  get(name: string): Ref | null {
    const [row] = this.#sql
      .exec<RefRow>("SELECT name, oid, peeled FROM refs WHERE name = ? AND oid IS NOT NULL", name)
      .toArray();
    return row === undefined ? null : toRef(row);
  }

  /** Begins to change refs; must run in a transaction, and end with `write`.
   * @param names names of all refs to be changed */
  change(names: readonly string[]): RefChanges {
    return new RefChanges(this.#sql, names);
  }

  /** The name of the ref that HEAD points to, which need not exist; null: there is no HEAD. */
  head(): string | null {
    return (
      this.#sql.exec<{ symref: string }>("SELECT symref FROM refs WHERE name = 'HEAD'").toArray()[0]?.symref ?? null
    );
  }

  /** Points HEAD to a ref, whether it exists or not. */
  setHead(target: string): void {
    this.#sql.exec("INSERT OR REPLACE INTO refs (name, symref) VALUES ('HEAD', ?)", target);
  }

  /** Lists refs by prefix.
   * @param prefixes ascending, none a prefix of another */
  #list(prefixes: readonly string[]): RefColumns {
    const names: string[] = [];
    const oids: Uint8Array[] = [];
    const peeled: Uint8Array[] = [];
    for (const prefix of prefixes) {
      for (let from = prefix, more = true; more;) {
        const [row] = [...this.#sql.exec(LIST, from, prefix + AFTER_ALL).raw()];
        const page = typeof row![0] === "string" ? row![0].split("\n") : [];
        for (const name of page) names.push(name);
        oids.push(readBytes(row![1]));
        peeled.push(readBytes(row![2]));
        more = page.length === LIST_ROWS;
        // The lowest string that sorts after the name itself and before longer names that begin
        // with it.
        from = `${page.at(-1)}\x01`;
      }
    }
    return { names, oids: concat(oids), peeled: concat(peeled) };
  }
}

type RefRow = { name: string; oid: ArrayBuffer; peeled: ArrayBuffer | null };

function toRef({ name, oid, peeled }: RefRow): Ref {
  return { name, oid: new Uint8Array(oid), peeled: peeled === null ? null : new Uint8Array(peeled) };
}

/** Sorts the prefixes, and drops those that another one covers. */
function withoutCovered(prefixes: readonly string[]): string[] {
  const separate: string[] = [];
  for (const prefix of prefixes.toSorted(compareByteStrings)) {
    const last = separate.at(-1);
    if (last === undefined || !prefix.startsWith(last)) separate.push(prefix);
  }
  return separate;
}

/** Selects refs by prefix.
 * @param prefixes from `withoutCovered`: both lists ascend, so one merging pass suffices */
function filterByPrefix(refs: RefColumns, prefixes: readonly string[]): RefColumns {
  const kept: number[] = [];
  let p = 0;
  refs.names.forEach((name, i) => {
    while (p < prefixes.length && prefixes[p]! + AFTER_ALL <= name) p += 1;
    if (p < prefixes.length && name.startsWith(prefixes[p]!)) kept.push(i);
  });
  const pick = (packed: Uint8Array): Uint8Array =>
    concat(kept.map((i) => packed.subarray(i * OID_BYTES, (i + 1) * OID_BYTES)));
  return { names: kept.map((i) => refs.names[i]!), oids: pick(refs.oids), peeled: pick(refs.peeled) };
}

/** Compares by bytes, as SQLite does, not by a locale. */
function compareByteStrings(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function concat(pieces: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(pieces.reduce((size, piece) => size + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}
