import { encodeText } from "../../../base/format/byte-string.ts";
import type { HunkLines, ShownConflict } from "../../../base/format/conflict.ts";
import { keepLineEnds, lineEndsOf } from "../parts/line-endings.ts";
import { visibleLine, visibleText, visibleName } from "../parts/text.ts";
import type { Operation } from "../../../contract/commits.ts";
import { type EditPage, MAX_EDITED_BYTES } from "../../../contract/pages.ts";
import {
  checkTypedCommit,
  COMMIT_LABELS,
  CommitFields,
  makeCommit,
  newTypedCommit,
  readTypedCommit,
  readTypedPath,
  type RefusedCommit,
  toTypedPath,
  type TypedCommit,
  wayBack,
} from "../parts/commit-form.tsx";
import { Crumbs } from "../parts/crumbs.tsx";
import { type Faults, FaultNote, NO_FAULTS, TextArea, TextField } from "../parts/fields.tsx";
import { invalid } from "../parts/form-faults.ts";
import { readLargeForm, textOf } from "../parts/forms.ts";
import { PlaceHeader } from "../parts/place-header.tsx";
import { showPage } from "../parts/show-page.tsx";
import { urlParts, pathUrl } from "../parts/urls.ts";
import type { PageContext } from "../parts/web-env.ts";

/** Maximum size in bytes of the form: browsers send two bytes for a line end. */
const MAX_FORM_BYTES = 4 * MAX_EDITED_BYTES;

const LABELS = { ...COMMIT_LABELS, path: "Path", content: "Content" } as const;

/** Fields of the form, by the names in the commit's failures. The content is the last operation,
 * after a move. */
const FIELDS = {
  "operations.0.path": "path",
  "operations.0.from": "path",
  "operations.0.to": "path",
  "operations.1.path": "path",
};

const TOO_LARGE = `At most ${MAX_EDITED_BYTES / 1024 / 1024} MiB: push a larger file, or upload it.`;

/** Usual names of line ends. */
const END_NAMES = { "\n": "LF", "\r\n": "CR LF", "\r": "CR" } as const;

type Kind = "edit" | "new";

/** Input of the form. */
interface Typed {
  /** As typed. */
  readonly path: string;
  readonly content: string;
  readonly commit: TypedCommit;
}

/** `/{owner}/{repo}/edit/{branch}/{path}`: a form for the text of a file. */
export async function editPage(context: PageContext): Promise<Response> {
  const page = await readPage(context, null);
  const before = textIn(page);
  if (before === null) return showUneditable(context, page);
  return showForm(context, "edit", page, { ...(await typedFor(context, page)), content: before });
}

/** `/{owner}/{repo}/new/{branch}/{directory}`: a form for a new file. */
export async function newFilePage(context: PageContext): Promise<Response> {
  const page = await readPage(context, null);
  const typed = await typedFor(context, page);
  return showForm(context, "new", page, { ...typed, path: page.path === "" ? "" : `${typed.path}/` });
}

/** `POST /{owner}/{repo}/edit/{branch}/{path}`. */
export function saveFile(context: PageContext): Promise<Response> {
  return save(context, "edit");
}

/** `POST /{owner}/{repo}/new/{branch}/{directory}`. */
export function saveNewFile(context: PageContext): Promise<Response> {
  return save(context, "new");
}

