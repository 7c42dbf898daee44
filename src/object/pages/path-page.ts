import { decodeCursor, encodeCursor } from "../../base/format/cursor.ts";
import { GitError } from "../../base/format/errors.ts";
import { toHex } from "../../base/format/oid.ts";
import { isFileMode, isTreeMode, typeOfMode } from "../../base/format/tree.ts";
import { isBinary } from "../../base/lines/text-lines.ts";
import { findLastCommits } from "../files/last-commits.ts";
import { readDirectory } from "../files/list-files.ts";
import type { CommitRecord } from "../../contract/commits.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { peel, type Revision } from "../objects/revision.ts";
import { entryAt, type PathEntry } from "../objects/tree-path.ts";
import { openTarget, type PageTarget } from "./page-revision.ts";
import { ReadmeFinder } from "./readme.ts";
import { readModules, submoduleUrls } from "./submodules.ts";
import { listChoices } from "./ref-choices.ts";
import type { PathRequest, PathPage, ShownDirectory, ShownSubmodule, ShownFile } from "../../contract/pages.ts";

/** Bytes of a file that a page shows. */
export const MAX_SHOWN_FILE_BYTES = 1024 * 1024;

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
