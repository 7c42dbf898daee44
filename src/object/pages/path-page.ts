import { decodeCursor, encodeCursor } from "../../base/format/cursor.ts";
import { type Oid, toHex } from "../../base/format/oid.ts";
import { toByteString } from "../../base/format/byte-string.ts";
import { isFileMode, GITLINK_MODE, isTreeMode, typeOfMode } from "../../base/format/tree.ts";
import { parseGitmodules } from "../../base/format/gitmodules.ts";
import { GitError } from "../../base/format/errors.ts";
import type { TreeCursor } from "../../base/format/tree-cursor.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import type { FileColumns } from "../../contract/files.ts";
import type {
  Readme,
  ShownModules,
  PathRequest,
  PathPage,
  ShownDirectory,
  ShownSubmodule,
  ShownFile,
} from "../../contract/pages.ts";
import { isBinary } from "../../base/lines/text-lines.ts";
import { findLastCommits } from "../files/last-commits.ts";
import { peel, type Revision } from "../objects/revision.ts";
import { readDirectory } from "../files/list-files.ts";
import { entryAt, type PathEntry } from "../objects/tree-path.ts";
import type { CommitRecord } from "../../contract/commits.ts";
import { openTarget, type PageTarget } from "./page-revision.ts";
import { listChoices } from "./ref-choices.ts";

/** Bytes of a file that a page shows. */
const MAX_SHOWN_FILE_BYTES = 1024 * 1024;

/** Reads what is at a path.
 * @throws GitError "not-found", "invalid" for `after`, and as `resolveCommit` */
export async function pathPage(repository: OpenRepository, { parts, content, after }: PathRequest): Promise<PathPage> {
  const target = await openTarget(repository, parts);
  const { revision, commit, path } = target;
  const root = peel(repository, commit, "tree");
  const entry = path === "" ? null : await entryAt(repository, root.number, path);
  if (path !== "" && entry === null) throw new GitError("not-found", { what: "path" });
  const shown =
    entry === null || isTreeMode(entry.mode)
      ? await showDirectory(repository, target, after)
      : typeOfMode(entry.mode) === "commit"
        ? await showSubmodule(repository, commit, path, entry)
        : await showFile(repository, entry, content);
  return {
    revision,
    choices: revision.name === revision.commit ? null : listChoices(repository),
    path,
    lastCommit: entry === null ? null : await findLastCommit(repository, commit, path, entry),
    shown,
  };
}

/** Reads a page of a directory, directories first.
 * @param after `next` of the page before; null: this is the first
 * @throws GitError as `readDirectory`, "invalid" for `after` */
export async function showDirectory(
  repository: OpenRepository,
  { revision, commit, path }: PageTarget,
  after: string | null,
): Promise<ShownDirectory> {
  const readme = new ReadmeFinder();
  const directory = await readDirectory(repository, commit, path, {
    lastCommits: true,
    directoriesFirst: true,
    // Each entry's link has them.
    prefixBytes: revision.name.length + path.length,
    after: after === null ? "" : decodeCursor(after, readPlace),
    look: readme.look,
  });
  return {
    kind: "directory",
    directory,
    readme: after === null ? await readme.read(repository) : null,
    modules: await readModules(repository, commit, path, directory.entries),
    next: directory.next === null ? null : encodeCursor([directory.next]),
  };
}

/** @throws RangeError */
function readPlace(value: unknown): string {
  if (!Array.isArray(value) || value.length !== 1 || typeof value[0] !== "string")
    throw new RangeError("it is no place");
  return value[0];
}

async function showSubmodule(
  repository: OpenRepository,
  commit: Revision,
  path: string,
  { oid }: PathEntry,
): Promise<ShownSubmodule> {
  const [url = null] = await submoduleUrls(repository, commit, [path]);
  return { kind: "submodule", oid: toHex(oid), url };
}

