import { GitError } from "../../../base/format/errors.ts";
import { type FeedEntry, writeFeed } from "../parts/feed.tsx";
import { PAGE_HEADERS } from "../parts/page-headers.ts";
import { subjectOf, visibleName } from "../parts/text.ts";
import { urlParts, commitUrl, pathUrl, placeUrl } from "../parts/urls.ts";
import type { PageContext } from "../parts/web-env.ts";

/** Maximum number of entries in a feed. */
const ENTRIES = 30;

const EXTENSION = ".atom";

const EVERYTHING = {
  author: null,
  text: null,
  since: null,
  until: null,
  ignoreCase: false,
  firstParent: false,
  follow: false,
} as const;

/** `/{owner}/{repo}/feed/commits/{rev}.atom` and `/{owner}/{repo}/feed/tags.atom`: the newest
 * commits of a revision, or of a path in it, and the newest tags. */
export async function feedPage(context: PageContext): Promise<Response> {
  const [kind, ...rest] = urlParts(context);
  const last = rest.pop();
  if (kind === `tags${EXTENSION}` && last === undefined) return sendTags(context);
  if (kind === "commits" && last?.endsWith(EXTENSION) === true)
    return sendCommits(context, [...rest, last.slice(0, -EXTENSION.length)]);
  throw new GitError("not-found", { what: "feed" });
}

async function sendCommits(context: PageContext, parts: readonly string[]): Promise<Response> {
  const place = context.get("place");
  const { origin } = new URL(context.req.url);
  const request = { parts, filter: EVERYTHING, cursor: null, limit: ENTRIES };
  const { revision, path, commits } = await context.get("repository").logPage(request);
  const entries = commits.map(({ oid, message, author, committer }) => ({
    title: subjectOf(message) || oid,
    url: origin + commitUrl(place, oid),
    updated: committer.date,
    author: author.name,
    content: message,
  }));
  const title = `${place.owner}/${place.name}: commits of ${visibleName(path === "" ? revision.short : path)}`;
  return send(context, title, pathUrl(place, "commits", revision.name, path), entries);
}

async function sendTags(context: PageContext): Promise<Response> {
  const place = context.get("place");
  const { origin } = new URL(context.req.url);
  const { tags } = await context.get("repository").tagsPage({ start: 0, limit: ENTRIES });
  const entries = tags.map(({ name, rev, message, tagger, committed }) => ({
    title: visibleName(name),
    url: origin + pathUrl(place, "tree", rev, ""),
    updated: tagger?.date ?? committed ?? "1970-01-01T00:00:00Z",
    author: tagger?.name ?? null,
    content: message ?? "",
  }));
  return send(context, `${place.owner}/${place.name}: tags`, placeUrl(place, "tags"), entries);
}

function send(context: PageContext, title: string, page: string, entries: readonly FeedEntry[]): Response {
  const { origin, pathname } = new URL(context.req.url);
  const text = writeFeed(title, origin + pathname, origin + page, context.get("place").owner, entries);
  return new Response(text, { headers: { ...PAGE_HEADERS, "Content-Type": "application/atom+xml; charset=utf-8" } });
}
