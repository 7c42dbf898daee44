import type { EditPage } from "../../../contract/pages.ts";
import {
  checkTypedCommit,
  COMMIT_LABELS,
  CommitFields,
  makeCommit,
  newTypedCommit,
  readTypedCommit,
  type RefusedCommit,
  type TypedCommit,
} from "../parts/commit-form.tsx";
import { Crumbs } from "../parts/crumbs.tsx";
import { showMissing } from "../parts/error-page.tsx";
import { FaultNote, NO_FAULTS } from "../parts/fields.tsx";
import { invalid } from "../parts/form-faults.ts";
import { readLargeForm } from "../parts/forms.ts";
import { PlaceHeader } from "../parts/place-header.tsx";
import { showPage } from "../parts/show-page.tsx";
import { visibleName } from "../parts/text.ts";
import { urlParts, pathUrl } from "../parts/urls.ts";
import type { PageContext } from "../parts/web-env.ts";

const MAX_FORM_BYTES = 512 * 1024;

/** `/{owner}/{repo}/delete/{branch}/{path}`: a form that deletes a file or a directory. */
export async function deletePage(context: PageContext): Promise<Response> {
  const page = await readPage(context, null);
  if (isMissing(page)) return showMissing(context);
  return showForm(context, page, await newTypedCommit(context, page));
}

/** `POST /{owner}/{repo}/delete/{branch}/{path}`. Changes made there after the form was shown are
 * not deleted. */
export async function deletePath(context: PageContext): Promise<Response> {
  const typed = readTypedCommit(await readLargeForm(context.req.raw, MAX_FORM_BYTES));
  const page = await readPage(context, typed.base);
  if (isMissing(page)) return showMissing(context);
  const { path } = page;
  const faults = checkTypedCommit(typed);
  if (Object.keys(faults).length > 0) return showForm(context, page, typed, { ...invalid(faults), conflicts: [] });
  const outcome = await makeCommit(context, typed, page, subjectFor(page), [{ op: "delete", path }], {});
  if (typeof outcome !== "string") return showForm(context, page, typed, outcome);
  return context.redirect(pathUrl(context.get("place"), "tree", outcome, ""), 303);
}

function readPage(context: PageContext, at: string | null): Promise<EditPage> {
  return context.get("repository").editPage({ parts: urlParts(context), at });
}

function isMissing({ path, found }: EditPage): boolean {
  return path === "" || found.kind === "nothing";
}

function subjectFor({ path }: EditPage): string {
  return `Delete ${visibleName(path.slice(path.lastIndexOf("/") + 1))}`;
}

function showForm(
  context: PageContext,
  page: EditPage,
  typed: TypedCommit,
  refused: RefusedCommit | null = null,
): Promise<Response> {
  const place = context.get("place");
  const faults = refused?.faults ?? NO_FAULTS;
  const { path, found } = page;
  return showPage(context, {
    title: `Delete · ${place.owner}/${place.name}`,
    status: refused?.status ?? 200,
    headers: { "Cache-Control": "no-store" },
    content: (
      <>
        <PlaceHeader place={place} tab="code" />
        <Crumbs place={place} rev={page.rev} path={path} />
        <FaultNote faults={faults} labels={COMMIT_LABELS} />
        <form method="post" enctype="multipart/form-data" action={pathUrl(place, "delete", page.rev, path)}>
          <h2>
            Delete <bdi>{visibleName(path)}</bdi>
            {found.kind === "directory" && " and everything in it"}
          </h2>
          <p>Earlier commits keep it.</p>
          <CommitFields typed={typed} page={page} faults={faults} subject={subjectFor(page)} />
          <p class="row">
            <button class="main">Delete</button>
            <a class="button" href={pathUrl(place, found.kind === "directory" ? "tree" : "blob", page.rev, path)}>
              Keep it
            </a>
          </p>
        </form>
      </>
    ),
  });
}
