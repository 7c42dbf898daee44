// Makes all URLs of the pages. Names are byte strings, encoded byte by byte.
import { decodePathParts, encodePath } from "../../../base/format/path-parts.ts";
import type { PageContext } from "./web-env.ts";
import type { RepositoryName } from "../../../base/format/repository-name.ts";

/** Pages of a repository whose URLs name a revision and a path. */
export type PathPageName =
  | "tree"
  | "blob"
  | "raw"
  | "blame"
  | "commits"
  | "edit"
  | "new"
  | "upload"
  | "delete"
  | "find";

/** URL of a repository's page, or of a page below it that takes no revision.
 * @param below such as `branches` */
export function placeUrl({ owner, name }: RepositoryName, below = ""): string {
  return `/${owner}/${name}${below === "" ? "" : `/${below}`}`;
}

/** URL of a page about a path in a revision.
 * @param rev byte string, as the URL of the page names it
 * @param path byte string, "" for the root */
export function pathUrl(place: RepositoryName, page: PathPageName, rev: string, path: string): string {
  return `${placeUrl(place, page)}/${encodePath(path === "" ? rev : `${rev}/${path}`)}`;
}

/** URL of a commit's page. @param oid hex */
export function commitUrl(place: RepositoryName, oid: string): string {
  return placeUrl(place, `commit/${oid}`);
}

/** URL of a tag's page. @param name without `refs/tags/`, byte string */
export function tagUrl(place: RepositoryName, name: string): string {
  return `${placeUrl(place, "tag")}/${encodePath(name)}`;
}

/** URL of the page that compares two sides.
 * @param base byte string, as `head`: a revision, or `owner:branch` */
export function compareUrl(place: RepositoryName, base: string, head: string, dots: ".." | "..." = "..."): string {
  return `${placeUrl(place, "compare")}/${encodePath(base + dots + head)}`;
}

/** URL of the feed of a revision's commits. @param rev byte string */
export function feedUrl(place: RepositoryName, rev: string): string {
  return `${placeUrl(place, "feed/commits")}/${encodePath(`${rev}.atom`)}`;
}

/** URL of the archive of a commit's files. @param rev byte string */
export function archiveUrl(place: RepositoryName, rev: string, format: "zip" | "tar.gz"): string {
  return `${placeUrl(place, "archive")}/${encodePath(`${rev}.${format}`)}`;
}

/** URL for git. @param origin of the deployment */
export function cloneUrl(origin: string, place: RepositoryName): string {
  return `${origin}${placeUrl(place)}.git`;
}

/** URL of the sign-in page, which leads back.
 * @param to path and query of a page */
export function signInUrl(to: string): string {
  return to === "/" ? "/-/sign-in" : `/-/sign-in?to=${encodeURIComponent(to)}`;
}

/** Adds a query to a URL.
 * @param fields those with null are left out */
export function withQuery(url: string, fields: Readonly<Record<string, string | null>>): string {
  const set = Object.entries(fields).filter((field): field is [string, string] => field[1] !== null);
  return set.length === 0 ? url : `${url}?${new URLSearchParams(set).toString()}`;
}

/** The part of a path up to and including the name of a page below a repository's. */
const PREFIX = /^\/[^/]+\/[^/]+\/[^/]+\/?/;

/** Reads a revision and a path from the URL of a page below a repository's.
 * @returns byte strings, without empty ones at the end */
export function urlParts({ req }: PageContext): string[] {
  const parts = decodePathParts(new URL(req.url).pathname.replace(PREFIX, ""));
  while (parts.at(-1) === "") parts.pop();
  // `encodePath` encodes the slashes around `.` and `..`, so they are split here.
  return parts.flatMap((part) => (/(?:^|\/)\.\.?(?:\/|$)/.test(part) ? part.split("/") : [part]));
}
