import { GitError } from "../format/errors.ts";
import { parseRepositoryName, type RepositoryName } from "../format/repository-name.ts";
import type { RestHost } from "../rest/app.ts";
import { R2ChunkStore } from "../store/r2-chunk-store.ts";
import { forgetRoute, NamedRepository, registryOf } from "./directory.ts";
import type { Env } from "./env.ts";
import { printEvent } from "./event-log.ts";

/** What the REST API needs, on this platform.
 * @param codec the isolate's */
export function newRestHost(env: Env, codec: RestHost["reading"]["codec"]): RestHost {
  const named = (name: RepositoryName) => new NamedRepository(env, name);
  return {
    open: async (owner, repository) => {
      const name = parseRepositoryName(owner, repository);
      if (name === null) throw new GitError("not-found", { what: "repository" });
      return named(name).client();
    },
    reading: {
      codec,
      openChunks: (counters) => new R2ChunkStore(env.BUCKET, counters),
      observe: printEvent,
    },
    registry: {
      list: (owner, after, limit) => registryOf(env).list(owner, after, limit),
      read: (name) => registryOf(env).read(name),
      create: (name, details, defaultBranch) => named(name).create(details, defaultBranch),
      update: (repository, change) => {
        forgetRoute(repository);
        return registryOf(env).update(repository.id, change);
      },
      delete: (name) => named(name).delete(),
    },
  };
}
