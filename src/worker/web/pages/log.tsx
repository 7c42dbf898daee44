import { encodeText } from "../../../base/format/byte-string.ts";
import { GitError } from "../../../base/format/errors.ts";
import { checkLimit } from "../../../base/format/limits.ts";
import { isHexOid } from "../../../base/format/oid.ts";
import type { HistoryPage } from "../../../contract/pages.ts";
import { DAY_SECONDS } from "../../../base/format/calendar.ts";
import { AmbiguityNote } from "../parts/ambiguity-note.tsx";
import { CommitList } from "../parts/commit-list.tsx";
import { Crumbs } from "../parts/crumbs.tsx";
import { FeedHead } from "../parts/feed.tsx";
import { PlaceHeader } from "../parts/place-header.tsx";
import { RefChooser } from "../parts/ref-chooser.tsx";
import { type Page, showPage, showPageByIds } from "../parts/show-page.tsx";
import { visibleName } from "../parts/text.ts";
import { urlParts, feedUrl, pathUrl, withQuery } from "../parts/urls.ts";
import type { PageContext, PagePlace } from "../parts/web-env.ts";

/** Number of commits on a page. */
const PAGE_COMMITS = 50;

/** Maximum length of a search text, in characters. */
const MAX_TEXT = 1_000;

/** Input of the search form; null: empty. */
interface Asked {
  readonly author: string | null;
  readonly text: string | null;
  /** Days, "yyyy-mm-dd", in UTC. The last day is included. */
  readonly since: string | null;
  readonly until: string | null;
  readonly follow: string | null;
}

/** `/{owner}/{repo}/commits/{rev}/{path}`: the commits of a revision, or those that touch a
 * path. */
export async function logPage(context: PageContext): Promise<Response> {
  const parts = urlParts(context);
  const [rev = ""] = parts;
  const produce = () => readPage(context, parts);
  return isHexOid(rev) ? showPageByIds(context, ["log", rev], produce) : showPage(context, await produce());
}

/** Query parameters of the page. */
export const LOG_QUERY = ["path", "author", "text", "since", "until", "follow", "after"];

async function readPage(context: PageContext, parts: readonly string[]): Promise<Page | Response> {
  const place = context.get("place");
  const query = new URL(context.req.url).searchParams;
  const asked = readAsked(query);
  const typedPath = query.get("path");
  if (typedPath !== null) return leadToPath(context, parts, typedPath, asked);
  const cursor = query.get("after");
  const history = await context.get("repository").logPage({
    parts,
    cursor,
    limit: PAGE_COMMITS,
    filter: {
      author: asked.author,
      text: asked.text,
      since: asked.since === null ? null : secondsOf("since", asked.since),
      until: asked.until === null ? null : secondsOf("until", asked.until) + DAY_SECONDS - 1,
      ignoreCase: true,
      firstParent: false,
      follow: asked.follow !== null,
    },
  });
  const { revision, choices, path } = history;
  const name = visibleName(path === "" ? revision.short : path);
  return {
    title: `Commits of ${name} · ${place.owner}/${place.name}`,
    head: (
      <FeedHead
        href={feedUrl(place, path === "" ? revision.name : `${revision.name}/${path}`)}
        title={`Commits of ${name}`}
      />
    ),
    content: (
      <>
        <PlaceHeader place={place} tab="commits" />
        <AmbiguityNote place={place} page="commits" ambiguities={context.get("ambiguities")} />
        <div class="bar">
          <RefChooser revision={revision} choices={choices} target={{ place, page: "commits", path }} />
          {path !== "" && <Crumbs place={place} rev={revision.name} path={path} />}
        </div>
        <h2 class="hush">Commits of {name}</h2>
        <FilterForm place={place} history={history} asked={asked} />
        <Found place={place} history={history} asked={asked} isFirst={cursor === null} />
      </>
    ),
  };
}

