// Lists of a repository's forks in the registry.
import type { Caller } from "../../../base/access/caller.ts";
import type { RepositoryName } from "../../../base/format/repository-name.ts";
import type { Sql } from "../sql/sql.ts";
import { compareNames, REPOSITORY_COLUMNS, type RepositoryRow, toEntry } from "./repository-rows.ts";
import {
  type RepositoryEntry,
  type Visibility,
  type ForkPage,
  type FirstForks,
  MAX_COUNTED_FORKS,
} from "../../../contract/registry.ts";

/** A contiguous range of the index `forks_shown`. */
interface Range {
  readonly visibility: Visibility;
  /** Only forks of this owner; null: of all. */
  readonly owner: string | null;
  /** Only this repository; null: all. */
  readonly id: string | null;
}

/** Lists the forks of a repository that a caller may read. Others are neither read nor counted.
 * @param after only names after this one; null: from the beginning */
export function listForks(
  sql: Sql,
  parent: string,
  after: RepositoryName | null,
  limit: number,
  caller: Caller,
): ForkPage {
  // Reads one more, which shows whether there is a next page.
  const found = rangesOf(caller).flatMap((range) => readRange(sql, parent, range, after, limit + 1));
  const sorted = found.toSorted(compareNames);
  const forks = sorted.slice(0, limit);
  return { forks, next: sorted.length > limit ? forks.at(-1)! : null };
}

/** Finds the first forks that a caller may read, and counts them all.
 * @param limit limit of `first` */
export function firstForks(sql: Sql, parent: string, limit: number, caller: Caller): FirstForks {
  const { forks: first, next } = listForks(sql, parent, null, limit, caller);
  return { first, count: next === null ? first.length : countForks(sql, parent, caller) };
}

function countForks(sql: Sql, parent: string, caller: Caller): number {
  const counts = rangesOf(caller).map((range) => {
    const { where, bindings } = conditionOf(parent, range, null);
    const query = `SELECT count(*) AS count FROM (SELECT 1 FROM repositories WHERE ${where} LIMIT ${MAX_COUNTED_FORKS})`;
    // oxlint-disable-next-line bounded/no-call-spread -- seven.
    return sql.exec<{ count: number }>(query, ...bindings).toArray()[0]!.count;
  });
  return Math.min(
    counts.reduce((sum, count) => sum + count, 0),
    MAX_COUNTED_FORKS,
  );
}

/** Ranges of the forks that a caller may read: public ones, and private ones in the caller's
 * scope. */
function rangesOf(caller: Caller): readonly Range[] {
  const shown: Range = { visibility: "public", owner: null, id: null };
  const hidden: Range = { visibility: "private", owner: null, id: null };
  switch (caller.kind) {
    case "anyone":
    case "operator":
      return [shown, hidden];
    case "anonymous":
      return [shown];
    case "token": {
      const { scope } = caller.token;
      return [shown, "owner" in scope ? { ...hidden, owner: scope.owner } : { ...hidden, id: scope.repositoryId }];
    }
  }
}

function readRange(
  sql: Sql,
  parent: string,
  range: Range,
  after: RepositoryName | null,
  limit: number,
): RepositoryEntry[] {
  const { where, bindings } = conditionOf(parent, range, after);
  const query = `SELECT ${REPOSITORY_COLUMNS} FROM repositories WHERE ${where} ORDER BY owner, name LIMIT ?`;
  // oxlint-disable-next-line bounded/no-call-spread -- seven.
  const rows = sql.exec<RepositoryRow>(query, ...bindings, limit);
  return rows.toArray().map(toEntry);
}

/** No owner sorts before the empty string, and no name has a character after "~". */
function conditionOf(
  parent: string,
  { visibility, owner, id }: Range,
  after: RepositoryName | null,
): { readonly where: string; readonly bindings: readonly string[] } {
  const where = `parent = ? AND visibility = ? AND (owner, name) > (?, ?) AND owner BETWEEN ? AND ?
    AND ${id === null ? "TRUE" : "id = ?"} AND state = 'live'`;
  const bindings = [parent, visibility, after?.owner ?? "", after?.name ?? "", owner ?? "", owner ?? "~"];
  return { where, bindings: id === null ? bindings : [...bindings, id] };
}
