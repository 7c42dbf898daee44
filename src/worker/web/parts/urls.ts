// Every URL of the pages is made here. Names are byte strings, encoded byte by byte.
import { decodePathParts, encodePath } from "../../../base/format/path-parts.ts";
import type { PageContext } from "./web-env.ts";
import type { RepositoryName } from "../../../base/format/repository-name.ts";

/** Pages below a repository's that name a revision and a path. */
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

/** The page of a repository, or one below it that takes no revision.
 * @param below such as `branches` */
export function placeUrl({ owner, name }: RepositoryName, below = ""): string {
  return `/${owner}/${name}${below === "" ? "" : `/${below}`}`;
}

/** A page about a path in a revision.
 * @param rev byte string, as the URL of the page names it
 * @param path byte string, "" for the root */
export function pathUrl(place: RepositoryName, page: PathPageName, rev: string, path: string): string {
  return `${placeUrl(place, page)}/${encodePath(path === "" ? rev : `${rev}/${path}`)}`;
}

/** The page of a commit. @param oid hex */
export function commitUrl(place: RepositoryName, oid: string): string {
  return placeUrl(place, `commit/${oid}`);
}

/** The page of a tag. @param name without `refs/tags/`, byte string */
export function tagUrl(place: RepositoryName, name: string): string {
  return `${placeUrl(place, "tag")}/${encodePath(name)}`;
}

/** The page that compares two sides.
 * @param base byte string, as `head` is: a revision, or `owner:branch` */
export function compareUrl(place: RepositoryName, base: string, head: string, dots: ".." | "..." = "..."): string {
  return `${placeUrl(place, "compare")}/${encodePath(base + dots + head)}`;
}

/** The feed of a revision's commits. @param rev byte string */
export function feedUrl(place: RepositoryName, rev: string): string {
  return `${placeUrl(place, "feed/commits")}/${encodePath(`${rev}.atom`)}`;
}

/** The archive of a commit's files. @param rev byte string */
export function archiveUrl(place: RepositoryName, rev: string, format: "zip" | "tar.gz"): string {
  return `${placeUrl(place, "archive")}/${encodePath(`${rev}.${format}`)}`;
}

/** The URL that git takes. @param origin of the deployment */
export function cloneUrl(origin: string, place: RepositoryName): string {
  return `${origin}${placeUrl(place)}.git`;
}

/** The page to sign in on, which leads back.
 * @param to path and query of a page */
export function signInUrl(to: string): string {
  return to === "/" ? "/-/sign-in" : `/-/sign-in?to=${encodeURIComponent(to)}`;
}

/** A URL with a query.
 * @param fields of which those with null are left out */
export function withQuery(url: string, fields: Readonly<Record<string, string | null>>): string {
  const set = Object.entries(fields).filter((field): field is [string, string] => field[1] !== null);
  return set.length === 0 ? url : `${url}?${new URLSearchParams(set).toString()}`;
}

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