/** Redirects from the form's field for the path to the URL with that path. */
async function leadToPath(
  context: PageContext,
  parts: readonly string[],
  typed: string,
  asked: Asked,
): Promise<Response> {
  const filter = { author: null, text: null, since: null, until: null, ignoreCase: false } as const;
  const request = { parts, cursor: null, limit: 1, filter: { ...filter, firstParent: true, follow: false } };
  const { revision, path } = await context.get("repository").logPage(request);
  // A path that is not UTF-8 cannot be typed: it stays while the field shows it unchanged.
  const wanted = typed === visibleName(path) ? path : encodeText(typed.trim().replace(/^\/+|\/+$/g, ""));
  return context.redirect(
    withQuery(pathUrl(context.get("place"), "commits", revision.name, wanted), { ...asked }),
    303,
  );
}

function Found({
  place,
  history: { revision, path, commits, next, lines },
  asked,
  isFirst,
}: {
  place: PagePlace;
  history: HistoryPage;
  asked: Asked;
  isFirst: boolean;
}) {
  const here = pathUrl(place, "commits", revision.name, path);
  const isFiltered = path !== "" || Object.values(asked).some((value) => value !== null);
  return (
    <>
      {commits.length > 0 ? (
        <CommitList place={place} commits={commits} path={path} lines={isFiltered ? null : lines} nowMs={Date.now()} />
      ) : next === null ? (
        <p>{isFirst ? "No commit fits." : "There are no more commits that fit."}</p>
      ) : (
        <p>The history is long: nothing has been found so far.</p>
      )}
      <nav class="row" aria-label="Pages">
        {!isFirst && (
          <a class="button" href={withQuery(here, { ...asked })}>
            Newest
          </a>
        )}
        {next !== null && (
          <a class="button" rel="next" href={withQuery(here, { ...asked, after: next })}>
            {commits.length < PAGE_COMMITS ? "Search older commits" : "Older"}
          </a>
        )}
      </nav>
    </>
  );
}

function FilterForm({
  place,
  history: { revision, path },
  asked: { author, text, since, until, follow },
}: {
  place: PagePlace;
  history: HistoryPage;
  asked: Asked;
}) {
  const isOpen = [author, text, since, until, follow].some((value) => value !== null);
  return (
    <details class="filter" open={isOpen}>
      <summary>Filter</summary>
      <form action={pathUrl(place, "commits", revision.name, path)} role="search" aria-label="Commits">
        <TextField name="text" label="Text in the message" value={text} />
        <TextField name="author" label="Author" value={author} />
        <TextField name="path" label="File or directory" value={visibleName(path)} />
        <div>
          <label for="since">From</label>
          <input id="since" name="since" type="date" value={since ?? ""} />
        </div>
        <div>
          <label for="until">To</label>
          <input id="until" name="until" type="date" value={until ?? ""} />
        </div>
        <div class="row">
          <label>
            <input type="checkbox" name="follow" value="1" checked={follow !== null} /> Follow a file across renames
          </label>
          <button>Filter</button>
        </div>
      </form>
    </details>
  );
}

function TextField({ name, label, value }: { name: string; label: string; value: string | null }) {
  return (
    <div>
      <label for={name}>{label}</label>
      <input id={name} name={name} value={value ?? ""} maxlength={MAX_TEXT} />
    </div>
  );
}

/** @throws GitError "too-large" */
function readAsked(query: URLSearchParams): Asked {
  const read = (name: string): string | null => {
    const value = query.get(name) ?? "";
    checkLimit(`the text in ${name} (characters)`, MAX_TEXT, value.length);
    return value.trim() === "" ? null : value;
  };
  return {
    author: read("author"),
    text: read("text"),
    since: read("since"),
    until: read("until"),
    follow: read("follow") && "1",
  };
}

/** Converts a day to its beginning in UTC, in seconds since 1970.
 * @throws GitError "invalid" */
function secondsOf(field: string, day: string): number {
  const timeMs = /^\d{4}-\d{2}-\d{2}$/.test(day) ? Date.parse(day) : Number.NaN;
  if (Number.isNaN(timeMs))
    throw new GitError("invalid", { what: field, actual: day, reason: "it must be a date such as 2026-11-23" });
  return timeMs / 1_000;
}
