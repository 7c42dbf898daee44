import { encodeText, fromByteString, toByteString } from "../../../base/format/byte-string.ts";
import { isGitError } from "../../../base/format/errors.ts";
import { isHexOid } from "../../../base/format/oid.ts";
import { isUtf8, percentDecode } from "../../../base/format/path-parts.ts";
import type { GrepMatch, GrepPlace, GrepResult } from "../../files/grep.ts";
import { LinePattern } from "../../files/line-pattern.ts";
import { searchFiles } from "../../files/search-files.ts";
import { Choice, type Faults, FaultNote, NO_FAULTS, TextField } from "../parts/fields.tsx";
import { type Refusal, refusalOf } from "../parts/form-faults.ts";
import { PlaceHeader } from "../parts/place-header.tsx";
import { showPage } from "../parts/show-page.tsx";
import { visibleLine, visibleName } from "../parts/text.ts";
import { pathUrl, placeUrl } from "../parts/urls.ts";
import type { PageContext, PagePlace } from "../parts/web-env.ts";

/** Maximum length of a pattern, and of a revision and a path, in characters. */
const MAX_PATTERN = 1_000;
const MAX_NAME = 1_000;

/** Maximum number of matches on a page, and of matches marked in a line. */
const PAGE_MATCHES = 50;
const MARKED = 50;

const LABELS = { q: "Search for", rev: "Branch, tag or commit", path: "Only in" } as const;

/** Input of the search form. */
interface Query {
  readonly q: string;
  /** "": HEAD. */
  readonly rev: string;
  /** A directory, a file or a glob; "": all files. */
  readonly path: string;
  readonly regex: boolean;
  readonly case: boolean;
  readonly word: boolean;
}

/** Result of a search, with the revision as URLs name it. */
type Found = GrepResult & { readonly commit: string; readonly rev: string };

/** Query parameters of the page: the search, and the cursor of a further page. */
export const SEARCH_QUERY = ["q", "rev", "path", "regex", "case", "word", "at", "after", "line"];

/** `/{owner}/{repo}/search`: finds lines of files by content. */
export async function searchPage(context: PageContext): Promise<Response> {
  const { search: sent, searchParams: params } = new URL(context.req.url);
  const text = (name: string, most: number): string => (params.get(name) ?? "").slice(0, most);
  const query: Query = {
    q: text("q", MAX_PATTERN),
    rev: text("rev", MAX_NAME).trim(),
    path: text("path", MAX_NAME).trim(),
    regex: params.has("regex"),
    case: params.has("case"),
    word: params.has("word"),
  };
  if (query.q === "") return show(context, query, null, null);
  // Invalid UTF-8 has lost the intended text, and would match nothing.
  if (!isUtf8(percentDecode(sent)))
    return show(context, query, null, { faults: { q: "The address of this search is not in UTF-8." }, status: 422 });
  try {
    const pattern = patternOf(query);
    return await show(context, query, { found: await search(context, query, pattern, params), pattern }, null);
  } catch (error) {
    const isEmpty = query.rev === "" && isGitError(error, "not-found");
    if (isEmpty) return show(context, query, null, { faults: { q: "There is no commit to search in." }, status: 404 });
    return show(context, query, null, refusalOf(error, { pattern: "q", path: "path" }));
  }
}

function patternOf({ q, regex, case: isExact, word }: Query): LinePattern {
  return new LinePattern({ pattern: q, fixed: !regex, ignoreCase: !isExact, word });
}

async function search(
  context: PageContext,
  { rev, path }: Query,
  pattern: LinePattern,
  params: URLSearchParams,
): Promise<Found> {
  const at = params.get("at") ?? "";
  const from = isHexOid(at) ? readPlace(params) : null;
  const repository = context.get("repository");
  const name = encodeText(rev);
  const searched = searchFiles((request) => repository.planFiles(request), context.get("host").reading, {
    ref: from === null ? name || "HEAD" : at,
    pattern,
    globs: path === "" ? [] : [encodeText(path.replace(/^\/+|\/+$/g, ""))],
    from,
    context: 0,
    limit: PAGE_MATCHES,
  });
  const [found, stable] = await Promise.all([searched, name === "" ? null : repository.stableName({ name })]);
  return { ...found, rev: stable ?? found.commit };
}

/** Reads the cursor of the page; null: the first page. */
function readPlace(params: URLSearchParams): GrepPlace | null {
  const line = Number(params.get("line"));
  try {
    const after = toByteString(Uint8Array.fromBase64(params.get("after") ?? "", { alphabet: "base64url" }));
    return Number.isSafeInteger(line) && line >= 0 ? { after, line } : null;
  } catch {
    return null;
  }
}

