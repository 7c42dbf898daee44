import { fromHex } from "../../format/oid.ts";
import { type ShowRequest, showCommit } from "../diff/show-commit.ts";
import { type CommitStatuses, statuses } from "../events/statuses.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import type { ShownCommit } from "../objects/shown-object.ts";
import { type CommitNotes, readNotes } from "./commit-notes.ts";

/** What the page of a commit shows besides its changes. */
export interface CommitPage {
  readonly commit: ShownCommit;
  readonly checks: CommitStatuses;
  readonly notes: CommitNotes;
}

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
