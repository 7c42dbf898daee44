import type { ObjectNumber } from "../numbers/kinds.ts";
import { inRange, packRanges, readIntegers, WITH_ROWS } from "../sql/packed-rows.ts";
import type { NumberSet } from "../numbers/number-set.ts";
import { BLOB_MAX_BYTES, type Sql } from "../sql/sql.ts";

/** A sum over the files of one kind below a tree: kind, number of files, bytes. */
export type FileSum = readonly [kind: number, files: number, bytes: number];

const READ = `${WITH_ROWS} SELECT json_group_array(tree), json_group_array(json(sums))
  FROM row CROSS JOIN tree_sums ON ${inRange("tree")} WHERE scheme = ?3`;

const INSERT = `INSERT OR REPLACE INTO tree_sums (tree, scheme, sums)
  SELECT value ->> 0, ?2, value -> 1 FROM json_each(?1) WHERE true`;

/** Characters of JSON per statement; the last row may exceed it a little. */
const BATCH_CHARS = BLOB_MAX_BYTES / 4;

/** Sums over the files below trees: table `tree_sums`. A push changes only the trees on the paths
 * that it touches; the sums of the others stay valid. */
export class TreeSumTable {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** The sums of those trees that have been stored.
   * @param scheme the classification of files; sums of another one are ignored */
  find(trees: NumberSet, scheme: number): Map<ObjectNumber, readonly FileSum[]> {
    const found = new Map<ObjectNumber, readonly FileSum[]>();
    for (const ranges of packRanges(trees.runs)) {
      const [row] = [...this.#sql.exec(READ, ranges.cells, ranges.rows, scheme).raw()];
      const sums = JSON.parse(row![1] as string) as FileSum[][];
      readIntegers(row![0]).forEach((tree, i) => found.set(tree, sums[i]!));
    }
    return found;
  }

  /** Stores the sums of trees. */
  insert(sums: Iterable<readonly [tree: ObjectNumber, sums: readonly FileSum[]]>, scheme: number): void {
    let rows: string[] = [];
    let chars = 0;
    const flush = (): void => {
      if (rows.length > 0) this.#sql.exec(INSERT, `[${rows.join(",")}]`, scheme);
      rows = [];
      chars = 0;
    };
    for (const row of sums) {
      const text = JSON.stringify(row);
      rows.push(text);
      if ((chars += text.length) >= BATCH_CHARS) flush();
    }
    flush();
  }
}
