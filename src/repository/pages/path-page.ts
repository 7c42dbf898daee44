import { decodeCursor, encodeCursor } from "../../format/cursor.ts";
import { GitError } from "../../format/errors.ts";
import { toHex } from "../../format/oid.ts";
import { isFileMode, isTreeMode, typeOfMode } from "../../format/tree.ts";
import type { NamedLfsObject } from "../../store/lfs/lfs-table.ts";
import { isBinary } from "../diff/binary-patch.ts";
import { findLastCommits } from "../files/last-commits.ts";
import { type Directory, readDirectory } from "../files/list-files.ts";
import type { CommitRecord } from "../objects/commit-record.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { peel, type Revision } from "../objects/revision.ts";
import { entryAt, type PathEntry } from "../objects/tree-path.ts";
import { openTarget, type PageRevision, type PageTarget } from "./page-revision.ts";
import { type Readme, ReadmeFinder } from "./readme.ts";
import { readModules, type ShownModules, submoduleUrls } from "./submodules.ts";
import { listChoices, type RefChoices } from "./ref-choices.ts";

/** Bytes of a file that a page shows. */
export const MAX_SHOWN_FILE_BYTES = 1024 * 1024;

/** A request for what is at a path. */
export interface PathRequest {
  /** Of the URL: a revision and a path. Byte strings. */
  readonly parts: readonly string[];
  /** Whether to read the content of a file. */
  readonly content: boolean;
  /** `next` of the directory's page before; null: this is the first. */
  readonly after: string | null;
}

/** What the page of a path shows. */
export interface PathPage {
  readonly revision: PageRevision;
  /** Null: the URL has a whole commit id, so that the page never changes. */
  readonly choices: RefChoices | null;
  /** Byte string, "" for the root. */
  readonly path: string;
  /** The last commit that touched the path; null: not found in time. */
  readonly lastCommit: CommitRecord | null;
  readonly shown: ShownDirectory | ShownFile | ShownSubmodule;
}

/** A directory. */
export interface ShownDirectory {
  readonly kind: "directory";
  readonly directory: Directory;
  /** Null: there is none, or this is not the directory's first page. */
  readonly readme: Readme | null;
  readonly modules: ShownModules;
  /** `after` of its next page; null: this is the last. */
  readonly next: string | null;
}

/** A file, or a symbolic link, whose content is its target. */
export interface ShownFile {
  readonly kind: "file";
  readonly mode: number;
  /** Hex. */
  readonly oid: string;
  readonly sizeBytes: number;
  /** Null: not asked for, binary, or more than `MAX_SHOWN_FILE_BYTES`. */
  readonly content: Uint8Array | null;
  readonly isBinary: boolean;
  /** The Git LFS object that it is a pointer to; null: it is none. */
  readonly lfs: NamedLfsObject | null;
}

/** A commit of another repository. */
export interface ShownSubmodule {
  readonly kind: "submodule";
  /** Hex. */
  readonly oid: string;
  /** As `.gitmodules` has it, byte string; null: it is not known. */
  readonly url: string | null;
}

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
