import type { Child } from "hono/jsx";
import { isHexOid } from "../../../base/format/oid.ts";
import type { PathPage, ShownDirectory, ShownSubmodule } from "../../../contract/pages.ts";
import { AmbiguityNote } from "../parts/ambiguity-note.tsx";
import { CommitLine } from "../parts/commit-line.tsx";
import { Crumbs } from "../parts/crumbs.tsx";
import { FileList } from "../parts/file-list.tsx";
import { FileBox, isImage } from "../parts/file-box.tsx";
import { submoduleUrl } from "../parts/submodule-url.ts";
import { urlParts, pathUrl } from "../parts/urls.ts";
import { FindLink, PathActions } from "../parts/path-actions.tsx";
import { PlaceHeader } from "../parts/place-header.tsx";
import { ReadmeBox } from "../parts/readme.tsx";
import { RefChooser } from "../parts/ref-chooser.tsx";
import { type Page, showPage, showPageByIds } from "../parts/show-page.tsx";
import { visibleName } from "../parts/text.ts";
import type { PageContext, PagePlace } from "../parts/web-env.ts";

type PathPageKind = "tree" | "blob";

/** `/{owner}/{repo}/tree/{rev}/{path}`: a directory. */
export function treePage(context: PageContext): Promise<Response> {
  return pathPage(context, "tree");
}

/** `/{owner}/{repo}/blob/{rev}/{path}`: a file. */
export function blobPage(context: PageContext): Promise<Response> {
  return pathPage(context, "blob");
}

async function pathPage(context: PageContext, page: PathPageKind): Promise<Response> {
  const parts = urlParts(context);
  const [rev = ""] = parts;
  const produce = () => readPage(context, page, parts);
  // A page for a full commit id never changes: a browser that has it is told so before anything is
  // read.
  return isHexOid(rev) ? showPageByIds(context, [page, rev], produce) : showPage(context, await produce());
}

/** @returns a redirection when the path has the other kind */
async function readPage(context: PageContext, kind: PathPageKind, parts: readonly string[]): Promise<Page | Response> {
  const place = context.get("place");
  const { origin, searchParams: query } = new URL(context.req.url);
  const isPlain = query.has("plain");
  const wanted = kind === "blob" && (isPlain || !isImage(parts.at(-1) ?? ""));
  const page = await context.get("repository").pathPage({ parts, content: wanted, after: query.get("after") });
  const { revision, path, shown } = page;
  const actual = shown.kind === "file" ? "blob" : "tree";
  if (actual !== kind) return context.redirect(pathUrl(place, actual, revision.name, path), 302);
  const name = visibleName(path === "" ? revision.short : path);
  const content =
    shown.kind === "file" ? (
      <FileBox file={shown} isPlain={isPlain} place={place} revision={revision} path={path}>
        <LastCommit place={place} page={page} />
      </FileBox>
    ) : shown.kind === "directory" ? (
      <DirectoryBox place={place} page={page} shown={shown} origin={origin} />
    ) : (
      <SubmoduleBox place={place} shown={shown} origin={origin} />
    );
  return {
    title: `${name} · ${place.owner}/${place.name}`,
    content: (
      <PathFrame context={context} kind={kind} page={page}>
        {content}
      </PathFrame>
    ),
  };
}

/** Breadcrumbs and headings above a directory or file. */
function PathFrame({
  context,
  kind,
  page: { revision, choices, path, shown },
  children,
}: {
  context: PageContext;
  kind: PathPageKind;
  page: PathPage;
  children: Child;
}) {
  const place = context.get("place");
  return (
    <>
      <PlaceHeader place={place} tab="code" />
      <AmbiguityNote place={place} page={kind} path={path} ambiguities={context.get("ambiguities")} />
      <div class="bar">
        <RefChooser revision={revision} choices={choices} target={{ place, page: kind, path }} />
        <Crumbs place={place} rev={revision.name} path={path} />
        <FindLink place={place} rev={revision.name} />
        <PathActions place={place} revision={revision} path={path} shown={shown} />
      </div>
      {children}
    </>
  );
}

function DirectoryBox({
  place,
  page,
  shown,
  origin,
}: {
  place: PagePlace;
  page: PathPage;
  shown: ShownDirectory;
  origin: string;
}) {
  const { revision, path } = page;
  const { readme } = shown;
  return (
    <>
      <section class="box" aria-labelledby="files">
        <h2 id="files" class="hush">
          Files
        </h2>
        <LastCommit place={place} page={page} />
        <FileList place={place} rev={revision.name} path={path} shown={shown} origin={origin} nowMs={Date.now()} />
      </section>
      {readme !== null && <ReadmeBox readme={readme} where={{ place, rev: revision.name, directory: path }} />}
    </>
  );
}

function SubmoduleBox({ place, shown, origin }: { place: PagePlace; shown: ShownSubmodule; origin: string }) {
  const { oid, url } = shown;
  const href = url === null ? null : submoduleUrl(place, url, oid, origin);
  const commit = <code>{oid}</code>;
  return (
    <p class="told">
      A submodule: commit{" "}
      {href === null ? (
        commit
      ) : (
        <a href={href} rel="noopener">
          {commit}
        </a>
      )}{" "}
      of {url === null ? "another repository" : <code>{visibleName(url)}</code>}.
    </p>
  );
}

function LastCommit({ place, page: { lastCommit } }: { place: PagePlace; page: PathPage }) {
  if (lastCommit === null) return null;
  return (
    <div class="head">
      <CommitLine place={place} commit={lastCommit} nowMs={Date.now()} />
    </div>
  );
}