async function save(context: PageContext, kind: Kind): Promise<Response> {
  const form = await readLargeForm(context.req.raw, MAX_FORM_BYTES);
  const typed = { path: textOf(form, "path"), content: textOf(form, "content"), commit: readTypedCommit(form) };
  const page = await readPage(context, typed.commit.base);
  const before = kind === "edit" ? textIn(page) : null;
  if (kind === "edit" && before === null) return showUneditable(context, page);
  const path = readTypedPath(typed.path, page.path);
  const isMoved = kind === "new" || path !== page.path;
  const content = new TextEncoder().encode(keepLineEnds(before, typed.content));
  const faults: Faults = {
    ...(isMoved && (await findPathFault(context, page, path))),
    ...(content.length > MAX_EDITED_BYTES && { content: TOO_LARGE }),
    ...(content.includes(0) && { content: "It has a NUL, which no text has." }),
    ...checkTypedCommit(typed.commit),
  };
  if (Object.keys(faults).length > 0)
    return showForm(context, kind, page, typed, { ...invalid(faults), conflicts: [] });
  const operations: Operation[] = [
    ...(kind === "edit" && isMoved ? [{ op: "move", from: page.path, to: path } as const] : []),
    { op: "put", path, content, mode: null },
  ];
  const subject = subjectFor(kind, path);
  const outcome = await makeCommit(context, typed.commit, page, subject, operations, FIELDS);
  if (typeof outcome !== "string") return showForm(context, kind, page, typed, outcome);
  return context.redirect(pathUrl(context.get("place"), "blob", outcome, path), 303);
}

function readPage(context: PageContext, at: string | null): Promise<EditPage> {
  return context.get("repository").editPage({ parts: urlParts(context), at });
}

async function typedFor(context: PageContext, page: EditPage): Promise<Typed> {
  return { path: toTypedPath(page.path), content: "", commit: await newTypedCommit(context, page) };
}

/** Returns the text of the file; null: it cannot be edited here. */
function textIn({ found }: EditPage): string | null {
  if (found.kind !== "file" || found.text === null) return null;
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(found.text);
}

/** Says why a path for a new file is invalid or taken. */
async function findPathFault(context: PageContext, { rev, commit }: EditPage, path: string): Promise<Faults> {
  if (path === "" || path.endsWith("/")) return { path: "Write the name of a file, after its directory if any." };
  const parts = [...rev.split("/"), ...path.split("/")];
  const { found } = await context.get("repository").editPage({ parts, at: commit });
  return found.kind === "nothing" ? {} : { path: "There is something of this name already." };
}

/** @param path byte string */
function subjectFor(kind: Kind, path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return name === "" ? "Add a file" : `${kind === "new" ? "Add" : "Change"} ${visibleName(name)}`;
}

async function showForm(
  context: PageContext,
  kind: Kind,
  page: EditPage,
  typed: Typed,
  refused: RefusedCommit | null = null,
): Promise<Response> {
  const place = context.get("place");
  const conflicts = refused?.conflicts ?? [];
  // The branch's current version, at which the next attempt begins.
  const theirs = conflicts.length === 0 ? null : await readPage(context, null);
  const commit = theirs === null ? typed.commit : { ...typed.commit, seen: theirs.commit };
  const faults = refused?.faults ?? NO_FAULTS;
  const subject = subjectFor(kind, encodeText(typed.path));
  const heading = kind === "new" ? "New file" : "Edit the file";
  return showPage(context, {
    title: `${heading} · ${place.owner}/${place.name}`,
    status: refused?.status ?? 200,
    headers: { "Cache-Control": "no-store" },
    content: (
      <>
        <PlaceHeader place={place} tab="code" />
        {page.commit !== null && <Crumbs place={place} rev={page.rev} path={page.path} />}
        {theirs === null ? (
          <FaultNote faults={faults} labels={LABELS} />
        ) : (
          <ConflictNote conflicts={conflicts} branch={visibleName(page.branch)} />
        )}
        <form method="post" enctype="multipart/form-data" action={pathUrl(place, kind, page.rev, page.path)}>
          <h2>{heading}</h2>
          <TextField name="path" label={LABELS.path} faults={faults} value={typed.path} required />
          {theirs !== null && <Theirs page={theirs} />}
          <TextArea
            name="content"
            label={theirs === null ? LABELS.content : "What you typed"}
            faults={faults}
            text={typed.content}
            rows={24}
            class="source"
            spellcheck={false}
            hint={tellEnds(kind, page)}
          />
          <CommitFields typed={commit} page={page} faults={faults} subject={subject} />
          <p class="row">
            <button class="main">Commit</button>
            <a class="button" href={wayBack(place, kind === "new" ? "tree" : "blob", page)}>
              Discard
            </a>
          </p>
        </form>
      </>
    ),
  });
}

