// Rows of table `tree_sums`: pages of sums. A record has, after the tree's number, a sequence of
// LEB128 varints: scheme; number of sums; and for each sum the kind, zigzag, files and bytes.
import { GitError } from "../../../base/format/errors.ts";
import type { ObjectNumber } from "../../../base/numbers/kinds.ts";
import type { NumberSet } from "../../../base/numbers/number-set.ts";
import { BLOB_MAX_BYTES, type Sql } from "../sql/sql.ts";
import type { VarintReader, VarintWriter } from "../sql/varints.ts";
import { RecordPages } from "./record-pages.ts";

/** A sum over the files of one kind below a tree: kind, number of files, bytes. */
export type FileSum = readonly [kind: number, files: number, bytes: number];

/** The sums of a tree as they are stored. */
interface TreeSums {
  /** Object number. */
  readonly number: ObjectNumber;
  /** Version of the classification of files. */
  readonly scheme: number;
  readonly sums: readonly FileSum[];
}

/** Upper bounds of the bytes of a record without its sums, and of a sum. */
const RECORD_BYTES = 20;
const SUM_BYTES = 24;

/** Sums over the files below trees: table `tree_sums`. A push changes only the trees on the paths
 * that it touches; the sums of the others stay valid. */
export class TreeSumTable {
  readonly #pages: RecordPages<TreeSums>;

  constructor(sql: Sql) {
    this.#pages = openTreeSums(sql);
  }

  /** Finds the stored sums of trees.
   * @param scheme version of the classification of files; sums of another version are ignored */
  find(trees: NumberSet, scheme: number): Map<ObjectNumber, readonly FileSum[]> {
    const found = new Map<ObjectNumber, readonly FileSum[]>();
    for (const tree of this.#pages.read(trees)) if (tree.scheme === scheme) found.set(tree.number, tree.sums);
    return found;
  }

  /** Stores the sums of trees. Needs no transaction: lost sums are computed again. */
  insert(sums: Iterable<readonly [tree: ObjectNumber, sums: readonly FileSum[]]>, scheme: number): void {
    const records = Array.from(sums, ([number, sums]) => ({ number, scheme, sums }));
    this.#pages.write(records.sort((a, b) => a.number - b.number));
  }

  /** Removes the sums of pruned trees. */
  remove(trees: NumberSet): void {
    this.#pages.remove(trees);
  }
}

/** Opens the table. */
export function openTreeSums(sql: Sql): RecordPages<TreeSums> {
  return new RecordPages(sql, { table: "tree_sums", column: "sums", sums: {}, sizeOf, write, read });
}

function sizeOf({ sums }: TreeSums): number {
  const bytes = RECORD_BYTES + sums.length * SUM_BYTES;
  if (bytes <= BLOB_MAX_BYTES) return bytes;
  throw new GitError("too-large", { what: "a tree's sums by language", limit: BLOB_MAX_BYTES, actual: bytes });
}

function write(writer: VarintWriter, { scheme, sums }: TreeSums): void {
  writer.varint(scheme);
  writer.varint(sums.length);
  for (const [kind, files, bytes] of sums) {
    writer.zigzag(kind);
    writer.varint(files);
    writer.varint(bytes);
  }
}

function read(reader: VarintReader, number: ObjectNumber): TreeSums {
  const scheme = reader.varint();
  const sums: FileSum[] = [];
  for (let left = reader.varint(); left > 0; left--) sums.push([reader.zigzag(), reader.varint(), reader.varint()]);
  return { number, scheme, sums };
}
