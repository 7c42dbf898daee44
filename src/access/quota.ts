// How much a repository may hold. The registry knows what is set, and what each owner has; the object holds what is pushed against it.
import { GitError } from "../format/errors.ts";
import { type Limits, NO_LIMIT } from "../format/limits.ts";

/** The most that a repository, or all that an owner has, may hold; null: nothing is set. */
export interface Quota {
  /** Of objects as they are stored, of refs and of the reflog. */
  readonly maxBytes: number | null;
  readonly maxObjects: number | null;
}

/** What of a quota is to be set anew: what is not there stays as it is. */
export type QuotaChange = { readonly [Field in keyof Quota]?: Quota[Field] | undefined };

/** A quota after a change. */
export function changeQuota(quota: Quota, change: QuotaChange): Quota {
  const given = Object.entries(change).filter(([, value]) => value !== undefined);
  return { ...quota, ...Object.fromEntries(given) };
}

/** What is held, or comes. */
export interface Use {
  /** Of objects as they are stored, of refs and of the reflog. */
  readonly sizeBytes: number;
  readonly objectCount: number;
}

/** Nothing is set. */
export const NO_QUOTA: Quota = { maxBytes: null, maxObjects: null };

/** What a push is held against; as old as the route that it came by. */
export interface PushQuota {
  readonly repository: Quota;
  readonly owner: Quota;
  /** What the owner's other repositories hold; zero when nothing is set for the owner. */
  readonly others: Use;
}

/** What holds for a repository: what is set for it, else the deployment's defaults, if there are any. */
export function effectiveQuota({ maxBytes, maxObjects }: Quota, limits: Limits): Quota {
  const known = (limit: number): number | null => (limit === NO_LIMIT ? null : limit);
  return {
    maxBytes: maxBytes ?? known(limits.maxRepositoryBytes),
    maxObjects: maxObjects ?? known(limits.maxRepositoryObjects),
  };
}

/** Whether anything is set. */
export function isLimited({ maxBytes, maxObjects }: Quota): boolean {
  return maxBytes !== null || maxObjects !== null;
}

/** Refuses what a repository has no room for. Where nothing is added there is room.
 * @param use of the repository
 * @param added at least so much comes
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
  throw new GitError("too-large", { what, limit, actual: used + added, reason });
}
