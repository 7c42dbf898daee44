import { fromHex } from "../../base/format/oid.ts";
import type { ShowRequest } from "../../contract/diffs.ts";
import { showCommit } from "../diff/show-commit.ts";
import { statuses } from "../events/statuses.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { readNotes } from "./commit-notes.ts";
import type { CommitPage } from "../../contract/pages.ts";

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
