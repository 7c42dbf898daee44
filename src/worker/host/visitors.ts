// Answers clients other than browsers at the URL of the server or of a repository with a line of
// text.
import { GitError } from "../../base/format/errors.ts";
import type { Context } from "hono";
import { parseRepositoryName, type RepositoryName } from "../../base/format/repository-name.ts";
import { errorResponse, textResponse } from "../../base/http/error-response.ts";

/** Explains how to push to this server. */
export function welcome(): Response {
  return textResponse(200, "Holdfast: a Git host. Push to it: git push <this URL>/<owner>/<repository>.git main", VARY);
}

/** Explains how to clone a repository.
 * @param find returns the current spelling of the name, if the caller may read the repository;
 * null: unknown. Throws as `HostRequest.open` */
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

/** Values of `Sec-Fetch-Site` for requests by the browser's user or by a page of this server.
 * @see https://www.w3.org/TR/fetch-metadata/ */
const OWN_SITES: ReadonlySet<string> = new Set(["none", "same-origin"]);

// Open access lets in this machine's own users, but no web pages that they look at. A page of any
// origin can make a browser send requests to this machine, and can read the answers through a name
// of its own that resolves here (DNS rebinding). Recognising browsers is enough: they cannot forge
// the Host header, nor hide a page's origin.

/** Says why a request is refused under open access; null: it is allowed. A request without Origin
 * and fetch metadata comes from git, curl and the like, or from an old browser, which omits them
 * only where its page cannot read the answer and the request changes nothing. */
export function refuseForeign({ url, headers }: Request): GitError | null {
  const { host, hostname, origin } = new URL(url);
  if (!isLoopback(hostname)) {
    const reason =
      "with open access this server answers only to localhost, 127.0.0.1 and [::1]; other names need access by tokens";
    return new GitError("forbidden", { what: `the Host ${host}`, reason });
  }
  const page = headers.get("Origin");
  const site = headers.get("Sec-Fetch-Site");
  if ((page === null || page === origin) && (site === null || OWN_SITES.has(site))) return null;
  const reason = "with open access this server answers only its own pages; other pages need access by tokens";
  return new GitError("forbidden", { what: `a request from the page ${page ?? `of another site`}`, reason });
}

/** @param hostname as URL parses it: lower case, addresses in full */
function isLoopback(hostname: string): boolean {
  return /^(?:(?:.+\.)?localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}
