import { toHex } from "../../base/format/oid.ts";
import { log } from "../history/log.ts";
import { decodeLogPlace, encodeLogPlace } from "../../contract/log-cursor.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { revisionOf } from "../objects/revision.ts";
import { openTarget } from "./page-revision.ts";
import { listChoices } from "./ref-choices.ts";
import type { LogPageRequest, HistoryPage } from "../../contract/pages.ts";

/** Lines of history that lead into a page at most: no graph shows more. */
const MAX_LINES = 100;

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
