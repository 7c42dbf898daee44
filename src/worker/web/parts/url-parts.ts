import { decodePathParts } from "../../../base/format/path-parts.ts";
import type { PageContext } from "./web-env.ts";

/** The part of a path up to the name of a page below a repository's. */
const PREFIX = /^\/[^/]+\/[^/]+\/[^/]+\/?/;

/** A revision and a path, from the URL of a page below a repository's.
 * @returns byte strings, without empty ones at the end */
export function urlParts({ req }: PageContext): string[] {
  const parts = decodePathParts(new URL(req.url).pathname.replace(PREFIX, ""));
  while (parts.at(-1) === "") parts.pop();
  // `encodePath` writes the slashes around `.` and `..` so that they do not split.
  return parts.flatMap((part) => (/(?:^|\/)\.\.?(?:\/|$)/.test(part) ? part.split("/") : [part]));
}
