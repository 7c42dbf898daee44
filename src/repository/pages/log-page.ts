import { toHex } from "../../format/oid.ts";
import { log, type LogEntry } from "../history/log.ts";
import { decodeLogPlace, encodeLogPlace } from "../history/log-cursor.ts";
import type { LogFilter } from "../history/log-selection.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { revisionOf } from "../objects/revision.ts";
import { openTarget, type PageRevision } from "./page-revision.ts";
import { listChoices, type RefChoices } from "./ref-choices.ts";

/** Lines of history that lead into a page at most: no graph shows more. */
const MAX_LINES = 100;

/** A request for a page of a log. */
export interface LogPageRequest {
  /** Of the URL: a revision and a path. Byte strings. */
  readonly parts: readonly string[];
  readonly filter: Omit<LogFilter, "path" | "order">;
  /** `next` of the page before; null: this is the first. */
  readonly cursor: string | null;
  readonly limit: number;
}

/** What a page of a log shows. */
export interface HistoryPage {
  readonly revision: PageRevision;
  /** Null: the URL has a whole commit id, so that the page never changes. */
  readonly choices: RefChoices | null;
  /** Byte string, "" for all. */
  readonly path: string;
  /** In the order of `git log`, all commits in that of `git log --date-order`. Fewer than `limit`,
   * or none, when the search took too long. */
  readonly commits: readonly LogEntry[];
  /** The cursor of the next page; null: this is the last. */
  readonly next: string | null;
  /** Ids of the commits to which the pages before lead, in hex: the first `MAX_LINES`. */
  readonly lines: readonly string[];
}

/** Reads a page of a log.
 * @throws GitError as `log`, and "invalid" for the cursor */
export async function logPage(
  repository: OpenRepository,
  { parts, filter, cursor, limit }: LogPageRequest,
): Promise<HistoryPage> {
  const { revision, path } = await openTarget(repository, parts);
  const place = cursor === null ? null : decodeLogPlace(cursor);
  const { author, text, since, until } = filter;
  const isWhole = path === "" && [author, text, since, until].every((wanted) => wanted === null);
  const query = {
    ...filter,
    path: path === "" ? null : path,
    follow: filter.follow && path !== "",
    // A graph shows all, and its lines lead down.
    order: isWhole ? ("children first" as const) : ("dates" as const),
  };
  const { commits, next } = await log(repository, { ...query, ref: revision.commit, place, limit });
  const lines = place?.open.slice(0, MAX_LINES) ?? [];
  return {
    revision,
    choices: revision.name === revision.commit ? null : listChoices(repository),
    path,
    commits,
    next: next === null ? null : encodeLogPlace(next),
    lines: lines.map((number) => toHex(revisionOf(repository, number).oid)),
  };
}
