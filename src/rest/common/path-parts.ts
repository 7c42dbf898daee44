import type { Context } from "hono";

/** The part of a path up to the resource of a repository. */
const PREFIX = /^\/api\/repos\/[^/]+\/[^/]+\/[^/]+\//;

/** Splits the rest of a URL's path, after the resource of a repository, at its slashes. Encoded
 * slashes do not split.
 * @returns byte strings, since percent-encoded bytes need not be UTF-8 */
export function pathParts({ req }: Context): string[] {
  return new URL(req.url).pathname
    .replace(PREFIX, "")
    .split("/")
    .map((part) =>
      part.replace(/%([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16))),
    );
}
