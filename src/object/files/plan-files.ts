import { parseCommit } from "../../base/format/commit.ts";
import type { StepBudget } from "../../base/format/step-budget.ts";
import { MAX_WALK_STEPS, MAX_SUBST_BYTES, MAX_SUBST_PARENTS } from "../../base/format/limits.ts";
import { OID_BYTES, type Oid, toHex } from "../../base/format/oid.ts";
import { WildPattern } from "../../base/format/wildmatch.ts";
import { isFileMode, isTreeMode } from "../../base/format/tree.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { type Revision, peel, resolveCommit } from "../objects/revision.ts";
import { WalkBudget } from "../../base/pacing/walk-budget.ts";
import {
  type ArchivedCommit,
  type BlobPlan,
  isStreamed,
  CONVERT,
  type FileColumns,
  isRead,
  type FilesPlanRequest,
  type FilesPlan,
  WINDOW_STEPS,
} from "../../contract/files.ts";
import { chainBase, chainLength, NO_BASE } from "../../base/bytes/plan-rows.ts";
import { planBlobs } from "./blob-plan.ts";
import { ExportAttributes } from "./export-attributes.ts";
import { toFileColumns, findLfsFiles } from "./file-columns.ts";
import { type ChooseEntry, type TreeFile, walkFiles } from "./tree-files.ts";

/** Files whose delta chains are resolved at a time. */
const WINDOW_FILES = 2_000;

/** Stored bytes that the Worker holds in memory at a time, delta bases included. The larger this
 * is, the fewer times a chunk is read whose files are far apart in the tree. */
const WINDOW_BYTES = 8 * 1024 * 1024;

/** Plans the reading of one window of files. The caller repeats it with the last path until there
 * are no more.
 * @throws GitError as `resolveCommit`, "too-large" when the steps are spent before the next file is
 * found: patterns or uncovered entries cost too much */
export async function planFiles(repository: OpenRepository, request: FilesPlanRequest): Promise<FilesPlan> {
  const commit = await resolveCommit(repository, request.ref);
  const tree = peel(repository, commit, "tree");
  const { graph, objects } = repository.tables;
  const budget = new WalkBudget(Math.min(request.steps ?? MAX_WALK_STEPS, MAX_WALK_STEPS));
  const found = await findCandidates(repository, tree.oid, request, budget);
  const columns = toFileColumns(objects, found.files);
  const conversions = Uint8Array.from(found.conversions);
  const window = cutWindow(repository, columns, conversions);
  const files = firstRows(columns, window.count);
  const pointers = request.lfs === true ? findLfsFiles(repository.tables, files) : [];
  return {
    commit: toHex(commit.oid),
    tree: toHex(tree.oid),
    timeSeconds: graph.time(graph.position(commit.number)),
    files,
    plan: window.plan,
    conversions: conversions.slice(0, window.count),
    subst: conversions.some((bits) => (bits & CONVERT.subst) !== 0) ? await findArchived(repository, commit) : null,
    lfs: pointers.filter(({ index }) => isRead(columns, conversions, index) && isFileMode(columns.modes[index]!)),
    more: found.more || window.count < found.files.length,
    steps: budget.spent,
  };
}

/** Finds the files of a window, and one more if it exists.
 * @returns for each file its conversion too, and whether the steps ended the window */
async function findCandidates(
  repository: OpenRepository,
  tree: Oid,
  { after, path, globs, purpose }: FilesPlanRequest,
  budget: WalkBudget,
): Promise<{ files: TreeFile[]; conversions: number[]; more: boolean }> {
  const paths = new PathGlobs(globs, path);
  const attributes = new ExportAttributes(repository.reader, repository.tables.objects, budget);
  const files: TreeFile[] = [];
  const conversions: number[] = [];
  const isSpent = (): boolean => files.length > 0 && budget.spent > WINDOW_STEPS;
  let more = false;
  const enter = async (directory: string, content: Uint8Array): Promise<ChooseEntry | null> => {
    more = isSpent();
    if (more) return null;
    budget.visit(directory, content);
    await budget.pause();
    if (purpose === "archive") await attributes.enter(directory, content);
    return ({ name, mode }) => {
      const path = directory + name;
      const isTree = isTreeMode(mode);
      return !(isTree && attributes.isLeftOut(path)) && paths.mayMatchBelow(path, isTree, budget);
    };
  };
  const directories = purpose === "archive";
  const pause = (): Promise<void> => budget.pause();
  for await (const file of walkFiles(repository, { tree, prefix: "", after, directories, enter, pause })) {
    if (purpose === "search" && !isFileMode(file.mode)) continue;
    conversions.push(attributes.conversionOf(file.path, file.mode));
    files.push(file);
    budget.keep(file.path);
    await budget.pause();
    if (files.length > WINDOW_FILES) break;
    more = isSpent() || budget.isFull;
    if (more) break;
  }
  return { files, conversions, more };
}

