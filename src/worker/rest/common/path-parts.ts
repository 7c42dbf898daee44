import type { Context } from "hono";
import { GitError } from "../../../base/format/errors.ts";
import { decodePathParts, isUtf8, percentDecode } from "../../../base/format/path-parts.ts";

/** Where paths take any bytes: `pathParts` reads them. */
const BYTES = /^\/api\/repos\/[^/]+\/[^/]+\/(?:raw|blame|archive)\//;

/** The part of a path up to the resource of a repository. */
const PREFIX = /^\/api\/repos\/[^/]+\/[^/]+\/[^/]+\//;

/** Splits the rest of a URL's path, after the resource of a repository. @see decodePathParts */
export function pathParts({ req }: Context): string[] {
  return decodePathParts(new URL(req.url).pathname.replace(PREFIX, ""));
}

/** Refuses a URL's path that is not UTF-8, where a text is expected: it would be taken for another.
 * @throws GitError "invalid" */
export function refuseOddNames(url: string): void {
  const { pathname } = new URL(url);
  if (pathname.includes("%") && !BYTES.test(pathname) && !isUtf8(percentDecode(pathname)))
    throw new GitError("invalid", { what: "path", reason: "its names must be UTF-8" });
}
