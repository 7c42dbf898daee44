import type { IdEntries, Run } from "./id-runs.ts";
import type { PreparedRows } from "./object-pages.ts";
import type { Staged } from "./staged-rows.ts";

/** Objects that are ready to be inserted, by number and by id. */
export interface PreparedObjects {
  readonly rows: PreparedRows;
  /** A `Run`: the entries are staged. */
  readonly ids: IdEntries | Run;
  /** Null: nothing is staged. */
  readonly staged: Staged | null;
}