/** Makes the URL of the next page, which searches the same commit. */
function nextUrl(place: PagePlace, query: Query, commit: string, { after, line }: GrepPlace): string {
  const { regex, case: isExact, word, ...texts } = query;
  const params = new URLSearchParams({
    ...texts,
    ...(regex && { regex: "1" }),
    ...(isExact && { case: "1" }),
    ...(word && { word: "1" }),
    at: commit,
    after: fromByteString(after).toBase64({ alphabet: "base64url", omitPadding: true }),
    line: String(line),
  });
  return `${placeUrl(place, "search")}?${params.toString()}`;
}

function show(
  context: PageContext,
  query: Query,
  outcome: { readonly found: Found; readonly pattern: LinePattern } | null,
  refused: Refusal | null,
): Promise<Response> {
  const place = context.get("place");
  return showPage(context, {
    title: `${query.q === "" ? "Search" : visibleLine(query.q)} · ${place.owner}/${place.name}`,
    status: refused?.status ?? 200,
    content: (
      <>
        <PlaceHeader place={place} tab="search" />
        <h2 class="hush">Search</h2>
        <SearchForm place={place} query={query} faults={refused?.faults ?? NO_FAULTS} />
        {outcome !== null && <Results place={place} query={query} {...outcome} />}
      </>
    ),
  });
}

function SearchForm({ place, query, faults }: { place: PagePlace; query: Query; faults: Faults }) {
  return (
    <form class="narrow" role="search" action={placeUrl(place, "search")}>
      <FaultNote faults={faults} labels={LABELS} />
      <TextField
        name="q"
        label={LABELS.q}
        faults={faults}
        type="search"
        value={query.q}
        maxlength={MAX_PATTERN}
        spellcheck={false}
        autofocus={query.q === ""}
        data-with="key"
        data-key="/"
      />
      <div class="columns">
        <TextField
          name="rev"
          label={LABELS.rev}
          faults={faults}
          value={query.rev}
          placeholder="HEAD"
          spellcheck={false}
        />
        <TextField
          name="path"
          label={LABELS.path}
          faults={faults}
          value={query.path}
          placeholder="src/**/*.ts"
          spellcheck={false}
        />
      </div>
      <div class="row">
        <Choice type="checkbox" name="regex" value="1" isChosen={query.regex}>
          Regular expression
        </Choice>
        <Choice type="checkbox" name="case" value="1" isChosen={query.case}>
          Match case
        </Choice>
        <Choice type="checkbox" name="word" value="1" isChosen={query.word}>
          Whole words
        </Choice>
        <button class="main">Search</button>
      </div>
    </form>
  );
}

function Results({
  place,
  query,
  found: { commit, rev, matches, next, searched, skipped },
  pattern,
}: {
  place: PagePlace;
  query: Query;
  found: Found;
  pattern: LinePattern;
}) {
  const files = Map.groupBy(matches, ({ path }) => path);
  const lines = `${matches.length.toLocaleString("en")} ${matches.length === 1 ? "line" : "lines"}`;
  return (
    <>
      <p role="status" class="muted">
        {lines} in {searched.files.toLocaleString("en")} files searched
        {next !== null && ", and there are more to search"}.
      </p>
      {[...files].map(([path, inFile]) => (
        <section class="box">
          <div class="head">
            <h3>
              <a href={pathUrl(place, "blob", rev, path)}>
                <bdi>{visibleName(path)}</bdi>
              </a>
            </h3>
          </div>
          <ol class="hits">
            {inFile.map((match) => (
              <li>
                <a href={`${pathUrl(place, "blob", rev, path)}#L${match.line}`} aria-label={`Line ${match.line}`}>
                  {match.line}
                </a>
                <code>
                  <Marked match={match} pattern={pattern} />
                </code>
              </li>
            ))}
          </ol>
        </section>
      ))}
      {skipped.length > 0 && <p class="note">Too large to search: {skipped.map(visibleName).join(", ")}</p>}
      {next !== null && (
        <p>
          <a class="button" href={nextUrl(place, query, commit, next)}>
            Search on
          </a>
        </p>
      )}
    </>
  );
}

/** A line, with its matches marked. */
function Marked({ match: { text }, pattern }: { match: GrepMatch; pattern: LinePattern }) {
  let done = 0;
  const parts = pattern.ranges(text, MARKED).map(({ start, end }) => {
    const before = text.slice(done, start);
    done = end;
    return (
      <>
        {visibleLine(before)}
        <mark>{visibleLine(text.slice(start, end))}</mark>
      </>
    );
  });
  return (
    <>
      {parts}
      {visibleLine(text.slice(done))}
    </>
  );
}
