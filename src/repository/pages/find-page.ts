import { decodeText } from "../../format/byte-string.ts";
import { peel } from "../objects/revision.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { WalkBudget } from "../pacing/walk-budget.ts";
import { walkFiles } from "../files/tree-files.ts";
import { openTarget, type PageRevision } from "./page-revision.ts";
import { listChoices, type RefChoices } from "./ref-choices.ts";

/** Paths that a page shows. */
const MAX_SHOWN = 100;

/** Matching paths that are ranked. */
const MAX_RANKED = 10_000;

/** More than a path has characters: a match outside of a file's name comes after all in names. */
const MAX_PATH_RANK = 10_000;

/** What a page of found files shows. */
export interface FindPage {
  readonly revision: PageRevision;
  readonly choices: RefChoices;
  /** Byte strings, the best first. */
  readonly paths: readonly string[];
  /** How many match. More may, if not `isComplete`. */
  readonly count: number;
  /** Whether all files were looked at. */
  readonly isComplete: boolean;
}

/** Finds files by their paths: all parts of what is wanted must be in the path, in their order,
 * whatever their case. Best are those whose names have the last part, then the shortest.
 * @param wanted text, parts with blanks between them
 * @throws GitError as `resolveCommit` */
export async function findPage(
  repository: OpenRepository,
  { parts, wanted }: { readonly parts: readonly string[]; readonly wanted: string },
): Promise<FindPage> {
  const { revision, commit } = await openTarget(repository, parts);
  const pieces = wanted
    .toLowerCase()
    .split(/\s+/)
    .filter((piece) => piece !== "");
  const budget = new WalkBudget();
  const enter = async <Entry>(directory: string, entries: readonly Entry[]): Promise<readonly Entry[]> => {
    await budget.pause();
    budget.visit(directory, entries.length);
    return entries;
  };
  const tree = peel(repository, commit, "tree").oid;
  const found: { path: string; rank: number }[] = [];
  let isComplete = true;
  for await (const { path } of walkFiles(repository, { tree, prefix: "", after: "", enter })) {
    const rank = rankOf(path, pieces);
    if (rank === null) continue;
    found.push({ path, rank });
    budget.keep(path);
    if (found.length < MAX_RANKED && !budget.isFull) continue;
    isComplete = false;
    break;
  }
  found.sort((a, b) => a.rank - b.rank || (a.path < b.path ? -1 : 1));
  const paths = found.slice(0, MAX_SHOWN).map(({ path }) => path);
  return { revision, choices: listChoices(repository), paths, count: found.length, isComplete };
}

/** How well a path matches, the lower the better; null: it does not.
 * @param path byte string
 * @param pieces in lower case */
function rankOf(path: string, pieces: readonly string[]): number | null {
  const [last] = pieces.slice(-1);
  if (last === undefined) return 0;
  const text = decodeText(path).toLowerCase();
  let at = 0;
  for (const piece of pieces) {
    const start = text.indexOf(piece, at);
    if (start < 0) return null;
    at = start + piece.length;
  }
  const isInName = text.slice(text.lastIndexOf("/") + 1).includes(last);
  return text.length + (isInName ? 0 : MAX_PATH_RANK);
}
