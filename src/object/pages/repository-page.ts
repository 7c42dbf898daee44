import { formatEventId } from "../../base/format/event-id.ts";
import { newestEvent } from "../events/events.ts";
import type { CommitRecord } from "../../contract/commits.ts";
import { readCommits } from "../objects/commit-record.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import type { Revision } from "../objects/revision.ts";
import { languages } from "../tally/languages.ts";
import { openTarget } from "./page-revision.ts";
import { showDirectory } from "./path-page.ts";
import { listChoices } from "./ref-choices.ts";
import type { RepositoryPage, HeadPart } from "../../contract/pages.ts";
import { HEADS } from "../../base/format/ref-name.ts";

/** Reads what the page of a repository shows. */
export async function repositoryPage(repository: OpenRepository): Promise<RepositoryPage> {
  // First: what comes while the page is read is told afterwards.
  const lastEvent = formatEventId(newestEvent(repository.tables));
  const { head } = repository.advertised;
  const target = head?.target ?? "";
  return {
    defaultBranch: target.startsWith(HEADS) ? target.slice(HEADS.length) : null,
    choices: listChoices(repository),
    head: head === null || head.oid === null ? null : await readHead(repository),
    lastEvent,
  };
}

async function readHead(repository: OpenRepository): Promise<HeadPart> {
  const target = await openTarget(repository, []);
  const { revision, commit } = target;
  return {
    revision,
    commit: await readCommit(repository, commit),
    commitCount: countCommits(repository, commit),
    shown: await showDirectory(repository, target, null),
    languages: (await languages(repository, revision.commit)).languages,
  };
}

async function readCommit(repository: OpenRepository, { number }: Revision): Promise<CommitRecord> {
  const [read] = await Array.fromAsync(readCommits(repository, [number]));
  return read![1];
}

function countCommits({ tables }: OpenRepository, { number }: Revision): number {
  return tables.graph.ancestors([tables.graph.position(number)]).count();
}
