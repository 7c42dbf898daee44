// Whoever opens the URL of the server, or of a repository: a browser gets a page, anything else a line of text.
import type { Context } from "hono";
import { accepts } from "hono/accepts";
import { GitError, isGitError } from "../format/errors.ts";
import { parseRepositoryName, type RepositoryName } from "../format/repository-name.ts";
import { errorResponse, textResponse } from "../protocol/error-response.ts";
import { renderFrontPage, renderMissingPage, renderRepositoryPage } from "../web/visitor-pages.ts";

/** Says how to push to this server. */
export function welcome(context: Context): Response | Promise<Response> {
  if (isBrowser(context)) return renderFrontPage(originOf(context));
  return textResponse(200, "Holdfast: a Git host. Push to it: git push <this URL>/<owner>/<repository>.git main", VARY);
}

/** Says how to clone a repository. To a browser, one that its user may not read is as one that is not there, and no password is
 * asked for: the browser would send it along with whatever other pages ask.
 * @param find what has a name now, for who may read it; null: nothing has it
 *   @throws GitError as `HostRequest.open` */
export async function showRepository(
  context: Context,
  find: (name: RepositoryName) => Promise<RepositoryName | null>,
): Promise<Response> {
  const { owner, repository } = context.req.param() as { owner: string; repository: string };
  try {
    const name = parseRepositoryName(owner, repository);
    const found = name === null ? null : await find(name);
    if (found === null) throw new GitError("not-found", { what: "repository" });
    const shown = `${found.owner}/${found.name}`;
    if (isBrowser(context)) return await renderRepositoryPage(originOf(context), shown);
    return textResponse(200, `git clone ${originOf(context)}/${shown}.git`, VARY);
  } catch (error) {
    const isHidden = isGitError(error) && ["not-found", "unauthenticated", "forbidden"].includes(error.code);
    return isHidden && isBrowser(context) ? renderMissingPage() : errorResponse(error);
  }
}

const VARY = { Vary: "Accept" };

function isBrowser(context: Context): boolean {
  const supports = ["text/plain", "text/html"];
  return accepts(context, { header: "Accept", supports, default: "text/plain" }) === "text/html";
}

function originOf({ req }: Context): string {
  return new URL(req.url).origin;
}
