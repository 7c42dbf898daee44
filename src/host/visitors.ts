// Answers at the URL of the server or of a repository: a page for a browser, a line of text for
// other clients.
import type { Context } from "hono";
import { accepts } from "hono/accepts";
import { GitError, isGitError } from "../format/errors.ts";
import { parseRepositoryName, type RepositoryName } from "../format/repository-name.ts";
import { errorResponse, textResponse } from "../protocol/error-response.ts";
import { renderFrontPage, renderMissingPage, renderRepositoryPage } from "../web/visitor-pages.ts";

/** Explains how to push to this server. */
export function welcome(context: Context): Response | Promise<Response> {
  if (isBrowser(context)) return renderFrontPage(originOf(context));
  return textResponse(200, "Holdfast: a Git host. Push to it: git push <this URL>/<owner>/<repository>.git main", VARY);
}

/** Explains how to clone a repository. To a browser, a repository that its user may not read looks
 * like a missing one, and no password is asked for: the browser would then send it with requests
 * by any other page.
 * @param find returns the name's current form, if the caller may read it; null: unknown. Throws as
 * `HostRequest.open` */
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
