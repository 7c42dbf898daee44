import { encodeText } from "../../../base/format/byte-string.ts";
import type { Operation } from "../../../contract/commits.ts";
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
  wayBack,
} from "../parts/commit-form.tsx";
import { Crumbs } from "../parts/crumbs.tsx";
import { type Faults, FaultNote, NO_FAULTS, TextField } from "../parts/fields.tsx";
import { invalid } from "../parts/form-faults.ts";
import { readLargeForm } from "../parts/forms.ts";
import { PlaceHeader } from "../parts/place-header.tsx";
import { showPage } from "../parts/show-page.tsx";
import { visibleName } from "../parts/text.ts";
import { urlParts, pathUrl } from "../parts/urls.ts";
import type { PageContext } from "../parts/web-env.ts";

/** Maximum size in bytes of all files of a form: they are in memory twice while it is read. */
const MAX_UPLOAD_BYTES = 16 * 1024 * 1024;

/** Maximum size in bytes of the form, with its other fields and the names of files. */
const MAX_FORM_BYTES = MAX_UPLOAD_BYTES + 512 * 1024;

/** Maximum number of files in a form. */
const MAX_FILES = 200;

const LABELS = { ...COMMIT_LABELS, files: "Files" } as const;

/** `/{owner}/{repo}/upload/{branch}/{directory}`: a form that uploads files. */
export async function uploadPage(context: PageContext): Promise<Response> {
  const page = await readPage(context, null);
  return showForm(context, page, await newTypedCommit(context, page));
}

/** `POST /{owner}/{repo}/upload/{branch}/{directory}`: commits all files at once. A file of the
 * same name is replaced, unless it was changed after the form was shown. */
export async function upload(context: PageContext): Promise<Response> {
  const form = await readLargeForm(context.req.raw, MAX_FORM_BYTES);
  const typed = readTypedCommit(form);
  const page = await readPage(context, typed.base);
  // Browsers send a file without a name and bytes for a field without files.
  const files = form.getAll("files").filter((file) => typeof file !== "string" && file.name !== "") as File[];
  const faults: Faults = { ...findFileFault(files), ...checkTypedCommit(typed) };
  if (Object.keys(faults).length > 0) return showForm(context, page, typed, { ...invalid(faults), conflicts: [] });
  const operations = await Promise.all(files.map((file) => toOperation(file, page.path)));
  const fields = Object.fromEntries(files.map((_, i) => [`operations.${i}.path`, "files"]));
  const outcome = await makeCommit(context, typed, page, subjectFor(files), operations, fields);
  if (typeof outcome !== "string") return showForm(context, page, typed, outcome);
  return context.redirect(pathUrl(context.get("place"), "tree", outcome, page.path), 303);
}

function readPage(context: PageContext, at: string | null): Promise<EditPage> {
  return context.get("repository").editPage({ parts: urlParts(context), at });
}

function findFileFault(files: readonly File[]): Faults {
  if (files.length === 0) return { files: "Choose at least one." };
  if (files.length > MAX_FILES) return { files: `At most ${MAX_FILES} at once: push more than that.` };
  const names = new Set(files.map(({ name }) => name));
  return names.size < files.length ? { files: "Two of them have the same name." } : {};
}

async function toOperation(file: File, directory: string): Promise<Operation> {
  const name = encodeText(file.name);
  const path = directory === "" ? name : `${directory}/${name}`;
  return { op: "put", path, content: new Uint8Array(await file.arrayBuffer()), mode: null };
}

function subjectFor(files: readonly File[]): string {
  return files.length === 1 ? `Upload ${files[0]!.name}` : "Upload files";
}

function showForm(
  context: PageContext,
  page: EditPage,
  typed: TypedCommit,
  refused: RefusedCommit | null = null,
): Promise<Response> {
  const place = context.get("place");
  const faults = refused?.faults ?? NO_FAULTS;
  const { path } = page;
  const again = refused === null ? "" : " Choose the files again: browsers do not keep them.";
  return showPage(context, {
    title: `Upload files · ${place.owner}/${place.name}`,
    status: refused?.status ?? 200,
    headers: { "Cache-Control": "no-store" },
    content: (
      <>
        <PlaceHeader place={place} tab="code" />
        {page.commit !== null && <Crumbs place={place} rev={page.rev} path={path} />}
        <FaultNote faults={faults} labels={LABELS} />
        <form method="post" enctype="multipart/form-data" action={pathUrl(place, "upload", page.rev, path)}>
          <h2>
            Upload files
            {path !== "" && (
              <>
                {" to "}
                <bdi>{visibleName(path)}</bdi>
              </>
            )}
          </h2>
          <TextField
            name="files"
            label={LABELS.files}
            type="file"
            multiple
            required
            faults={faults}
            hint={`At most ${MAX_FILES}, of ${MAX_UPLOAD_BYTES / 1024 / 1024} MiB together. One of the same name is replaced.${again}`}
          />
          <CommitFields typed={typed} page={page} faults={faults} subject="Upload files" />
          <p class="row">
            <button class="main">Upload</button>
            <a class="button" href={wayBack(place, "tree", page)}>
              Discard
            </a>
          </p>
        </form>
      </>
    ),
  });
}
