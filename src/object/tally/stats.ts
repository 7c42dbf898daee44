import { includesRight } from "../../base/access/caller.ts";
import { decodeText, encodeText } from "../../base/format/byte-string.ts";
import { toHex } from "../../base/format/oid.ts";
import { toIsoDate } from "../../base/format/ident.ts";
import { LOOKED_FOR } from "../state/advertised-refs.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { peel, resolveCommit, type Revision } from "../objects/revision.ts";
import type { RecordedPush, Stats } from "../../contract/tally.ts";
import { sumContributors } from "./contributors.ts";
import { addUp } from "./languages.ts";
import { sumTree } from "./tree-sums.ts";
import { HEADS, TAGS } from "../../base/format/ref-name.ts";

const NO_COMMIT = {
  commit: null,
  commits: 0,
  contributors: 0,
  files: 0,
  bytes: 0,
  firstCommit: null,
  lastCommit: null,
};

/** Returns the statistics of a repository and of one commit.
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
    defaultBranch: head?.target.startsWith(HEADS) === true ? decodeText(head.target.slice(HEADS.length)) : null,
    ...ofCommit,
    branches: count(HEADS),
    tags: count(TAGS),
    objects: objects.present().size,
    storedBytes: chunks.totalBytes(),
    // The newest push is always kept, and ids count from 1.
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

/** Lists pushes, and commits through the API, newest first, as far back as the log goes. Who pushed
 * is shown only to requesters with write access: names of tokens reveal people and machines.
 * @param ref only pushes that moved it: a full or short name, also of a deleted ref; null: all
 * @param before only pushes with a lower id; null: from the newest */
export async function pushes(
  { tables, requester }: OpenRepository,
  { ref, before, limit }: { readonly ref: string | null; readonly before: number | null; readonly limit: number },
): Promise<{ pushes: readonly RecordedPush[]; next: number | null }> {
  const names = ref === null ? null : LOOKED_FOR.map((prefix) => prefix + encodeText(ref));
  const page = tables.pushes.page(before, limit, names);
  const isShown = includesRight(requester.right, "write");
  return {
    pushes: page.pushes.map(({ timeMs, refs, who, ...rest }) => ({
      ...rest,
      who: isShown && who !== null ? decodeText(who) : null,
      time: new Date(timeMs).toISOString(),
      refs: refs.map(([name, from, to]) => ({ name: decodeText(name), old: from, new: to })),
    })),
    next: page.next,
  };
}
