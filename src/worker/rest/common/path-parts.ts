import type { Context } from "hono";
import { GitError } from "../../../base/format/errors.ts";
import { decodePathParts, isUtf8, percentDecode } from "../../../base/format/path-parts.ts";

/** Paths with arbitrary bytes, which `pathParts` reads. */
const BYTES = /^\/api\/repos\/[^/]+\/[^/]+\/(?:raw|blame|archive)\//;

/** The part of a path up to and including a repository's resource. */
const PREFIX = /^\/api\/repos\/[^/]+\/[^/]+\/[^/]+\//;

/** Splits the part of a URL's path after a repository's resource. @see decodePathParts */
export function pathParts({ req }: Context): string[] {
  return decodePathParts(new URL(req.url).pathname.replace(PREFIX, ""));
}

/** Refuses a path that is not UTF-8 where text is expected: it would decode to another name.
 * @throws GitError "invalid" */
export function refuseOddNames(url: string): void {
  const { pathname } = new URL(url);
  if (pathname.includes("%") && !BYTES.test(pathname) && !isUtf8(percentDecode(pathname)))
    throw new GitError("invalid", { what: "path", reason: "its names must be UTF-8" });
}