/** The branch's current version of the file, to copy from. */
function Theirs({ page }: { page: EditPage }) {
  const text = textIn(page);
  if (text === null)
    return <p class="note">{`${visibleName(page.branch)} has no text at ${visibleName(page.path)} now.`}</p>;
  return (
    <div class="field">
      <label for="theirs">
        What <bdi>{visibleName(page.branch)}</bdi> has now
      </label>
      {/* Without a name, so that the browser does not send it. */}
      <textarea id="theirs" rows={12} class="source" readonly>{`\n${text}`}</textarea>
    </div>
  );
}

/** Describes the effect on line ends, which a form does not show. */
function tellEnds(kind: Kind, page: EditPage): string {
  const before = kind === "new" ? null : textIn(page);
  if (before === null || before === "") return "UTF-8. Lines end in LF, the last one, too.";
  const names = lineEndsOf(before).map((end) => END_NAMES[end]);
  const last = /[\r\n]$/.test(before) ? "The file ends with one, and keeps it." : "The last line has none.";
  if (names.length === 0) return `UTF-8. One line, without an end.`;
  if (names.length === 1) return `UTF-8. Lines keep their ends: ${names[0]}. ${last}`;
  return `UTF-8. Lines keep their ends: ${names.join(" and ")}; those that you add get ${names[0]}. ${last}`;
}

/** Explains why a file cannot be edited here. */
async function showUneditable(context: PageContext, { rev, path, found }: EditPage): Promise<Response> {
  const place = context.get("place");
  const fault = found.kind === "file" ? found.fault : null;
  const reason =
    found.kind !== "file"
      ? "There is no file here that could be edited."
      : fault === "too large"
        ? TOO_LARGE
        : fault === "binary"
          ? "It is a binary file. You can upload another version of it."
          : "It is not UTF-8, and what a form sends always is. You can upload another version of it.";
  return showPage(context, {
    title: `Not a text · ${place.owner}/${place.name}`,
    status: found.kind === "file" ? 200 : 404,
    content: (
      <>
        <PlaceHeader place={place} tab="code" />
        <Crumbs place={place} rev={rev} path={path} />
        <p class="told">{reason}</p>
      </>
    ),
  });
}

/** Shows others' changes beside the conflicting lines of the form.
 * @param branch text, as it is shown */
function ConflictNote({ conflicts, branch }: { conflicts: readonly ShownConflict[]; branch: string }) {
  return (
    <section aria-labelledby="conflict">
      <h2 id="conflict">Somebody changed the same</h2>
      <p>
        Since you began, <bdi>{branch}</bdi> has got changes that do not fit with yours. What you typed is all below.
        Take over what you want to keep, and commit again: then your text replaces what is there. Or commit to a new
        branch, where nothing is in the way, and merge it later.
      </p>
      {conflicts.map(({ path, kind, hunks, truncated }) => (
        <table class="box sides">
          <caption>
            <bdi>{visibleLine(path)}</bdi> <span class="muted">{kind}</span>
          </caption>
          <thead>
            <tr>
              <th scope="col">
                There now, on <bdi>{branch}</bdi>
              </th>
              <th scope="col">What you typed</th>
            </tr>
          </thead>
          <tbody>
            {hunks.map(({ ours, theirs }) => (
              <tr>
                <Side lines={ours} />
                <Side lines={theirs} />
              </tr>
            ))}
            {(truncated || hunks.length === 0) && (
              <tr>
                <td colspan={2} class="muted">
                  {hunks.length === 0 ? "There are no lines to show side by side." : "There is more."}
                </td>
              </tr>
            )}
          </tbody>
        </table>
      ))}
    </section>
  );
}

function Side({ lines: { start, count, text } }: { lines: HunkLines }) {
  return (
    <td>
      <span class="muted">{count === 0 ? `Nothing, before line ${start}` : `From line ${start}`}</span>
      <pre>{visibleText(text)}</pre>
    </td>
  );
}
