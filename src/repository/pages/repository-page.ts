import { formatEventId } from "../../format/event-id.ts";
import { newestEvent } from "../events/events.ts";
import { type CommitRecord, readCommits } from "../objects/commit-record.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import type { Revision } from "../objects/revision.ts";
import { BRANCHES } from "../refs/move-ref.ts";
import { type Languages, languages } from "../tally/languages.ts";
import { openTarget, type PageRevision } from "./page-revision.ts";
import { showDirectory, type ShownDirectory } from "./path-page.ts";
import { listChoices, type RefChoices } from "./ref-choices.ts";

/** What the page of a repository shows. */
export interface RepositoryPage {
  /** Without `refs/heads/`, byte string; null: HEAD names no branch. */
  readonly defaultBranch: string | null;
  readonly choices: RefChoices;
  /** Null: HEAD has no commit. */
  readonly head: HeadPart | null;
  /** The id of the newest event that it takes account of. */
  readonly lastEvent: string;
}

/** What the page shows of the commit that HEAD names. */
export interface HeadPart {
  readonly revision: PageRevision;
  readonly commit: CommitRecord;
  /** How many commits it reaches, itself included. */
  readonly commitCount: number;
  readonly shown: ShownDirectory;
  readonly languages: Languages["languages"];
}

/** Reads what the page of a repository shows. */
export async function repositoryPage(repository: OpenRepository): Promise<RepositoryPage> {
  // First: what comes while the page is read is told afterwards.
  const lastEvent = formatEventId(newestEvent(repository.tables));
  const { head } = repository.advertised;
  const target = head?.target ?? "";
  return {
    defaultBranch: target.startsWith(BRANCHES) ? target.slice(BRANCHES.length) : null,
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
