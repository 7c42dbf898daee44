/** Three uses of a deployment in a month, and what each is billed for. */
import { addQuantities, type Counts, newQuantities, type Quantities, type Repository } from "./costs.ts";

/** Days that are billed as a month. */
const DAYS = 30;

/** A kind of work that a use consists of. */
interface Share {
  /** How it is called in the table of uses. */
  readonly what: string;
  readonly scenario: string;
  readonly repository: Repository;
  readonly perDay: number;
}

/** A use. */
export interface Use {
  readonly name: string;
  readonly repositories: number;
  /** GB of objects in all of them; which repository of the samples tells what else they take up. */
  readonly gb: number;
  readonly stored: Repository;
  /** Commits of a repository, where they are more than the samples' has: its graph is read whenever its object wakes. */
  readonly commits: number | null;
  readonly shares: readonly Share[];
}

const SMALL: Repository = { repository: "noise", files: 100 };
const MIDDLE: Repository = { repository: "noise", files: 1_000 };
const LARGE: Repository = { repository: "noise", files: 5_000 };
const HISTORY: Repository = { repository: "history", files: 300 };
const LONG: Repository = { repository: "long history", files: 40 };

/** What a repository is read and written by, times a day. */
function listShares(
  repository: Repository,
  perDay: { pushes: number; apiCommits: number; fetches: number; idleFetches: number; clones: number; reads: number },
): Share[] {
  return [
    { what: "small pushes", scenario: "push, small", repository, perDay: perDay.pushes },
    { what: "commits by the API", scenario: "commit by the API", repository, perDay: perDay.apiCommits },
    { what: "fetches of a commit", scenario: "fetch, one commit", repository, perDay: perDay.fetches },
    { what: "fetches of nothing new", scenario: "fetch, nothing new", repository, perDay: perDay.idleFetches },
    { what: "clones", scenario: "clone, first", repository, perDay: perDay.clones },
    { what: "reads by the API", scenario: "read files", repository, perDay: perDay.reads },
  ];
}

/** The uses of docs/cost.md. */
export const USES: readonly Use[] = [
  {
    name: "small",
    repositories: 20,
    gb: 1,
    stored: HISTORY,
    commits: null,
    shares: listShares(HISTORY, {
      pushes: 50,
      apiCommits: 20,
      fetches: 200,
      idleFetches: 200,
      clones: 10,
      reads: 500,
    }),
  },
  {
    name: "CI",
    repositories: 1,
    gb: 0.5,
    stored: LARGE,
    commits: null,
    shares: [
      ...listShares(LARGE, { pushes: 100, apiCommits: 0, fetches: 300, idleFetches: 1_000, clones: 10, reads: 500 }),
      {
        what: "CI clones, 20 at once",
        scenario: "CI clones, 20 at once, new commit",
        repository: LARGE,
        perDay: 2_000,
      },
    ],
  },
  {
    name: "monorepo",
    repositories: 1,
    gb: 5,
    stored: HISTORY,
    commits: 200_000,
    shares: [
      ...listShares(LARGE, {
        pushes: 500,
        apiCommits: 100,
        fetches: 2_000,
        idleFetches: 2_000,
        clones: 5,
        reads: 2_000,
      }),
      { what: "CI clones, alone", scenario: "CI clone, new commit", repository: LARGE, perDay: 2_000 },
    ],
  },
];

/** The repositories of the managed host that one of a use would need, or be too large for, and what it does in a month. */
export interface ManagedUse {
  readonly operations: number;
  readonly gb: number;
  readonly repositoryGb: number;
}

/** A month of a use as the managed host counts it: every push, fetch, clone, commit and read is an operation. */
export function managedUse({ gb, repositories, shares }: Use): ManagedUse {
  const perDay = shares.reduce((sum, share) => sum + share.perDay, 0);
  return { operations: perDay * DAYS, gb, repositoryGb: gb / repositories };
}

/** What a month of a use is billed for. */
export function monthOf(use: Use, counts: Counts): Quantities {
  const month = newQuantities();
  for (const { scenario, repository, perDay } of use.shares)
    addQuantities(month, counts.bill(repository, scenario), perDay * DAYS);
  month.rowsRead += readGraphs(use, counts);
  const storage = counts.storageOf(use.stored);
  month.bucketGbMonths = use.gb * storage.bucket;
  month.databaseGbMonths = use.gb * storage.database;
  return month;
}

/** Rows that are read of the graph of a history that is longer than the one which was counted, with each piece of work: an estimate, as if the
 * object had been idle before each. */
function readGraphs({ commits, shares }: Use, counts: Counts): number {
  if (commits === null) return 0;
  const wakes = shares.reduce((sum, { perDay }) => sum + perDay, 0) * DAYS;
  return wakes * commits * rowsPerCommit(counts);
}

/** Rows that a waking object reads for each commit of its history: those of a clone of the long history. */
export function rowsPerCommit(counts: Counts): number {
  const rows = counts.read(LONG, "clone, first", "work", "repository rows read");
  return rows / counts.read(LONG, "push, new repository", "after", "commits");
}

/** The repositories of the samples. */
export { HISTORY, LARGE, LONG, MIDDLE, SMALL };
