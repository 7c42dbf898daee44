import { authorise, type Caller, may } from "../../base/access/caller.ts";
import { GitError } from "../../base/format/errors.ts";
import type { Deployment, RepositoryRegistry } from "../shared/deployment.ts";
import type { RepositoryEntry } from "../../contract/registry.ts";
import { registryOf } from "./directory.ts";
import { forgetRoute } from "./known-routes.ts";
import type { Env } from "../../contract/env.ts";
import type { HostRequest } from "./host-request.ts";

/** Lists, creates, changes and deletes repositories for a request.
 * @param demand @see Deployment.demand */
export function newRepositoryRegistry(
  request: HostRequest,
  findCaller: () => Promise<Caller>,
  demand: Deployment["demand"],
): RepositoryRegistry {
  const { env } = request;
  return {
    list: async (owner, after, limit) => {
      const caller = await findCaller();
      return (await registryOf(env).list(owner, after, limit, caller)).map((entry) => showTo(caller, entry));
    },
    search: async (text, owner, after, limit) => {
      const caller = await findCaller();
      const { entries, next } = await registryOf(env).search(text, owner, after, limit, caller);
      return { entries: entries.map((entry) => showTo(caller, entry)), next };
    },
    read: async (name) => {
      const entry = await registryOf(env).read(name);
      if (entry === null) return null;
      const caller = await findCaller();
      // The name may belong to another repository than the route was opened for.
      authorise(caller, "read", entry);
      return showTo(caller, entry);
    },
    readWithForks: async (name, limit) => {
      const caller = await findCaller();
      const found = await registryOf(env).readWithForks(name, limit, caller);
      if (found === null) return null;
      const { entry, forks } = found;
      authorise(caller, "read", entry);
      return {
        entry: showTo(caller, entry),
        forks: { ...forks, first: forks.first.map((fork) => showTo(caller, fork)) },
      };
    },
    listForks: async (parent, after, limit) => {
      const caller = await findCaller();
      const { forks, next } = await registryOf(env).listForks(parent, after, limit, caller);
      return { forks: forks.map((entry) => showTo(caller, entry)), next };
    },
    openRelative: async (of, owner, name, noteAmbiguities) => {
      const entry = await findRelative(env, await findCaller(), of, owner, name);
      return { entry, client: (await request.openAlso(entry, "read")).client(noteAmbiguities) };
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
  };
}

/** Finds a repository of the same family that the caller may read.
 * @param name null: the owner's only one
 * @throws GitError "not-found", "ambiguous" */
async function findRelative(
  env: Env,
  caller: Caller,
  of: RepositoryEntry,
  owner: string,
  name: string | null,
): Promise<RepositoryEntry> {
  const found = await registryOf(env).findRelatives(of.id, owner, name);
  const [relative, ...others] = found.filter((entry) => may(caller, "read", entry));
  if (relative === undefined) {
    const reason = `${name === null ? owner : `${owner}/${name}`} is not of its family`;
    throw new GitError("not-found", { subject: "repository", reason });
  }
  if (others.length === 0) return relative;
  const reason = `${owner} has several; name one as owner/repository:branch`;
  throw new GitError("ambiguous", { subject: "repository", actual: owner, reason });
}

/** Removes from a repository's entry the parent that the caller may not read. */
function showTo(caller: Caller, entry: RepositoryEntry): RepositoryEntry {
  return entry.parent === null || may(caller, "read", entry.parent) ? entry : { ...entry, parent: null };
}

/** Refuses to publish a fork of a private repository without the right to publish the parent.
 * @throws GitError "forbidden" */
function checkPublication(caller: Caller, fork: RepositoryEntry | null): void {
  const parent = fork?.parent ?? null;
  if (parent === null || parent.visibility === "public" || may(caller, "admin", parent)) return;
  const reason = "it is the fork of a private repository, for which you need the right 'admin', too";
  throw new GitError("forbidden", { what: "visibility", field: "visibility", reason });
}
