import { includesRight } from "../../../base/access/caller.ts";
import type { ListedTag } from "../../../contract/pages.ts";
import { FeedHead, FeedLink } from "../parts/feed.tsx";
import { PAGE_ITEMS, Pager, readStart } from "../parts/pager.tsx";
import { PlaceHeader } from "../parts/place-header.tsx";
import { deleteNamed, DeleteForm } from "../parts/ref-rows.tsx";
import { showPage } from "../parts/show-page.tsx";
import { shortId, visibleLine, visibleName, visibleText } from "../parts/text.ts";
import { Ago } from "../parts/times.tsx";
import { archiveUrl, commitUrl, pathUrl, placeUrl, tagUrl } from "../parts/urls.ts";
import type { PageContext, PagePlace } from "../parts/web-env.ts";

/** Maximum length of a tag's message in the list, in characters. */
const MAX_MESSAGE = 2_000;

/** `/{owner}/{repo}/tags`. */
export async function tagsPage(context: PageContext): Promise<Response> {
  const place = context.get("place");
  const start = readStart(new URL(context.req.url).searchParams);
  const { tags, total } = await context.get("repository").tagsPage({ start, limit: PAGE_ITEMS });
  const feed = placeUrl(place, "feed/tags.atom");
  const nowMs = Date.now();
  return showPage(context, {
    title: `Tags · ${place.owner}/${place.name}`,
    head: <FeedHead href={feed} title={`Tags of ${place.owner}/${place.name}`} />,
    content: (
      <>
        <PlaceHeader place={place} tab="tags" />
        <div class="bar">
          <h2>Tags</h2>
          <span class="push">
            <FeedLink href={feed} of="tags" />
          </span>
        </div>
        {tags.length === 0 ? (
          <p>There are none.</p>
        ) : (
          <ul class="box refs">
            {tags.map((tag) => (
              <TagItem place={place} tag={tag} nowMs={nowMs} />
            ))}
          </ul>
        )}
        <Pager here={placeUrl(place, "tags")} start={start} total={total} first="Newest" further="Older" />
      </>
    ),
  });
}

/** Deletes a tag. */
export async function deleteTag(context: PageContext): Promise<Response> {
  await deleteNamed(context, "refs/tags/");
  return context.redirect(placeUrl(context.get("place"), "tags"), 303);
}

function TagItem({ place, tag, nowMs }: { place: PagePlace; tag: ListedTag; nowMs: number }) {
  const { name, rev, oid, target, message, tagger, committed, messageTruncated = false } = tag;
  const isCut = messageTruncated || (message ?? "").trim().length > MAX_MESSAGE;
  const shown = visibleName(name);
  const isCommit = target.type === "commit";
  const date = tagger?.date ?? committed;
  return (
    <li>
      <div class="row">
        {isCommit ? (
          <a class="name" href={pathUrl(place, "tree", rev, "")}>
            <bdi>{shown}</bdi>
          </a>
        ) : (
          <bdi class="name">{shown}</bdi>
        )}
        <span class="muted">
          {tagger !== null && (
            <>
              <bdi>{visibleLine(tagger.name)}</bdi> ·{" "}
            </>
          )}
          {date !== null && <Ago iso={date} nowMs={nowMs} />}
        </span>
        <div class="push row">
          {isCommit ? (
            <>
              <a href={commitUrl(place, target.oid)}>
                <code>{shortId(target.oid)}</code>
              </a>
              <a href={archiveUrl(place, rev, "zip")}>
                zip<span class="hush"> of {shown}</span>
              </a>
              <a href={archiveUrl(place, rev, "tar.gz")}>
                tar.gz<span class="hush"> of {shown}</span>
              </a>
            </>
          ) : (
            <span class="muted">a {target.type}</span>
          )}
          {includesRight(place.right, "write") && (
            <DeleteForm action={placeUrl(place, "tags/delete")} name={name} expected={oid} />
          )}
        </div>
      </div>
      {message !== null && message.trim() !== "" && (
        <pre class="plain" dir="auto">
          {visibleText(message.trim().slice(0, MAX_MESSAGE))}
          {isCut && " …"}
        </pre>
      )}
      {isCut && (
        <p>
          <a href={tagUrl(place, name)}>
            All of the message<span class="hush"> of {shown}</span>
          </a>
        </p>
      )}
    </li>
  );
}
