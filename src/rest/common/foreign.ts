// Branches of other repositories of the family, as requests name them.
import type { Context } from "hono";
import { encodeText } from "../../format/byte-string.ts";
import { GitError } from "../../format/errors.ts";
import { parseRepositoryName } from "../../format/repository-name.ts";
import type { RepositoryClient } from "../../repository/calls.ts";
import type { ForeignBranch } from "../../repository/forks/borrow.ts";
import type { RepositoryEntry } from "../../store/registry/repository-rows.ts";
import type { RestEnv } from "./routes.ts";

/** No revision that names a commit has a colon. */
const FOREIGN = /^(?<owner>[^/:]+)(?:\/(?<name>[^/:]+))?:(?<branch>.+)$/;

/** What descriptions say of a parameter that may name such a branch. */
export const FOREIGN_HINT =
  "or a branch of another repository of the same family of forks: `owner:branch`, or `owner/repository:branch`";

/** A branch of another repository. */
export interface Foreign extends ForeignBranch {
  readonly entry: RepositoryEntry;
  readonly client: RepositoryClient;
}

/** Opens the repository that a text names before a colon.
 * @returns null: it names a revision of the repository in the path
 * @throws GitError "not-found", "ambiguous" */
export async function openForeign(context: Context<RestEnv>, text: string): Promise<Foreign | null> {
  const { owner, name = null, branch } = FOREIGN.exec(text)?.groups ?? {};
  if (owner === undefined || branch === undefined) return null;
  const { registry } = context.get("host");
  const { entry, client } = await registry.openRelative(await entryOf(context), owner, name, () => undefined);
  return { entry, client, repository: entry.id, branch: encodeText(branch) };
}

/** The repository in the path. */
async function entryOf(context: Context<RestEnv>): Promise<RepositoryEntry> {
  const { owner, repo } = context.req.param() as { owner: string; repo: string };
  const name = parseRepositoryName(owner, repo);
  const entry = name === null ? null : await context.get("host").registry.read(name);
  if (entry === null) throw new GitError("not-found", { what: "repository" });
  return entry;
}
