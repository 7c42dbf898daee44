import { authorise, type Caller, type Right, type TokenScope } from "../../base/access/caller.ts";
import { GitError } from "../../base/format/errors.ts";
import { isOwnerName, parseRepositoryName } from "../../base/format/repository-name.ts";
import type { Deployment, Place } from "../shared/deployment.ts";
import { registryOf } from "./directory.ts";
import type { Env } from "../../contract/env.ts";

/** Finds the scope for a place, if the caller has the needed right there.
 * @param demand
 * @see Deployment.demand
 * @throws GitError "invalid", "not-found", and as `authorise` */
export async function findScope(
  env: Env,
  { owner, repository }: Place,
  caller: () => Promise<Caller>,
  needed: Right,
  demand: Deployment["demand"],
): Promise<TokenScope> {
  if (!isOwnerName(owner)) throw new GitError("invalid", { what: "owner", field: "owner", actual: owner });
  if (repository === undefined) {
    await demand(needed, owner);
    return { owner };
  }
  const name = parseRepositoryName(owner, repository);
  const entry = name === null ? null : await registryOf(env).read(name);
  if (entry === null) throw new GitError("not-found", { subject: "repository" });
  authorise(await caller(), needed, entry);
  return { repositoryId: entry.id };
}
