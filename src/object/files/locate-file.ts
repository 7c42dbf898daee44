import { type ObjectType, fromTypeNumber } from "../../base/format/object.ts";
import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { decodeText } from "../../base/format/byte-string.ts";
import { GitError } from "../../base/format/errors.ts";
import type { ShownCommit, ShownTag, ObjectRequest } from "../../contract/commits.ts";
import { showCommitContent, showTagContent } from "../objects/shown-object.ts";
import { equalOids, fromHex, isHexOid, toHex } from "../../base/format/oid.ts";
import type { ObjectRow } from "../store/index/object-columns.ts";
import { peel, resolveCommit } from "../objects/revision.ts";
import { splitRevPath } from "../objects/rev-path.ts";
import { entryAt } from "../objects/tree-path.ts";
import { findMaterialized } from "../worktree/materialized-file.ts";
import { planBlobs } from "./blob-plan.ts";
import type { LocatedFile, WrittenFile, LocatedBlob } from "../../contract/files.ts";

/** Finds a file by the part of a URL after `/raw/`: a revision and a path, without a mark where the
 * revision ends.
 * @param parts byte strings, the segments between the URL's slashes
 * @throws GitError "not-found", "wrong-type" when it is not a file, and as `resolveCommit` */
export async function locateFile(repository: OpenRepository, parts: readonly string[]): Promise<LocatedFile> {
  const { ref, path, others } = splitRevPath(repository, parts, 1);
  const commit = await resolveCommit(repository, ref);
  const entry = await entryAt(repository, peel(repository, commit, "tree").number, path);
  if (entry === null) throw notThere(path, ref, others);
  const row = entry.number === 0 ? null : repository.tables.objects.find(entry.oid);
  const type = row === null ? "commit" : fromTypeNumber(row.type);
  if (row === null || type !== "blob") throw wrongType(toHex(entry.oid), "blob", type);
  const written = findWritten(repository, commit.number, path, row);
  return {
    oid: toHex(row.oid),
    sizeBytes: row.size,
    commit: toHex(commit.oid),
    isImmutable: isHexOid(ref),
    path,
    mode: entry.mode,
    written,
    lfs: repository.tables.lfs.namedBy(row.number),
    plan: written === null ? planBlobs(repository.tables, [row.number]) : null,
  };
}

/** Finds a file in the worktree of its commit, if there is one. */
function findWritten(
  repository: OpenRepository,
  commit: ObjectNumber,
  path: string,
  { oid, size }: ObjectRow,
): WrittenFile | null {
  const file = size === 0 ? null : findMaterialized(repository, commit, path);
  return file === null || !equalOids(file.oid, oid) ? null : { key: file.key, etag: file.etag };
}

/** Finds a blob by its id.
 * @param oid hex
 * @throws GitError "not-found", "wrong-type" */
export async function locateBlob(repository: OpenRepository, oid: string): Promise<LocatedBlob> {
  return locate(repository, findTyped(repository, oid, "blob"));
}

/** Finds the row of an object, which must have the given type.
 * @param oid hex
 * @throws GitError "not-found", "wrong-type" */
export function findTyped(repository: OpenRepository, oid: string, type: ObjectType): ObjectRow {
  const row = repository.find(fromHex(oid));
  if (row === null) throw new GitError("not-found", { what: "object" });
  const actual = fromTypeNumber(row.type);
  if (actual !== type) throw wrongType(oid, type, actual);
  return row;
}

function locate({ tables }: OpenRepository, { oid, number, size }: ObjectRow): LocatedBlob {
  return { oid: toHex(oid), sizeBytes: size, plan: planBlobs(tables, [number]) };
}

/** @param others refs that may have been meant */
function notThere(path: string, ref: string, others: readonly string[]): GitError {
  const named = others.map(decodeText).join(", ");
  const reason = `${decodeText(path)} is not in ${decodeText(ref)}; to read ${named}, write that full name`;
  return new GitError("not-found", { what: "path", ...(others.length > 0 && { reason }) });
}

function wrongType(oid: string, expected: ObjectType, actual: ObjectType): GitError {
  return new GitError("wrong-type", { oid, expected, actual });
}

/** Reads a commit.
 * @throws GitError "not-found", "wrong-type", "invalid" for the part */
export async function readCommit(repository: OpenRepository, { oid, part }: ObjectRequest): Promise<ShownCommit> {
  return showCommitContent(oid, await read(repository, oid, "commit"), part);
}

/** Reads an annotated tag.
 * @throws GitError as `readCommit` */
export async function readTag(repository: OpenRepository, { oid, part }: ObjectRequest): Promise<ShownTag> {
  return showTagContent(await read(repository, oid, "tag"), part);
}

async function read(repository: OpenRepository, oid: string, type: ObjectType): Promise<Uint8Array> {
  return (await repository.reader.read(findTyped(repository, oid, type).number)).bytes;
}
