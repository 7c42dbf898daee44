import { inRange, packRanges, readIntegers, WITH_ROWS } from "../sql/packed-rows.ts";
import type { NumberSet } from "../numbers/number-set.ts";
import { BLOB_MAX_BYTES, type Sql } from "../sql/sql.ts";

/** What the files below a tree come to, of one kind: what kind, how many, how many bytes. */
export type FileSum = readonly [kind: number, files: number, bytes: number];

const READ = `${WITH_ROWS} SELECT json_group_array(tree), json_group_array(json(sums))
  FROM row CROSS JOIN tree_sums ON ${inRange("tree")} WHERE scheme = ?3`;

const INSERT = `INSERT OR REPLACE INTO tree_sums (tree, scheme, sums)
  SELECT value ->> 0, ?2, value -> 1 FROM json_each(?1) WHERE true`;

/** Rows are written as JSON of this many characters at a time, or little more. */
const BATCH_CHARS = BLOB_MAX_BYTES / 4;

/** What lies below trees, summed up: table `tree_sums`. A push changes the trees on the paths that it touches; of the others the sums stay. */
export class TreeSumTable {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** The sums of those trees that are known.
   * @param scheme how files were told apart; what another scheme says is not known */
  find(trees: NumberSet, scheme: number): Map<number, readonly FileSum[]> {
    const found = new Map<number, readonly FileSum[]>();
    for (const ranges of packRanges(trees.runs)) {
      const [row] = [...this.#sql.exec(READ, ranges.cells, ranges.rows, scheme).raw()];
      const sums = JSON.parse(row![1] as string) as FileSum[][];
      readIntegers(row![0]).forEach((tree, i) => found.set(tree, sums[i]!));
    }
    return found;
  }

  /** Notes the sums of trees. */
  insert(sums: Iterable<readonly [tree: number, sums: readonly FileSum[]]>, scheme: number): void {
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
