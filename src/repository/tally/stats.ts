import { decodeText, encodeText } from "../../format/byte-string.ts";
import { toHex } from "../../format/oid.ts";
import { toIsoDate } from "../objects/commit-record.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { peel, resolveCommit, type Revision } from "../objects/revision.ts";
import { sumContributors } from "./contributors.ts";
import { addUp } from "./languages.ts";
import { sumTree } from "./tree-sums.ts";

const BRANCHES = "refs/heads/";
const TAGS = "refs/tags/";

/** The figures of a repository; times in ISO 8601, UTC. */
export interface Stats {
  readonly defaultBranch: string | null;
  /** What follows is about this commit, null: the default branch has none. */
  readonly commit: string | null;
  readonly commits: number;
  readonly contributors: number;
  readonly files: number;
  /** Of the files. */
  readonly bytes: number;
  /** When the commits were made: the earliest and the latest. */
  readonly firstCommit: string | null;
  readonly lastCommit: string | null;
  /** What follows is about all of the repository. */
  readonly branches: number;
  readonly tags: number;
  readonly objects: number;
  /** As they are stored, compressed. */
  readonly storedBytes: number;
  /** All there ever were. */
  readonly pushes: number;
  readonly lastPush: string | null;
}

const NO_COMMIT = {
  commit: null,
  commits: 0,
  contributors: 0,
  files: 0,
  bytes: 0,
  firstCommit: null,
  lastCommit: null,
};

/** Tells the figures of a repository, those that depend on a commit for one.
 * @param ref null: the default branch, which may have no commit
 * @throws GitError as `resolveCommit` */
export async function stats(repository: OpenRepository, ref: string | null): Promise<Stats> {
  const isEmpty = ref === null && (repository.advertised.head?.oid ?? null) === null;
  const ofCommit = isEmpty
    ? NO_COMMIT
    : await describeCommit(repository, await resolveCommit(repository, encodeText(ref ?? "HEAD")));
  const { objects, chunks, pushes } = repository.tables;
  const { all, head } = repository.advertised;
  const [last] = pushes.page(null, 1).pushes;
  const count = (prefix: string): number => all.names.filter((name) => name.startsWith(prefix)).length;
  return {
    defaultBranch: head?.target.startsWith(BRANCHES) === true ? decodeText(head.target.slice(BRANCHES.length)) : null,
    ...ofCommit,
    branches: count(BRANCHES),
    tags: count(TAGS),
    objects: objects.present().size,
    storedBytes: chunks.totalBytes(),
    // The newest is never forgotten, and they are counted from 1.
    pushes: last?.id ?? 0,
    lastPush: last === undefined ? null : new Date(last.timeMs).toISOString(),
  };
}

async function describeCommit(repository: OpenRepository, commit: Revision) {
  const { sums } = await sumContributors(repository, commit.number);
  const { files, bytes } = addUp(await sumTree(repository, peel(repository, commit, "tree").number));
  const { graph } = repository.tables;
  let [commits, first, last] = [0, Infinity, -Infinity];
  for (const position of graph.ancestors([graph.position(commit.number)])) {
    const time = graph.time(position);
    commits += 1;
    first = Math.min(first, time);
    last = Math.max(last, time);
  }
  return {
    commit: toHex(commit.oid),
    commits,
    contributors: sums.length,
    files,
    bytes,
    firstCommit: toIsoDate(first, "+0000"),
    lastCommit: toIsoDate(last, "+0000"),
  };
}
