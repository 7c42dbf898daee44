// Decides whether an address may be requested. Without this check, any caller who may import or
// mirror could make the server read addresses that only its own network can reach. The address
// behind a name is known only at the time of the request, and only to the platform: a deployed
// Worker reaches only public addresses, and `npm start` makes the runtime refuse others when it
// connects (scripts/start/worker-options.ts).
import { GitError } from "../../base/format/errors.ts";
import { isPublicHost } from "../../base/format/public-address.ts";

/** Checks the address of a repository, or of a redirect. URL parsing has already normalised the
 * many spellings of an IP address.
 * @param allowsPrivate whether it may be in a private network
 * @throws GitError "invalid" with the reason */
export function checkAddress(text: string, allowsPrivate: boolean): URL {
  const url = checkLink(text, allowsPrivate);
  if (url.search !== "" || url.hash !== "") throw refuse("it has a query or a fragment");
  return url;
}

/** Checks an address that an upstream gave, which may have a query.
 * @throws GitError as `checkAddress` */
export function checkLink(text: string, allowsPrivate: boolean): URL {
  if (!URL.canParse(text)) throw refuse("it is not a URL; write https://host/path");
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") throw refuse("only https: and http: are followed");
  if (url.username !== "" || url.password !== "") throw refuse("it has a user or password; send `authorization`");
  if (!allowsPrivate && !isPublicHost(url.hostname)) throw refuse(`${url.hostname} is no public address`);
  return url;
}

function refuse(reason: string): GitError {
  return new GitError("invalid", { what: "address", field: "url", reason });
}
