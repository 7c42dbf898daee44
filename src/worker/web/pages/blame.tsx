import { raw } from "hono/html";
import { GitError, isGitError } from "../../../base/format/errors.ts";
import type { PathPage, ShownFile } from "../../../contract/pages.ts";
import { AmbiguityNote } from "../parts/ambiguity-note.tsx";
import { blameRows } from "../parts/blame-rows.ts";
import { codeLanguageOf } from "../parts/code-languages.ts";
import { countLines } from "../parts/code.tsx";
import { Crumbs } from "../parts/crumbs.tsx";
import { describeFile, MAX_LINES } from "../parts/file-box.tsx";
import { Highlighter } from "../parts/highlight.ts";
import { toHtml, visibleName, visibleText } from "../parts/text.ts";
import { PlaceHeader } from "../parts/place-header.tsx";
import { RefChooser } from "../parts/ref-chooser.tsx";
import { type Page, showPage } from "../parts/show-page.tsx";
import { urlParts, commitUrl, pathUrl } from "../parts/urls.ts";
import type { PageContext } from "../parts/web-env.ts";

const UTF_8 = new TextDecoder();

/** `/{owner}/{repo}/blame/{rev}/{path}`: the commit that each line of a file comes from. With
 * `before`, the file before the revision. The page has no entity tag: blame that ran out of time
 * may get further the next time. */
export async function blamePage(context: PageContext): Promise<Response> {
  const isBefore = new URL(context.req.url).searchParams.has("before");
  return showPage(context, await readPage(context, isBefore));
}

async function readPage(context: PageContext, isBefore: boolean): Promise<Page | Response> {
  const [place, repository] = [context.get("place"), context.get("repository")];
  const page = await repository.pathPage({ parts: urlParts(context), content: true, after: null });
  const { revision, path, shown } = page;
  if (shown.kind !== "file") throw new GitError("not-found", { what: "path" });
  const before = isBefore ? await repository.fileBefore({ commit: revision.commit, path }) : null;
  if (before !== null) return context.redirect(pathUrl(place, "blame", before.commit, before.path), 302);
  return {
    title: `Blame of ${visibleName(path)} · ${place.owner}/${place.name}`,
    isUnlisted: true,
    content: writePage(context, page, shown, isBefore),
  };
}

/** Sends the known parts of the page at once, and the rows when blame has them. */
async function* writePage(context: PageContext, page: PathPage, file: ShownFile, isFirst: boolean) {
  const { revision, path } = page;
  const code = file.content === null ? null : visibleText(UTF_8.decode(file.content));
  const lineCount = code === null ? 0 : countLines(code);
  yield toHtml(<Head context={context} page={page} isFirst={isFirst} />);
  const open = `<section class="box" aria-labelledby="file"><h2 id="file" class="hush">Lines</h2>`;
  yield open + toHtml(<FileHead context={context} page={page} file={file} lineCount={lineCount} />);
  if (code === null || lineCount > MAX_LINES) {
    yield toHtml(<p class="told">{file.isBinary ? "A binary file has no lines." : "Too large to be shown here."}</p>);
  } else if (lineCount === 0) {
    yield toHtml(<p class="told">The file is empty.</p>);
  } else {
    yield* writeBlame(context, revision.commit, path, code);
  }
  yield `</section>`;
}

async function* writeBlame(context: PageContext, commit: string, path: string, code: string) {
  const place = context.get("place");
  try {
    const blame = await context.get("repository").blame({ commit, path, lines: null });
    if (blame.truncated)
      yield toHtml(
        <p class="told short">
          Not every line's commit was found in time. <a href={pathUrl(place, "blame", commit, path)}>Try again</a>
        </p>,
      );
    yield `<div class="code" data-with="lines" tabindex="0" role="region" aria-label="Lines and their commits">
<table class="blame"><caption class="hush">Lines and their commits</caption>
<thead class="hush"><tr><th scope="col">Commit</th><td></td><th scope="col">Lines</th></tr></thead><tbody>`;
    const highlighter = new Highlighter(codeLanguageOf(path));
    // Safe: names, messages and lines are escaped where the rows are written.
    yield* blameRows({ place, lines: code.split("\n"), highlighter, blame, nowMs: Date.now() });
    yield `</tbody></table></div>`;
  } catch (error) {
    if (!isGitError(error)) throw error;
    yield toHtml(<p class="told">{error.message}</p>);
  }
}

/** Breadcrumbs and headings above the file. */
function Head({ context, page, isFirst }: { context: PageContext; page: PathPage; isFirst: boolean }) {
  const place = context.get("place");
  const { revision, choices, path } = page;
  return (
    <>
      <PlaceHeader place={place} tab="code" />
      <AmbiguityNote place={place} page="blame" path={path} ambiguities={context.get("ambiguities")} />
      {isFirst && (
        <p class="note">
          There is nothing before: the file came with <a href={commitUrl(place, revision.commit)}>this commit</a>.
        </p>
      )}
      <div class="bar">
        <RefChooser revision={revision} choices={choices} target={{ place, page: "blame", path }} />
        <Crumbs place={place} rev={revision.name} path={path} />
      </div>
    </>
  );
}

function FileHead({
  context,
  page: { revision, path },
  file,
  lineCount,
}: {
  context: PageContext;
  page: PathPage;
  file: ShownFile;
  lineCount: number;
}) {
  const place = context.get("place");
  return (
    <div class="head">
      <span>{describeFile(file, file.content === null ? null : lineCount, true)}</span>
      <span class="muted row" aria-hidden="true">
        newest
        {raw(
          `<span class="ages">${[0, 1, 2, 3, 4, 5].map((age) => `<span class="age-${age}"></span>`).join("")}</span>`,
        )}
        oldest
      </span>
      <span class="push row">
        <a href={pathUrl(place, "blob", revision.name, path)}>File</a>
        <a href={pathUrl(place, "raw", revision.name, path)}>Raw</a>
        {revision.name !== revision.commit && (
          <a href={pathUrl(place, "blame", revision.commit, path)} data-with="permalink">
            Permalink
          </a>
        )}
      </span>
    </div>
  );
}
