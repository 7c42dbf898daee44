import type { FsckStageName, FsckProblem } from "../../../src/contract/upkeep.ts";
import type { SealedRow } from "../../../src/object/store/index/chunk-row.ts";
import {
  divideRows,
  joinRows,
  type ObjectColumns,
  type ObjectRow,
  toRows,
} from "../../../src/object/store/index/object-columns.ts";
import type { StoredNode } from "../../../src/object/store/index/node-pages.ts";
import { WorktreeFiles } from "../../../src/object/store/jobs/worktree-files.ts";
import type { StoredFile } from "../../../src/object/store/jobs/worktree-records.ts";
import { NumberSet } from "../../../src/base/numbers/number-set.ts";
import { editChunks } from "../../harness/edit-chunks.ts";
import { editNode } from "../../harness/edit-nodes.ts";
import { editObjects } from "../../harness/edit-objects.ts";
import type { PushedRepository } from "../pushing.ts";
import { check } from "./checked-repository.ts";

/** Changes what a repository has stored, checks it, and takes the change back. */
export class Damage {
  readonly #repository: PushedRepository;

  constructor(repository: PushedRepository) {
    this.#repository = repository;
  }

  /** The problems found after a statement. */
  inRows(statement: string, from?: FsckStageName): Promise<FsckProblem[]> {
    return this.#with(() => this.#repository.sql.exec(statement), from);
  }

  /** The problems found after a change of the chunks in R2; null: they are removed. */
  ofSealed(change: (row: SealedRow) => SealedRow | null): Promise<FsckProblem[]> {
    return this.#with(() => editChunks(this.#repository.sql, change));
  }

  /** The problems found after a change of an object's row. */
  ofObject(number: number, change: (rows: ObjectColumns, i: number) => void): Promise<FsckProblem[]> {
    return this.#with(() =>
      editObjects(this.#repository.sql, (rows) => {
        const i = rows.number.indexOf(number);
        if (i < 0) return null;
        const changed = joinRows([rows]);
        change(changed, i);
        return changed;
      }),
    );
  }

  /** The problems found after an object's row was removed. */
  withoutObject(number: number): Promise<FsckProblem[]> {
    return this.#with(() => editObjects(this.#repository.sql, (rows) => divideRows(rows, NumberSet.of(number)).others));
  }

  /** The problems found after a change of a node; null: it is removed. */
  ofNode(number: number, change: (node: StoredNode) => StoredNode | null): Promise<FsckProblem[]> {
    return this.#with(() => editNode(this.#repository.sql, number, change));
  }

  /** The problems found after a change of each file of a worktree. */
  ofFiles(worktree: number, change: (file: StoredFile) => StoredFile): Promise<FsckProblem[]> {
    const { sql } = this.#repository;
    return this.#with(() => {
      const files = new WorktreeFiles(sql, worktree);
      const recent = files.put([...files.from("")].map(change));
      sql.exec("UPDATE worktrees SET recent = ? WHERE id = ?", recent, worktree);
    }, "worktrees");
  }

  /** The row of an object, the first of those that are as asked. */
  findRow(holds: (row: ObjectRow) => boolean): ObjectRow {
    const { objects } = this.#repository.tables;
    return toRows(objects.locate(objects.present())).find(holds)!;
  }

  async #with(change: () => void, from: FsckStageName = "index"): Promise<FsckProblem[]> {
    const { sql, tables } = this.#repository;
    sql.exec("BEGIN");
    try {
      change();
      return (await check(this.#repository, { from })).problems;
    } finally {
      sql.exec("ROLLBACK");
      tables.forget();
    }
  }
}