/** How many files fit into the window, and where they are stored. */
function cutWindow(
  { tables }: OpenRepository,
  columns: FileColumns,
  conversions: Uint8Array,
): { count: number; plan: BlobPlan } {
  const { numbers, sizes, paths } = columns;
  const blobs = paths.map((_, i) => i).filter((i) => isRead(columns, conversions, i));
  const { extents, chains, rows } = planBlobs(
    tables,
    blobs.map((i) => numbers[i]!),
  );
  const seen = new Set<number>();
  let storedBytes = 0;
  for (const [at, i] of blobs.entries()) {
    if (!isStreamed(chainBase(chains, rows[at]!), sizes[i]!)) {
      for (let row = rows[at]!; row !== NO_BASE && !seen.has(row); row = chainBase(chains, row)) {
        seen.add(row);
        storedBytes += chainLength(chains, row);
      }
    }
    if (at > 0 && storedBytes > WINDOW_BYTES) return { count: i, plan: { extents, chains, rows: rows.slice(0, at) } };
  }
  const count = Math.min(paths.length, WINDOW_FILES);
  const fitting = blobs.filter((i) => i < count).length;
  return { count, plan: { extents, chains, rows: rows.slice(0, fitting) } };
}

function firstRows({ paths, modes, oids, numbers, sizes }: FileColumns, count: number): FileColumns {
  return {
    paths: paths.slice(0, count),
    modes: modes.slice(0, count),
    oids: oids.slice(0, count * OID_BYTES),
    numbers: numbers.slice(0, count),
    sizes: sizes.slice(0, count),
  };
}

/** The fewest digits of an abbreviated id. @see git's FALLBACK_DEFAULT_ABBREV */
const MIN_DIGITS = 7;

/** Finds what the placeholders of an archive stand for.
 * @returns null: the commit is too large, or not in UTF-8, so that none is expanded
 * @throws GitError "storage-failed" */
async function findArchived(repository: OpenRepository, { oid, number }: Revision): Promise<ArchivedCommit | null> {
  if (repository.tables.objects.find(oid)!.size > MAX_SUBST_BYTES) return null;
  const content = (await repository.reader.read(number)).bytes;
  const { tree, parents, extraHeaders } = parseCommit(content);
  const encoding = extraHeaders.find(({ name }) => name === "encoding")?.value ?? "UTF-8";
  // Git converts it, from more encodings than are known here.
  if (!/^utf-?8$/i.test(encoding) && content.some((byte) => byte > 0x7f)) return null;
  const ids = [oid, tree, ...(parents.length > MAX_SUBST_PARENTS ? [] : parents)].map((id) => toHex(id));
  const digits = defaultDigits(repository);
  return {
    oid: ids[0]!,
    content,
    abbreviated: Object.fromEntries(ids.map((id) => [id, abbreviate(repository, id, digits)])),
  };
}

/** @see repo_find_unique_abbrev_r() in git's object-name.c */
function defaultDigits({ tables }: OpenRepository): number {
  const bits = Math.floor(Math.log2(Math.max(1, tables.objects.present().size))) + 1;
  return Math.max(MIN_DIGITS, Math.ceil(bits / 2));
}

/** A full id is unique. */
function abbreviate({ tables }: OpenRepository, id: string, digits: number): string {
  let length = digits;
  while (tables.objects.withPrefix(id.slice(0, length)).length > 1) length += 1;
  return id.slice(0, length);
}

/** A step compares so many bytes of a path with a glob's beginning, as a power of two. */
const BYTES_PER_STEP_BITS = 6;

/** One glob. */
interface Glob {
  /** Without a trailing slash. */
  readonly text: string;
  /** The same with a slash: what everything below it begins with. */
  readonly below: string;
  /** Null: `text` is literal. */
  readonly wild: WildPattern | null;
  /** The literal directories and file that it begins with, up to the first component with a
   * wildcard. */
  readonly fixed: string;
}

/** A set of `:(glob)` pathspecs. Each glob covers the paths that it matches, and everything below a
 * directory that it names.
 * @see gitglossary(7) "pathspec" */
class PathGlobs {
  readonly #globs: readonly Glob[];

  /** @param globs byte strings @param path byte string, one more path, taken literally; without
   * globs and path everything is covered */
  constructor(globs: readonly string[], path = "") {
    const literal = path === "" ? [] : [{ text: path, below: `${path}/`, wild: null, fixed: path }];
    const wild = globs.map((glob) => {
      const text = glob.replace(/\/+$/, "");
      const wildAt = text.search(/[*?[\\]/);
      const fixed = wildAt < 0 ? text : text.slice(0, text.lastIndexOf("/", wildAt) + 1);
      return { text, below: `${text}/`, wild: new WildPattern(text), fixed };
    });
    this.#globs = [...literal, ...wild];
  }

  /** Whether a path is covered or, for a directory, something below it may be.
   * @param path byte string without a trailing slash
   * @throws GitError "too-large" when the budget is spent */
  mayMatchBelow(path: string, isDirectory: boolean, budget?: StepBudget): boolean {
    if (this.#globs.length === 0) return true;
    return this.#globs.some(({ text, below, wild, fixed }) => {
      budget?.spend(1 + (path.length >>> BYTES_PER_STEP_BITS));
      if (text === "" || path === text || path.startsWith(below)) return true;
      if (!isDirectory) return wild?.matches(path, budget) ?? false;
      // The directory is on the way to where the glob's wildcards begin, or below that.
      return fixed.startsWith(`${path}/`) || (wild !== null && `${path}/`.startsWith(fixed));
    });
  }
}
