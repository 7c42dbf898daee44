import type { OpenRepository } from "../objects/open-repository.ts";
import { checkReleased } from "./lfs-objects.ts";
import type { LfsObject, LfsState, LfsListRequest } from "../../contract/lfs.ts";

/** Counts what a repository keeps for Git LFS. */
export async function lfsState({ tables }: OpenRepository): Promise<LfsState> {
  const { count, sizeBytes, ownBytes } = tables.lfs.sums();
  return {
    objects: count,
    sizeBytes,
    sharedBytes: sizeBytes - ownBytes,
    missing: tables.lfs.countMissing(),
    locks: tables.locks.count(),
  };
}

/** Lists objects by id.
 * @returns one more than the limit, if there are more
 * @throws GitError "unavailable" while it is not known which ones a fork has */
export async function listLfsObjects(repository: OpenRepository, request: LfsListRequest): Promise<LfsObject[]> {
  const { which, after, limit } = request;
  const { tables } = repository;
  checkReleased(repository);
  const found = which === "stored" ? tables.lfs.page(after, limit + 1) : tables.lfs.missing(after, limit + 1);
  return found.map(({ oid, sizeBytes }) => ({ oid, sizeBytes }));
}
