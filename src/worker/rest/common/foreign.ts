// Branches of other repositories of the family, as requests name them.
import type { Context } from "hono";
import { encodeText } from "../../../base/format/byte-string.ts";
import { GitError } from "../../../base/format/errors.ts";
import { parseRepositoryName } from "../../../base/format/repository-name.ts";
import { type Family, type Foreign, openForeign as openRelative } from "../../shared/comparison.ts";
import type { RestEnv } from "./routes.ts";

/** Text in the description of a parameter that may name such a branch. */
export const FOREIGN_HINT =
  "or a branch of another repository of the same family of forks: `owner:branch`, or `owner/repository:branch`";

/** Opens the repository that is named before a colon. @see openForeign */
export function openForeign(context: Context<RestEnv>, text: string): Promise<Foreign | null> {
  return openRelative(familyOf(context), encodeText(text));
}

/** The family of the repository in the path. */
export function familyOf(context: Context<RestEnv>): Family {
  const { registry } = context.get("host");
  const entry = async () => {
    const { owner, repo } = context.req.param() as { owner: string; repo: string };
    const name = parseRepositoryName(owner, repo);
    const found = name === null ? null : await registry.read(name);
    if (found === null) throw new GitError("not-found", { subject: "repository" });
    return found;
  };
  return { registry, entry };
}
