import { encodeText } from "../../../base/format/byte-string.ts";
import { DEFAULT_BRANCH } from "../../../base/format/ref-name.ts";
import { createRepository } from "../../shared/repository-changes.ts";
import { FaultNote, NO_FAULTS, TextField } from "../parts/fields.tsx";
import { invalid, type Refusal, refusalOf } from "../parts/form-faults.ts";
import { readForm } from "../parts/forms.ts";
import { demandMayCreate } from "../parts/may-create.ts";
import {
  checkTypedRepository,
  DetailFields,
  NameFields,
  readTypedRepository,
  REPOSITORY_FIELDS,
  REPOSITORY_LABELS,
  type TypedRepository,
} from "../parts/repository-form.tsx";
import { showPage } from "../parts/show-page.tsx";
import { placeUrl } from "../parts/urls.ts";
import type { MayCreate, PageContext } from "../parts/web-env.ts";

const MAX_FORM_BYTES = 32 * 1024;

/** `/-/new`: a form for an empty repository. */
export async function newRepositoryPage(context: PageContext): Promise<Response> {
  const mayCreate = await demandMayCreate(context);
  if (mayCreate instanceof Response) return mayCreate;
  const asked = new URL(context.req.url).searchParams.get("owner") ?? "";
  const owner = mayCreate === "everywhere" ? asked : mayCreate.owner;
  const typed = { owner, name: "", description: "", visibility: "private", defaultBranch: DEFAULT_BRANCH } as const;
  return showForm(context, mayCreate, typed);
}

/** `POST /-/new`. */
export async function createPage(context: PageContext): Promise<Response> {
  const mayCreate = await demandMayCreate(context);
  if (mayCreate instanceof Response) return mayCreate;
  const typed = readTypedRepository(await readForm(context.req.raw, MAX_FORM_BYTES));
  const faults = checkTypedRepository(typed, true);
  if (Object.keys(faults).length > 0) return showForm(context, mayCreate, typed, invalid(faults));
  const { description, visibility, defaultBranch } = typed;
  const details = { description: description === "" ? null : description, visibility };
  try {
    const { registry } = context.get("host");
    const made = await createRepository(registry, typed, details, encodeText(defaultBranch));
    return context.redirect(placeUrl(made), 303);
  } catch (error) {
    return showForm(context, mayCreate, typed, refusalOf(error, REPOSITORY_FIELDS));
  }
}

function showForm(
  context: PageContext,
  mayCreate: NonNullable<MayCreate>,
  typed: TypedRepository,
  refused: Refusal | null = null,
): Promise<Response> {
  const faults = refused?.faults ?? NO_FAULTS;
  return showPage(context, {
    title: "New repository",
    status: refused?.status ?? 200,
    headers: { "Cache-Control": "no-store" },
    content: (
      <form class="narrow" method="post" action="/-/new">
        <h1>New repository</h1>
        <FaultNote faults={faults} labels={REPOSITORY_LABELS} />
        <NameFields typed={typed} faults={faults} mayCreate={mayCreate} />
        <DetailFields typed={typed} faults={faults} />
        <TextField
          name="defaultBranch"
          label={REPOSITORY_LABELS.defaultBranch}
          faults={faults}
          value={typed.defaultBranch}
          required
        />
        <p>
          <button class="main">Create</button>
        </p>
      </form>
    ),
  });
}
