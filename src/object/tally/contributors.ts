import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import { decodeText, encodeText, toByteString } from "../../base/format/byte-string.ts";
import { checkLimit } from "../../base/format/limits.ts";
import { toHex } from "../../base/format/oid.ts";
import { typeOfMode } from "../../base/format/tree.ts";
import type { Author } from "../store/graph/author-table.ts";
import type { Tables } from "../store/tables.ts";
import { toIsoDate } from "../../base/format/ident.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { peel, resolveCommit, revisionOf } from "../objects/revision.ts";
import { entryAt } from "../objects/tree-path.ts";
import { Mailmap } from "./mailmap.ts";
import { noteAuthors } from "./note-authors.ts";
import type { Contributors } from "../../contract/tally.ts";

/** The most bytes of a mailmap. A project with 10,000 authors needs a tenth of this. */
const MAX_MAILMAP_BYTES = 4 * 1024 * 1024;

/** Lists the authors of the commits that a revision reaches, merges counted, those with the most
 * commits first: the output of `git shortlog -sne` in a bare repository, with HEAD's `.mailmap`.
 * @param from how many to skip
 * @throws GitError as `resolveCommit`, "too-large" for the mailmap */
export async function contributors(
  repository: OpenRepository,
  { ref, from, limit }: { readonly ref: string; readonly from: number; readonly limit: number },
): Promise<Contributors> {
  const commit = await resolveCommit(repository, encodeText(ref));
  const { oid: mailmap, sums } = await sumContributors(repository, commit.number);
  return {
    commit: toHex(commit.oid),
    mailmap,
    total: sums.length,
    contributors: sums.slice(from, from + limit).map(({ author, commits, firstTime, lastTime }) => ({
      name: decodeText(author.name),
      email: decodeText(author.email),
      commits,
      first: toIsoDate(firstTime, "+0000"),
      last: toIsoDate(lastTime, "+0000"),
    })),
  };
}

/** The sums of one person's commits; times in seconds. */
interface ContributorSum {
  readonly author: Author;
  commits: number;
  firstTime: number;
  lastTime: number;
}

/** Sums up the commits that a commit reaches by author, in the order of `git shortlog -n`.
 * @param commit object number */
export async function sumContributors(
  repository: OpenRepository,
  commit: ObjectNumber,
): Promise<{ oid: string | null; sums: readonly ContributorSum[] }> {
  const { mailmap, oid } = await readMailmap(repository);
  await noteAuthors(repository);
  const byPerson = new Map<string, ContributorSum>();
  for (const sum of sumAuthors(repository.tables, commit)) {
    const author = mailmap.map(sum.author);
    const key = `${author.name} <${author.email}>`;
    const known = byPerson.get(key);
    if (known === undefined) byPerson.set(key, { ...sum, author });
    else addSum(known, sum);
  }
  const sums = [...byPerson].sort(([a, { commits: m }], [b, { commits: n }]) => n - m || (a < b ? -1 : 1));
  return { oid, sums: sums.map(([, sum]) => sum) };
}

/** The sums by author, before the mailmap is applied. */
function sumAuthors({ graph, authors }: Tables, commit: ObjectNumber): ContributorSum[] {
  const sums: (ContributorSum | undefined)[] = [];
  for (const position of graph.ancestors([graph.position(commit)])) {
    const id = authors.id(position);
    const time = authors.time(position);
    const sum = sums[id];
    if (sum === undefined) sums[id] = { author: authors.author(id), commits: 1, firstTime: time, lastTime: time };
    else addSum(sum, { commits: 1, firstTime: time, lastTime: time });
  }
  return sums.filter((sum) => sum !== undefined);
}

function addSum(sum: ContributorSum, { commits, firstTime, lastTime }: Omit<ContributorSum, "author">): void {
  sum.commits += commits;
  sum.firstTime = Math.min(sum.firstTime, firstTime);
  sum.lastTime = Math.max(sum.lastTime, lastTime);
}

/** Reads HEAD's mailmap; an empty one if it is missing.
 * @throws GitError "too-large" */
async function readMailmap(repository: OpenRepository): Promise<{ mailmap: Mailmap; oid: string | null }> {
  const head = repository.advertised.head?.oid ?? null;
  const none = { mailmap: new Mailmap(""), oid: null };
  if (head === null) return none;
  const tree = peel(repository, revisionOf(repository, repository.numberOf(head)), "tree");
  const entry = await entryAt(repository, tree.number, ".mailmap");
  if (entry === null || typeOfMode(entry.mode) !== "blob") return none;
  const { size } = repository.tables.objects.find(entry.oid)!;
  checkLimit(".mailmap (bytes)", MAX_MAILMAP_BYTES, size);
  const { bytes } = await repository.reader.read(entry.number);
  return { mailmap: new Mailmap(toByteString(bytes)), oid: toHex(entry.oid) };
}
