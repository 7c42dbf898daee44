import { checkQuota, effectiveQuota, isLimited, type PushQuota, type Use } from "../../base/access/quota.ts";
import type { Requester } from "../../base/access/caller.ts";
import type { Limits } from "../../base/format/configured-limits.ts";
import type { Tables } from "../store/tables.ts";

const NOTHING: Use = { sizeBytes: 0, objectCount: 0 };

/** Checks a repository's growth against the quota, from its current size. */
export class QuotaCheck {
  readonly #quota: PushQuota;
  /** Current usage; null: no quota is set. */
  readonly #use: Use | null;

  /** Reads the repository's current size if a quota is set: a row per ref.
   * @param tables null: there is no repository yet
   * @param replacedBytes stored bytes that do not count, since the addition replaces them */
  constructor(tables: Tables | null, { quota }: Pick<Requester, "quota">, limits: Limits, replacedBytes = 0) {
    const repository = effectiveQuota(quota.repository, limits);
    this.#quota = { ...quota, repository };
    const isAnySet = isLimited(repository) || isLimited(quota.owner);
    const use = isAnySet ? (tables === null ? NOTHING : useOf(tables)) : null;
    this.#use = use && { ...use, sizeBytes: use.sizeBytes - replacedBytes };
  }

  /** Refuses an addition that exceeds the quota.
   * @param addedBytes lower bound of the stored bytes
   * @throws GitError "too-large" */
  check(addedBytes: number, addedObjects: number): void {
    if (this.#use !== null) checkQuota(this.#quota, this.#use, { sizeBytes: addedBytes, objectCount: addedObjects });
  }
}

/** Measures the current size of a repository, and the bytes that others of its family store for it,
 * which do not count. Reads a row per ref. */
export function useOf({
  chunks,
  refs,
  pushes,
  objects,
  shared,
  uploads,
  lfs,
  lfsUploads,
}: Tables): Use & { readonly sharedBytes: number } {
  const sharedBytes = shared.numbers.size === 0 ? 0 : chunks.sharedBytes();
  return {
    sizeBytes:
      chunks.totalBytes() -
      sharedBytes +
      refs.sizeBytes() +
      pushes.sizeBytes() +
      uploads.sizeBytes() +
      lfsUploads.sizeBytes() +
      lfs.sums().ownBytes,
    objectCount: objects.present().difference(shared.numbers).size,
    sharedBytes,
  };
}
