import { openAuthored, openAuthors } from "../store/graph/author-table.ts";
import type { RecordPages } from "../store/index/record-pages.ts";
import { openTreeSums } from "../store/index/tree-sum-table.ts";
import type { Sql } from "../store/sql/sql.ts";
import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import { pause } from "../../base/pacing/time-slice.ts";
import type { FsckRun, FsckStage } from "./fsck-run.ts";

/** Columns of JSON. */
const JSON_COLUMNS = [
  ["repository", "worktrees"],
  ["ref_rules", "allowed_tokens"],
  ["ref_rules", "required_contexts"],
  ["pushes", "refs"],
  ["pushed_refs", "refs"],
  ["events", "data"],
  ["webhooks", "settings"],
  ["deliveries", "record"],
  ["uploads", "options"],
  ["imports", "record"],
  ["mirrors", "record"],
  ["pins", "keys"],
  ["job_runs", "record"],
] as const;

type ReadablePages = Pick<RecordPages<{ readonly number: ObjectNumber }>, "read" | "pageAfter">;

/** Tables whose rows are pages of records, and how they are opened. */
const RECORD_TABLES: readonly (readonly [table: string, open: (sql: Sql) => ReadablePages])[] = [
  ["authors", openAuthors],
  ["authored", openAuthored],
  ["tree_sums", openTreeSums],
];

/** Checks that the rows that no other stage reads can be read: columns of JSON, and pages of
 * records, table by table. */
export const checkRows: FsckStage = async (run, after) => {
  if (after === "") await checkJson(run);
  const [done = "", begun = "0"] = after.split(" ");
  const from = RECORD_TABLES.findIndex(([table]) => table === done);
  for (const [table, open] of RECORD_TABLES.slice(Math.max(from, 0))) {
    const pages = open(run.repository.state.platform.sql);
    let first = table === done ? Number(begun) : 0;
    for (let page = pages.pageAfter(first); page !== null; page = pages.pageAfter(first)) {
      const numbers = page;
      await run.attempt(table, () => void [...pages.read(numbers)], undefined);
      ({ first } = numbers);
      await pause();
      if (run.isSpent) return `${table} ${first}`;
    }
  }
  return null;
};

async function checkJson(run: FsckRun): Promise<void> {
  for (const [table, column] of JSON_COLUMNS) {
    const broken = await run.attempt(table, () => run.audit.brokenJson(table, column), 0);
    if (broken > 0) run.reportUnreadable(table, `${broken} values of ${column} are no JSON`);
    await pause();
  }
}
