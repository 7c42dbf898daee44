import { decodeText } from "../../base/format/byte-string.ts";
import { MAX_WALK_STEPS } from "../../base/format/limits.ts";
import { peel } from "../objects/revision.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { WalkBudget } from "../../base/pacing/walk-budget.ts";
import { type ChooseEntry, walkFiles } from "../files/tree-files.ts";
import { openTarget } from "./page-revision.ts";
import { listChoices } from "./ref-choices.ts";
import type { FindPage } from "../../contract/pages.ts";

/** Paths that a page shows. */
const MAX_SHOWN = 100;

/** Matching paths that are ranked. */
const MAX_RANKED = 10_000;

/** Steps after which the search ends: it leaves some for the directory that comes next. */
const FIND_STEPS = 0.75 * MAX_WALK_STEPS;

/** Bytes of a path that are compared in a step. */
const RANKED_BYTES_PER_STEP = 2;

/** More than a path has characters: a match outside of a file's name comes after all in names. */
const MAX_PATH_RANK = 10_000;

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
  let isComplete = true;
  const enter = async (directory: string, content: Uint8Array): Promise<ChooseEntry | null> => {
    isComplete = budget.spent < FIND_STEPS;
    if (!isComplete) return null;
    budget.visit(directory, content);
    await budget.pause();
    return () => true;
  };
  const tree = peel(repository, commit, "tree").oid;
  const found: { path: string; rank: number }[] = [];
  const walk = { tree, prefix: "", after: "", enter, pause: () => budget.pause() };
  for await (const { path } of walkFiles(repository, walk)) {
    budget.spend(Math.ceil(path.length / RANKED_BYTES_PER_STEP));
    const rank = rankOf(path, pieces);
    if (rank !== null) {
      found.push({ path, rank });
      budget.keep(path);
    }
    isComplete = found.length < MAX_RANKED && !budget.isFull && budget.spent < FIND_STEPS;
    if (!isComplete) break;
    await budget.pause();
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
