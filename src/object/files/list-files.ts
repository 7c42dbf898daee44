import { TREE } from "../../base/format/object.ts";
import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import { GitError } from "../../base/format/errors.ts";
import { MAX_WALK_STEPS } from "../../base/format/limits.ts";
import { type Oid, toHex } from "../../base/format/oid.ts";
import type { TreeCursor } from "../../base/format/tree-cursor.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { peel, resolveCommit, type Revision } from "../objects/revision.ts";
import { readTree } from "../objects/tree-contents.ts";
import { entryAt } from "../objects/tree-path.ts";
import { WalkBudget } from "../../base/pacing/walk-budget.ts";
import {
  MAX_ENTRIES_PER_PAGE,
  type DirectoryRequest,
  type Directory,
  type TreeRequest,
  type TreePart,
  type FilesRequest,
  type FilesPage,
} from "../../contract/files.ts";
import { pickEntries } from "./directory-page.ts";
import { toFileColumns, findLfsFiles } from "./file-columns.ts";
import { findTyped } from "./locate-file.ts";
import { findLastCommits } from "./last-commits.ts";
import { type ChooseEntry, type TreeFile, walkFiles } from "./tree-files.ts";

/** After this many steps, half a second, a page ends at the next directory. */
const PAGE_STEPS = MAX_WALK_STEPS / 2;

/** How a directory is read. */
interface DirectoryReading extends Pick<DirectoryRequest, "lastCommits" | "lfs" | "after" | "limit"> {
  /** Whether directories come before all files. Default: the order of the tree. */
  readonly directoriesFirst?: boolean;
  /** Bytes that are shown with each name. Default: those of the directory's path. */
  readonly prefixBytes?: number;
  /** Is shown each entry of the whole directory. */
  readonly look?: (cursor: TreeCursor) => void;
}

/** Lists a part of a directory. Reads its tree and those on the way there, and no blobs.
 * @throws GitError "not-found", "wrong-type" when the path is a file's, and as `resolveCommit` */
export async function listDirectory(
  repository: OpenRepository,
  { ref, path, ...wanted }: DirectoryRequest,
): Promise<Directory> {
  return readDirectory(repository, await resolveCommit(repository, ref), path, wanted);
}

/** Reads a directory of a commit. @see listDirectory */
export async function readDirectory(
  repository: OpenRepository,
  commit: Revision,
  path: string,
  {
    lastCommits,
    lfs = false,
    after = "",
    limit = MAX_ENTRIES_PER_PAGE,
    directoriesFirst = false,
    prefixBytes = path.length,
    look,
  }: DirectoryReading,
): Promise<Directory> {
  const tree = await treeAt(repository, commit, path);
  const part = { after, limit, directoriesFirst, prefixBytes };
  const { entries, ...place } = await pickEntries(await readTree(repository, tree.oid), part, look);
  const files = entries.map(({ name, mode, oid }) => ({ path: name, mode, oid }));
  const columns = toFileColumns(repository.tables.objects, files);
  return {
    commit: toHex(commit.oid),
    tree: toHex(tree.oid),
    entries: columns,
    lfs: lfs ? findLfsFiles(repository.tables, columns) : [],
    lastCommits: lastCommits ? await findLastCommits(repository, commit.number, path, entries) : null,
    ...place,
  };
}

/** Reads a part of a tree that is in the repository.
 * @throws GitError "not-found", "wrong-type" */
export async function listTree(repository: OpenRepository, { oid, ...part }: TreeRequest): Promise<TreePart> {
  const row = findTyped(repository, oid, "tree");
  const content = await readTree(repository, row.oid);
  const { entries, next } = await pickEntries(content, { ...part, directoriesFirst: false, prefixBytes: 0 });
  return {
    names: entries.map(({ name }) => name),
    modes: entries.map(({ mode }) => mode),
    oids: entries.map((entry) => toHex(entry.oid)),
    next,
  };
}

/** Lists the files below a directory, as `git ls-tree -r` does. A page that had to read too many
 * directories ends early, at one of them, and one with long paths when they are many bytes.
 * @throws GitError as `listDirectory`, "too-large" when the directories on the way to the page's
 * first file are too large, or a path is too long */
export async function listFiles(
  repository: OpenRepository,
  { ref, path, after, limit, lfs = false }: FilesRequest,
): Promise<FilesPage> {
  const commit = await resolveCommit(repository, ref);
  const tree = (await treeAt(repository, commit, path)).oid;
  const budget = new WalkBudget();
  let next: string | null = null;
  const enter = async (directory: string, content: Uint8Array): Promise<ChooseEntry | null> => {
    // The directories that contain the end of the previous page are entered at any cost, so that
    // each page makes progress.
    if (budget.spent > PAGE_STEPS && !after.startsWith(directory)) {
      next = directory;
      return null;
    }
    budget.visit(directory, content);
    await budget.pause();
    return () => true;
  };
  const files: TreeFile[] = [];
  const walk = { tree, prefix: path === "" ? "" : `${path}/`, after, enter, pause: () => budget.pause() };
  for await (const file of walkFiles(repository, walk)) {
    if (files.length === limit || budget.isFull) {
      next = files.at(-1)!.path;
      break;
    }
    files.push(file);
    budget.keep(file.path);
  }
  const columns = toFileColumns(repository.tables.objects, files);
  const pointers = lfs ? findLfsFiles(repository.tables, columns) : [];
  return { commit: toHex(commit.oid), files: columns, lfs: pointers, next };
}

/** Finds the directory at a path.
 * @param path byte string without slashes at its ends, "" for the root
 * @throws GitError "not-found", "wrong-type" */
async function treeAt(
  repository: OpenRepository,
  commit: Revision,
  path: string,
): Promise<{ oid: Oid; number: ObjectNumber }> {
  const root = peel(repository, commit, "tree");
  if (path === "") return root;
  const entry = await entryAt(repository, root.number, path);
  if (entry === null) throw new GitError("not-found", { what: "path" });
  const row = entry.number === 0 ? null : repository.tables.objects.find(entry.oid);
  if (row?.type !== TREE) {
    const actual = row === null ? "commit" : "blob";
    throw new GitError("wrong-type", { oid: toHex(entry.oid), expected: "tree", actual });
  }
  return entry;
}
