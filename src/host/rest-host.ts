import { authorise, everythingOf, type Requester, type Right, rightOf } from "../access/caller.ts";
import { GitError } from "../format/errors.ts";
import { parseRepositoryName, type RepositoryName } from "../format/repository-name.ts";
import type { RestHost } from "../rest/routes.ts";
import { R2ChunkStore } from "../store/r2-chunk-store.ts";
import { forgetRoute, NamedRepository, registryOf } from "./directory.ts";
import type { Env } from "./env.ts";
import { printEvent } from "./event-log.ts";
import { newTokenDesk } from "./token-desk.ts";

/** What the REST API needs, on this platform.
 * @param codec the isolate's
 * @param identify finds out who asks */
export function newRestHost(
  env: Env,
  codec: RestHost["reading"]["codec"],
  identify: () => Promise<Requester>,
): RestHost {
  const named = async (name: RepositoryName, needed: Right) => new NamedRepository(env, name, await identify(), needed);
  const demand = async (needed: Right, owner: string): Promise<void> => {
    const { caller } = await identify();
    const target = everythingOf(owner);
    // Owners are no secret: who has no right is told so.
    if (caller.kind !== "anonymous" && rightOf(caller, target) === null)
      throw new GitError("forbidden", { what: `what belongs to ${owner}` });
    authorise(caller, needed, target);
  };
  return {
    open: async (owner, repository, needed) => {
      const name = parseRepositoryName(owner, repository);
      if (name === null) throw new GitError("not-found", { what: "repository" });
      const opened = await named(name, needed);
      await opened.admit();
      return opened.client();
    },
    demandToken: async () => {
      const { caller } = await identify();
      if (caller.kind === "anonymous") throw new GitError("unauthenticated", { what: "token" });
    },
    demand,
    tokens: newTokenDesk(env, async () => (await identify()).caller, demand),
    reading: {
      codec,
      openChunks: (counters) => new R2ChunkStore(env.BUCKET, counters),
      observe: printEvent,
    },
    registry: {
      list: async (owner, after, limit) => registryOf(env).list(owner, after, limit, (await identify()).caller),
      read: async (name) => {
        const entry = await registryOf(env).read(name);
        // What has the name now may be another repository than the one that the route was opened for.
        if (entry !== null) authorise((await identify()).caller, "read", entry);
        return entry;
      },
      create: async (name, details, defaultBranch) => {
        await demand("write", name.owner);
        return (await named(name, "write")).create(details, defaultBranch);
      },
      update: async (repository, change) => {
        authorise((await identify()).caller, "admin", repository);
        forgetRoute(repository);
        return registryOf(env).update(repository.id, change);
      },
      delete: async (name) => (await named(name, "admin")).delete(),
    },
  };
}
