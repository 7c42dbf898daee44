import type { Context } from "hono";

/** A repository, and which of its resources: what goes before. */
const PREFIX = /^\/api\/repos\/[^/]+\/[^/]+\/[^/]+\//;

/** Splits what stands in a URL's path behind the name of a repository's resource, at its slashes, of which encoded ones are none.
 * @returns byte strings: what is encoded need not be UTF-8 */
export function pathParts({ req }: Context): string[] {
  return new URL(req.url).pathname
    .replace(PREFIX, "")
    .split("/")
    .map((part) =>
      part.replace(/%([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16))),
    );
}
