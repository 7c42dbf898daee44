import {
  authorise,
  everythingOf,
  type Right,
  rightOf,
  type Caller,
  type TokenScope,
  may,
  type Token,
} from "../../base/access/caller.ts";
import { effectiveQuota } from "../../base/access/quota.ts";
import { GitError } from "../../base/format/errors.ts";
import type { Deployment, Place, QuotaService, TokenService } from "../shared/deployment.ts";
import type { NewToken, QuotaHolder } from "../../contract/registry.ts";
import type { HostRequest } from "./host-request.ts";
import { isOwnerName, parseRepositoryName } from "../../base/format/repository-name.ts";
import { registryOf, repositoryObject } from "./directory.ts";
import type { TokenEvent } from "../../contract/events.ts";
import { forgetRoutesTo } from "./known-routes.ts";
import { type Env, configuredLimits } from "../../contract/env.ts";
import { printEvent } from "../../contract/event-log.ts";
import { forgetToken } from "./identify.ts";
import { forgetSessionsOf } from "./sessions.ts";

/** Creates, shows and revokes tokens for one request, within its caller's rights.
 * @param demand
 * @see Deployment.demand */
export function newTokenService(env: Env, caller: () => Promise<Caller>, demand: Deployment["demand"]): TokenService {
  const registry = registryOf(env);

  const demandScope = (place: Place) => findScope(env, place, caller, "admin", demand);

  /** Finds a token for its own bearer, or for an admin of its scope. Others do not learn that it
   * exists. */
  const demandToken = async (id: string): Promise<Token> => {
    const asking = await caller();
    const own = asking.kind === "token" ? asking.token : null;
    if (own !== null && (id === "current" || id === own.id)) return own;
    const token = await registry.readToken(id);
    const target = token === null ? null : await registry.targetOf(token.scope);
    if (token === null || target === null || !may(asking, "admin", target))
      throw new GitError("not-found", { what: "token" });
    return token;
  };

  return {
    create: async (place, wanted) => {
      const scope = await demandScope(place);
      checkExpiry(wanted, await caller());
      const made = await registry.createToken({ ...wanted, scope });
      if (made === null) throw new GitError("conflict", { what: "token", reason: "there are too many; revoke some" });
      await noteToken(env, await caller(), "created", made.token);
      return made;
    },
    list: async (place, after, limit) => registry.listTokens(await demandScope(place), after, limit),
    findUnknown: async (place, ids) => {
      const scope = await demandScope(place);
      return "owner" in scope ? [...ids] : registry.findUnknownTokens(ids, place.owner, scope.repositoryId);
    },
    read: demandToken,
    revoke: async (id) => {
      const token = await demandToken(id);
      await registry.revokeToken(token.id);
      forgetToken(token.id);
      forgetSessionsOf(token.id);
      await noteToken(env, await caller(), "revoked", token);
    },
  };
}

/** Records the change of a token in the log of its repository. The change stands even if that
 * fails. */
async function noteToken(env: Env, caller: Caller, action: TokenEvent["action"], token: Token): Promise<void> {
  const { id, name, right, scope } = token;
  if ("owner" in scope) return;
  try {
    await repositoryObject(env, scope.repositoryId).noteToken(caller, { action, id, name, right });
  } catch (error) {
    printEvent({ event: "event-lost", type: "token", error: String(error) }, { repository: scope.repositoryId });
  }
}

/** @throws GitError "invalid" for a time in the past, "forbidden" for one after the creating
 * token's own */
function checkExpiry({ expiresMs }: Pick<NewToken, "expiresMs">, caller: Caller): void {
  if (expiresMs !== null && expiresMs <= Date.now())
    throw new GitError("invalid", { what: "expiresAt", field: "expiresAt", reason: "that time is in the past" });
  const lastMs = caller.kind === "token" ? caller.token.expiresMs : null;
  if (lastMs !== null && (expiresMs === null || expiresMs > lastMs)) {
    const reason = `your token expires at ${new Date(lastMs).toISOString()}`;
    throw new GitError("forbidden", { what: "a token that lives longer than the one that creates it", reason });
  }
}

/** Refuses a request whose caller lacks the needed right for everything of an owner.
 * @returns the caller's right
 * @throws GitError @see Deployment.demand */
export async function demandRight(request: HostRequest, needed: Right, owner: string): Promise<Right> {
  const { caller } = await request.asker();
  const target = everythingOf(owner);
  const right = rightOf(caller, target);
  // Owners are no secret: a caller without a right learns why it is refused.
  if (caller.kind !== "anonymous" && right === null)
    throw new GitError("forbidden", { what: `access to what belongs to ${owner}` });
  authorise(caller, needed, target);
  return right!;
}

/** Finds the scope of a place, if the caller has the needed right there.
 * @param demand
 * @see Deployment.demand
 * @throws GitError "invalid", "not-found", and as `authorise` */
async function findScope(
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

/** Shows and sets quotas for one request, within its caller's rights.
 * @param demand
 * @see Deployment.demand */
export function newQuotaService(env: Env, caller: () => Promise<Caller>, demand: Deployment["demand"]): QuotaService {
  const registry = registryOf(env);
  const find = (place: Place, needed: Right) => findScope(env, place, caller, needed, demand);
  const read = async (holder: QuotaHolder) => {
    const standing = await registry.readQuota(holder);
    return { ...standing, effective: "owner" in holder ? standing : effectiveQuota(standing, configuredLimits(env)) };
  };
  return {
    read: async (place) => read(await find(place, place.repository === undefined ? "admin" : "read")),
    set: async (place, change) => {
      const holder = await find(place, "operate");
      await registry.setQuota(holder, change);
      forgetRoutesTo(holder);
      return read(holder);
    },
  };
}