async function showFile(
  repository: OpenRepository,
  { mode, oid, number }: PathEntry,
  wanted: boolean,
): Promise<ShownFile> {
  const sizeBytes = repository.find(oid)?.size ?? 0;
  const isRead = wanted && sizeBytes <= MAX_SHOWN_FILE_BYTES;
  const content = isRead ? (await repository.reader.read(number)).bytes : null;
  const binary = content !== null && isBinary(content);
  const lfs = isFileMode(mode) ? repository.tables.lfs.namedBy(number) : null;
  return { kind: "file", mode, oid: toHex(oid), sizeBytes, content: binary ? null : content, isBinary: binary, lfs };
}

/** The last commit that touched one entry, found in the directory that holds it. */
async function findLastCommit(
  repository: OpenRepository,
  commit: Revision,
  path: string,
  { mode, oid }: PathEntry,
): Promise<CommitRecord | null> {
  const slash = path.lastIndexOf("/");
  const entry = { mode, oid, name: path.slice(slash + 1) };
  const parent = path.slice(0, Math.max(slash, 0));
  const { commits, indexes } = await findLastCommits(repository, commit.number, parent, [entry]);
  return commits[indexes[0]!] ?? null;
}

/** Bytes of a README that a page shows: reading Markdown of this size takes some 50 ms. */
const MAX_README_BYTES = 128 * 1024;

const UTF_8 = new TextDecoder();

/** Names of READMEs, the best first: Markdown is shown as it is meant. */
const NAMES = [/^readme\.(?:md|markdown)$/i, /^readme$/i, /^readme\.[a-z]{2,5}$/i];

/** Bytes of the longest of them. */
const MAX_NAME_BYTES = "readme.markdown".length;

/** Finds the README among the entries of a directory. */
class ReadmeFinder {
  /** By how good its name is, the first of each. */
  readonly #found: { readonly name: string; readonly oid: Oid }[] = [];

  /** Must be shown each entry. */
  readonly look = (cursor: TreeCursor): void => {
    if (cursor.nameBytes > MAX_NAME_BYTES || !isFileMode(cursor.mode)) return;
    const { name } = cursor;
    const rank = NAMES.findIndex((pattern) => pattern.test(name));
    if (rank >= 0) this.#found[rank] ??= { name, oid: cursor.oid.slice() };
  };

  /** Reads what was found; null: the directory has none. */
  async read(repository: OpenRepository): Promise<Readme | null> {
    const best = this.#found.find((one) => one !== undefined);
    if (best === undefined) return null;
    const { number, size } = repository.tables.objects.find(best.oid)!;
    const text = size <= MAX_README_BYTES ? UTF_8.decode((await repository.reader.read(number)).bytes) : null;
    return { name: best.name, oid: toHex(best.oid), text };
  }
}

/** Bytes of a `.gitmodules` file that is read: that of a project with 500 submodules has 60 KB. */
const MAX_BYTES = 256 * 1024;

/** Reads where submodules come from, as `.gitmodules` in the root of their commit says.
 * @param paths of submodules, byte strings
 * @returns for each its URL, a byte string as it is written there; null: it is not known */
async function submoduleUrls(
  repository: OpenRepository,
  commit: Revision,
  paths: readonly string[],
): Promise<(string | null)[]> {
  if (paths.length === 0) return [];
  const root = peel(repository, commit, "tree");
  const entry = await entryAt(repository, root.number, ".gitmodules");
  const isRead =
    entry !== null && isFileMode(entry.mode) && (repository.find(entry.oid)?.size ?? Infinity) <= MAX_BYTES;
  if (!isRead) return paths.map(() => null);
  const { bytes } = await repository.reader.read(entry.number);
  const urls = new Map(parseGitmodules(toByteString(bytes)).map(({ path, url }) => [path, url]));
  return paths.map((path) => urls.get(path) ?? null);
}

/** Reads where the submodules of a directory come from.
 * @param path of the directory, byte string, "" for the root */
async function readModules(
  repository: OpenRepository,
  commit: Revision,
  path: string,
  { paths: names, modes }: Pick<FileColumns, "paths" | "modes">,
): Promise<ShownModules> {
  const modules = names.filter((_, i) => modes[i] === GITLINK_MODE);
  const urls = await submoduleUrls(
    repository,
    commit,
    modules.map((name) => (path === "" ? name : `${path}/${name}`)),
  );
  return new Map(modules.flatMap((name, i) => (urls[i] === null ? [] : [[name, urls[i]!]])));
}
