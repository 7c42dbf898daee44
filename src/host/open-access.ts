// Who is let in where access is open: this machine's own users, and none of the web pages that they look at. A page of any origin can have a
// browser send requests to this machine, and, by a name of its own that it lets lead here (DNS rebinding), read the answers. Only
// browsers have to be told apart: they cannot send another Host than the one that they asked, nor withhold the origin of a page.
import { GitError } from "../format/errors.ts";

/** `Sec-Fetch-Site` of what the browser's user asked for, or a page of this server.
 * @see https://www.w3.org/TR/fetch-metadata/ */
const OWN_SITES: ReadonlySet<string> = new Set(["none", "same-origin"]);

/** Says why a request may not come in where access is open; null: it may. A request without an Origin and without fetch metadata is of no
 * browser, as those of git and curl are, or of an old one that reads no answer by it; and nothing changes by what such a one sends so. */
export function refuseForeign({ url, headers }: Request): GitError | null {
  const { host, hostname, origin } = new URL(url);
  if (!isLoopback(hostname)) {
    const reason =
      "with open access this server answers to localhost, 127.0.0.1 and [::1]; others can be served with tokens";
    return new GitError("forbidden", { what: `the Host ${host}`, reason });
  }
  const page = headers.get("Origin");
  const site = headers.get("Sec-Fetch-Site");
  if ((page === null || page === origin) && (site === null || OWN_SITES.has(site))) return null;
  const reason = "with open access this server answers to no page but its own; others need access by tokens";
  return new GitError("forbidden", { what: `what the page ${page ?? `of another site`} asks for`, reason });
}

/** @param hostname as URLs have it: lower case, addresses in full */
function isLoopback(hostname: string): boolean {
  return /^(?:(?:.+\.)?localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}
