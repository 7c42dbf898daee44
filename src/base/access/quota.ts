// Quotas: limits of a repository's size. The registry stores the limits and each owner's usage. The
// repository's object checks pushes against them.
import { GitError, type LimitKind } from "../format/errors.ts";
import type { Limits } from "../format/configured-limits.ts";
import { NO_LIMIT } from "../format/limits.ts";

/** Limits of a repository, or of all repositories of an owner; null: not set. */
export interface Quota {
  /** Stored objects, refs and the reflog. */
  readonly maxBytes: number | null;
  readonly maxObjects: number | null;
}

/** Changes to a quota. Omitted fields keep their values. */
export type QuotaChange = { readonly [Field in keyof Quota]?: Quota[Field] | undefined };

/** Applies a change to a quota. */
export function changeQuota(quota: Quota, change: QuotaChange): Quota {
  const given = Object.entries(change).filter(([, value]) => value !== undefined);
  return { ...quota, ...Object.fromEntries(given) };
}

/** Bytes and objects, used or added. */
export interface Use {
  /** Stored objects, refs and the reflog. */
  readonly sizeBytes: number;
  readonly objectCount: number;
}

/** No limits. */
export const NO_QUOTA: Quota = { maxBytes: null, maxObjects: null };

/** The quotas that apply to a push, read when the push was routed. */
export interface PushQuota {
  readonly repository: Quota;
  readonly owner: Quota;
  /** Usage by the owner's other repositories; zero when the owner has no quota. */
  readonly others: Use;
}

/** Finds the limits in effect for a repository: its own, else the deployment's defaults, if any. */
export function effectiveQuota({ maxBytes, maxObjects }: Quota, limits: Limits): Quota {
  const known = (limit: number): number | null => (limit === NO_LIMIT ? null : limit);
  return {
    maxBytes: maxBytes ?? known(limits.maxRepositoryBytes),
    maxObjects: maxObjects ?? known(limits.maxRepositoryObjects),
  };
}

/** Whether any limit is set. */
export function isLimited({ maxBytes, maxObjects }: Quota): boolean {
  return maxBytes !== null || maxObjects !== null;
}

/** Refuses a push that would exceed a quota. A push that adds nothing always passes.
 * @param use current usage of the repository
 * @param added lower bound of the push's additions
 * @throws GitError "too-large" */
export function checkQuota({ repository, owner, others }: PushQuota, use: Use, added: Use): void {
  checkUse("the repository", repository, use, added);
  const all = { sizeBytes: others.sizeBytes + use.sizeBytes, objectCount: others.objectCount + use.objectCount };
  checkUse("what the owner has", owner, all, added);
}

function checkUse(whose: string, { maxBytes, maxObjects }: Quota, use: Use, added: Use): void {
  check(`${whose} with this push (bytes)`, maxBytes, use.sizeBytes, added.sizeBytes);
  check(`${whose} with this push (objects)`, maxObjects, use.objectCount, added.objectCount);
}

function check(what: string, limit: number | null, used: number, added: number): void {
  if (limit === null || added === 0 || used + added <= limit) return;
  const reason = `that is the quota; ${used} are there, and the push adds at least ${added}`;
  const limitKind: LimitKind = "quota";
  throw new GitError("too-large", { what, limit, actual: used + added, limitKind, reason });
}
