// Checks whether the caller who began a change may still make it. A push may take hours, and a
// commit may wait for a lock: a token revoked meanwhile, or a repository given away, must not let
// it in.
import { includesRight, type Requester } from "../../base/access/caller.ts";
import { GitError } from "../../base/format/errors.ts";
import { ANSWER_LIFE_MS } from "../../contract/registry.ts";
import type { RepositoryPlatform } from "../state/repository-platform.ts";

/** Whether the data about a requester is too old to rely on. Only tokens can be revoked: the admin
 * token changes with the deployment, and where access is open there is nothing to lose. */
export function isStale({ caller, knownMs }: Requester, nowMs: number): boolean {
  return caller.kind === "token" && nowMs - knownMs >= ANSWER_LIFE_MS;
}

/** Asks the registry what a requester may do now.
 * @throws GitError "unauthenticated" when its token is no longer valid here, "forbidden" when it
 * may not write, "unavailable" when the registry does not answer */
export async function renewStanding(
  { id, registry }: Pick<RepositoryPlatform, "id" | "registry">,
  requester: Requester,
): Promise<Requester> {
  const knownMs = Date.now();
  const standing = await ask(() => registry.readStanding(id, requester.caller));
  if (standing === null) {
    const reason = "the one that was shown has been revoked, has expired, or is no longer valid for this repository";
    throw new GitError("unauthenticated", { what: "token", reason });
  }
  if (!includesRight(standing.right, "write")) {
    const reason = `the token has the right '${standing.right}' now`;
    throw new GitError("forbidden", { what: "this change, which needs the right 'write',", reason });
  }
  return { ...requester, ...standing, knownMs };
}

async function ask<T>(question: () => Promise<T>): Promise<T> {
  try {
    return await question();
  } catch (cause) {
    const reason = "the token could not be checked again; nothing has changed";
    throw new GitError("unavailable", { what: "registry", reason }, { cause });
  }
}
