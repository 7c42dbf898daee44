// Answers for clients other than browsers, at the URL of the server or of a repository: a line of
// text.
import type { Context } from "hono";
import { GitError } from "../../base/format/errors.ts";
import { parseRepositoryName, type RepositoryName } from "../../base/format/repository-name.ts";
import { errorResponse, textResponse } from "../../base/http/error-response.ts";

/** Explains how to push to this server. */
export function welcome(): Response {
  return textResponse(200, "Holdfast: a Git host. Push to it: git push <this URL>/<owner>/<repository>.git main", VARY);
}

/** Explains how to clone a repository.
 * @param find returns the name's current form, if the caller may read it; null: unknown. Throws as
 * `HostRequest.open` */
export async function explainRepository(
  { req }: Context,
  find: (name: RepositoryName) => Promise<RepositoryName | null>,
): Promise<Response> {
  const { owner, repository } = req.param() as { owner: string; repository: string };
  try {
    const name = parseRepositoryName(owner, repository);
    const found = name === null ? null : await find(name);
    if (found === null) throw new GitError("not-found", { subject: "repository" });
    return textResponse(200, `git clone ${new URL(req.url).origin}/${found.owner}/${found.name}.git`, VARY);
  } catch (error) {
    return errorResponse(error);
  }
}

const VARY = { Vary: "Accept" };
