import { authorise, type Caller, everythingOf, may, type Right, rightOf } from "../access/caller.ts";
import { GitError } from "../format/errors.ts";
import { parseRepositoryName } from "../format/repository-name.ts";
import { newPushRequest } from "../protocol/push-client.ts";
import { readOutcome } from "../protocol/push-outcome.ts";
import type { RestHost } from "../rest/common/routes.ts";
import { R2ChunkStore } from "../store/chunks/r2-chunk-store.ts";
import type { RepositoryEntry } from "../store/registry/repository-rows.ts";
import { forgetRoute, registryOf } from "./directory.ts";
import { printEvent } from "./event-log.ts";
import type { HostRequest } from "./host-request.ts";
import { newQuotaDesk } from "./quota-desk.ts";
import { newTokenDesk } from "./token-desk.ts";

/** Implements the REST API's services for a request on this platform.
 * @param codec the isolate's */
export function newRestHost(request: HostRequest, codec: RestHost["reading"]["codec"]): RestHost {
  const { env } = request;
  const findCaller = async (): Promise<Caller> => (await request.asker()).caller;
  const demand = async (needed: Right, owner: string): Promise<void> => {
    const caller = await findCaller();
    const target = everythingOf(owner);
    // Owners are no secret: a caller without a right is told so.
    if (caller.kind !== "anonymous" && rightOf(caller, target) === null)
      throw new GitError("forbidden", { what: `access to what belongs to ${owner}` });
    authorise(caller, needed, target);
  };
  return {
    open: async (owner, repository, needed, noteAmbiguities) =>
      (await request.open(parseRepositoryName(owner, repository), needed)).client(noteAmbiguities),
    push: async (owner, repository, commands, pack) => {
      const opened = await request.open(parseRepositoryName(owner, repository), "write");
      // The object ignores the host of the URL. A restore may create its repository.
      return readOutcome(await opened.push(newPushRequest("https://holdfast", commands, pack), true));
    },
    demandToken: async () => {
      const caller = await findCaller();
      if (caller.kind === "anonymous") throw new GitError("unauthenticated", { what: "token" });
    },
    demand,
    tokens: newTokenDesk(env, findCaller, demand),
    quotas: newQuotaDesk(env, findCaller, demand),
    reading: {
      codec,
      openChunks: (counters) => new R2ChunkStore(env.BUCKET, counters),
      observe: (event) => printEvent(event, request.origin),
    },
    registry: {
      list: async (owner, after, limit) => {
        const caller = await findCaller();
        return (await registryOf(env).list(owner, after, limit, caller)).map((entry) => showTo(caller, entry));
      },
      read: async (name) => {
        const entry = await registryOf(env).read(name);
        if (entry === null) return null;
        const caller = await findCaller();
        // The name may belong to another repository than the one the route was opened for.
        authorise(caller, "read", entry);
        return showTo(caller, entry);
      },
      listForks: async (parent, after, limit) => {
        const caller = await findCaller();
        const { forks, next } = await registryOf(env).listForks(parent, after, limit, caller);
        return { forks: forks.map((entry) => showTo(caller, entry)), next };
      },
      openRelative: async (of, owner, name, noteAmbiguities) => {
        const found = await registryOf(env).findRelatives(of.id, owner, name);
        const caller = await findCaller();
        const visible = found.filter((entry) => may(caller, "read", entry));
        const [relative] = visible;
        if (relative === undefined) {
          const reason = `${name === null ? owner : `${owner}/${name}`} is not of its family`;
          throw new GitError("not-found", { what: "repository", reason });
        }
        if (visible.length > 1) {
          const reason = `${owner} has several; name one as owner/repository:branch`;
          throw new GitError("ambiguous", { what: "repository", actual: owner, reason });
        }
        return { entry: relative, client: (await request.openAlso(relative, "read")).client(noteAmbiguities) };
      },
      fork: async (name, details, wanted) => {
        await demand("write", name.owner);
        return (await request.open(name, "write")).fork(details, wanted);
      },
      create: async (name, details, defaultBranch) => {
        await demand("write", name.owner);
        return (await request.open(name, "write")).create(details, defaultBranch);
      },
      update: async (repository, change) => {
        const caller = await findCaller();
        authorise(caller, "admin", repository);
        if (change.visibility === "public") checkPublication(caller, await registryOf(env).read(repository));
        forgetRoute(repository);
        return registryOf(env).update(repository.id, change);
      },
      delete: async (name) => (await request.open(name, "admin")).delete(),
    },
  };
}

/** A repository as a caller sees it: what it is a fork of may be hidden. */
function showTo(caller: Caller, entry: RepositoryEntry): RepositoryEntry {
  return entry.parent === null || may(caller, "read", entry.parent) ? entry : { ...entry, parent: null };
}

/** Refuses to publish a fork of a private repository without the right to publish that.
 * @throws GitError "forbidden" */
function checkPublication(caller: Caller, fork: RepositoryEntry | null): void {
  const parent = fork?.parent ?? null;
  if (parent === null || parent.visibility === "public" || may(caller, "admin", parent)) return;
  const reason = "it is the fork of a private repository, for which you need the right 'admin', too";
  throw new GitError("forbidden", { what: "visibility", field: "visibility", reason });
}
