import type { Context } from "hono";
import { decodePathParts } from "../../format/path-parts.ts";

/** The part of a path up to the resource of a repository. */
const PREFIX = /^\/api\/repos\/[^/]+\/[^/]+\/[^/]+\//;

/** Splits the rest of a URL's path, after the resource of a repository. @see decodePathParts */
export function pathParts({ req }: Context): string[] {
  return decodePathParts(new URL(req.url).pathname.replace(PREFIX, ""));
}
