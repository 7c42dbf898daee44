import { checkQuota, effectiveQuota, isLimited, type PushQuota, type Use } from "../../access/quota.ts";
import type { Requester } from "../../access/caller.ts";
import type { Limits } from "../../format/limits.ts";
import type { Tables } from "../../store/tables.ts";

const NOTHING: Use = { sizeBytes: 0, objectCount: 0 };

/** How much a repository may still take, by what it holds now. */
export class QuotaCheck {
  readonly #quota: PushQuota;
  /** Null: it does not matter. */
  readonly #use: Use | null;

  /** Reads what the repository holds, if anything is set: a row per chunk and ref.
   * @param tables null: there is no repository yet */
  constructor(tables: Tables | null, { quota }: Pick<Requester, "quota">, limits: Limits) {
    const repository = effectiveQuota(quota.repository, limits);
    this.#quota = { ...quota, repository };
    const isAnySet = isLimited(repository) || isLimited(quota.owner);
    this.#use = isAnySet ? (tables === null ? NOTHING : useOf(tables)) : null;
  }

  /** Refuses what there is no room for.
   * @param addedBytes at least so many, as they are stored
   * @throws GitError "too-large" */
  check(addedBytes: number, addedObjects: number): void {
    if (this.#use !== null) checkQuota(this.#quota, this.#use, { sizeBytes: addedBytes, objectCount: addedObjects });
  }
}

/** What a repository holds. Reads a row per chunk and ref. */
export function useOf({ chunks, refs, pushes, objects }: Tables): Use {
  return {
    sizeBytes: chunks.totalBytes() + refs.sizeBytes() + pushes.sizeBytes(),
    objectCount: objects.present().size,
  };
}
