import { fromHex, toHex } from "../../base/format/oid.ts";
import { branchRev, HEADS, TAGS } from "../../base/format/ref-name.ts";
import { isTreeMode } from "../../base/format/tree.ts";
import { log } from "../history/log.ts";
import type { ShowRequest } from "../../contract/diffs.ts";
import { refsNamed } from "../objects/named-refs.ts";
import { decodeLogPlace, encodeLogPlace } from "../../contract/history.ts";
import { findRename } from "../history/find-original.ts";
import { showCommit } from "../diff/diff.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { statuses } from "../events/statuses.ts";
import { peel, resolveCommit, revisionOf } from "../objects/revision.ts";
import { listChoices } from "./ref-choices.ts";
import { readNotes } from "./commit-notes.ts";
import type { ComparePage, CommitPage, FileOfCommit, LogPageRequest, HistoryPage } from "../../contract/pages.ts";
import { openTarget } from "./page-revision.ts";
import { entryAt } from "../objects/tree-path.ts";

/** Reads what the page of a commit shows.
 * @throws GitError as `showCommit` */
export async function commitPage(repository: OpenRepository, request: ShowRequest): Promise<CommitPage> {
  const commit = await showCommit(repository, request);
  return {
    commit,
    checks: await statuses(repository, commit.oid),
    notes: await readNotes(repository, fromHex(commit.oid)),
  };
}

/** Lists what can be compared.
 * @param names of sides, byte strings */
export async function comparePage(
  repository: OpenRepository,
  { names }: { names: readonly string[] },
): Promise<ComparePage> {
  const { advertised } = repository;
  const target = advertised.head?.target ?? "";
  return {
    defaultRev: target.startsWith(HEADS) ? branchRev(target.slice(HEADS.length)) : null,
    choices: listChoices(repository),
    sides: names.map((name) => {
      const full = refsNamed(advertised, name)[0]?.name ?? "";
      if (full.startsWith(HEADS)) return { kind: "branch", short: full.slice(HEADS.length) };
      return full.startsWith(TAGS) ? { kind: "tag", short: full.slice(TAGS.length) } : { kind: "commit", short: name };
    }),
  };
}

/** Finds a file as it was before a commit: in the first parent that has it, by the name that it had
 * there.
 * @returns null: the commit brought it
 * @throws GitError as `resolveCommit` */
export async function fileBefore(
  repository: OpenRepository,
  { commit, path }: FileOfCommit,
): Promise<FileOfCommit | null> {
  const { graph } = repository.tables;
  const revision = await resolveCommit(repository, commit);
  const parents = [...graph.parents(graph.position(revision.number))];
  const idOf = (parent: number): string => toHex(revisionOf(repository, graph.number(parent)).oid);
  for (const parent of parents) {
    const entry = await entryAt(repository, graph.tree(parent), path);
    if (entry !== null && entry.number !== 0 && !isTreeMode(entry.mode)) return { commit: idOf(parent), path };
  }
  for (const parent of parents) {
    const rename = await findRename(repository, graph.tree(parent), peel(repository, revision, "tree").number, path);
    if (rename !== null) return { commit: idOf(parent), path: rename.path };
  }
  return null;
}

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
