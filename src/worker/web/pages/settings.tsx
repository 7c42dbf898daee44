import { decodeText } from "../../../base/format/byte-string.ts";
import { changeRepository, readEntry } from "../../shared/repository-changes.ts";
import type { RepositoryChange, RepositoryEntry } from "../../../contract/registry.ts";
import { FaultNote, NO_FAULTS, TextField } from "../parts/fields.tsx";
import { invalid, type Refusal, refusalOf } from "../parts/form-faults.ts";
import { readForm, textOf } from "../parts/forms.ts";
import {
  checkTypedRepository,
  DetailFields,
  NameFields,
  readTypedRepository,
  REPOSITORY_FIELDS,
  REPOSITORY_LABELS,
  type TypedRepository,
} from "../parts/repository-form.tsx";
import { settingsUrl, showSettings } from "../parts/settings-frame.tsx";
import { placeUrl } from "../parts/urls.ts";
import type { PageContext } from "../parts/web-env.ts";

const MAX_FORM_BYTES = 32 * 1024;

/** `/{owner}/{repo}/settings`: a repository's name, description and visibility. */
export async function settingsPage(context: PageContext): Promise<Response> {
  const entry = await findEntry(context);
  return showForm(context, entry, toTyped(entry));
}

/** `POST /{owner}/{repo}/settings`. */
export async function saveSettings(context: PageContext): Promise<Response> {
  const typed = readTypedRepository(await readForm(context.req.raw, MAX_FORM_BYTES));
  const entry = await findEntry(context);
  const faults = checkTypedRepository(typed, entry.defaultBranch !== null);
  if (Object.keys(faults).length > 0) return showForm(context, entry, typed, invalid(faults));
  try {
    const change = changeFrom(entry, typed);
    const changed = await changeRepository(context.get("host"), context.get("repository"), entry, change);
    return context.redirect(placeUrl(changed, "settings"), 303);
  } catch (error) {
    return showForm(context, entry, typed, refusalOf(error, REPOSITORY_FIELDS));
  }
}

/** `/{owner}/{repo}/settings/delete`. */
export function deleteRepositoryPage(context: PageContext): Promise<Response> {
  return showDeletion(context, null);
}

/** `POST /{owner}/{repo}/settings/delete`: deletes the repository only if its name was typed. */
export async function deleteRepository(context: PageContext): Promise<Response> {
  const form = await readForm(context.req.raw, MAX_FORM_BYTES);
  const { owner, name } = context.get("place");
  if (textOf(form, "confirmation").trim() !== `${owner}/${name}`)
    return showDeletion(context, invalid({ confirmation: `Write ${owner}/${name}.` }));
  await context.get("host").registry.delete({ owner, name });
  return context.redirect("/", 303);
}

function findEntry(context: PageContext): Promise<RepositoryEntry> {
  const { owner, name } = context.get("place");
  return readEntry(context.get("host").registry, owner, name);
}

function toTyped({ owner, name, description, visibility, defaultBranch }: RepositoryEntry): TypedRepository {
  const branch = defaultBranch === null ? "" : decodeText(defaultBranch);
  return { owner, name, description: description ?? "", visibility, defaultBranch: branch };
}

/** Keeps only the fields that differ from the entry, since each change needs rights of its own. */
function changeFrom(entry: RepositoryEntry, typed: TypedRepository): RepositoryChange & { defaultBranch?: string } {
  const { owner, name, description, visibility, defaultBranch } = typed;
  const before = toTyped(entry);
  return {
    ...(owner !== before.owner && { owner }),
    ...(name !== before.name && { name }),
    ...(description !== before.description && { description: description === "" ? null : description }),
    ...(visibility !== before.visibility && { visibility }),
    ...(defaultBranch !== before.defaultBranch && { defaultBranch }),
  };
}

async function showForm(
  context: PageContext,
  entry: RepositoryEntry,
  typed: TypedRepository,
  refused: Refusal | null = null,
): Promise<Response> {
  const faults = refused?.faults ?? NO_FAULTS;
  const mayCreate = await context.get("host").mayCreate();
  return showSettings(context, "general", {
    status: refused?.status ?? 200,
    children: (
      <form class="narrow" method="post" action={settingsUrl(context, "general")}>
        <FaultNote faults={faults} labels={REPOSITORY_LABELS} />
        <NameFields typed={typed} faults={faults} mayCreate={mayCreate} isFixed={mayCreate === null} />
        <p class="hint">
          {mayCreate === null
            ? "A new name needs a token for everything of the owner."
            : "A former name keeps leading here until another repository takes it."}
        </p>
        <DetailFields typed={typed} faults={faults} />
        {entry.defaultBranch !== null && (
          <TextField
            name="defaultBranch"
            label={REPOSITORY_LABELS.defaultBranch}
            faults={faults}
            value={typed.defaultBranch}
            required
          />
        )}
        <p>
          <button class="main">Save</button>
        </p>
      </form>
    ),
  });
}

function showDeletion(context: PageContext, refused: Refusal | null): Promise<Response> {
  const { owner, name } = context.get("place");
  const faults = refused?.faults ?? NO_FAULTS;
  const label = `To delete it, write ${owner}/${name}`;
  return showSettings(context, "delete", {
    status: refused?.status ?? 200,
    children: (
      <form class="narrow" method="post" action={settingsUrl(context, "delete")}>
        <p>The repository, its tokens and everything in it go at once. Nobody can bring them back. Forks stay.</p>
        <FaultNote faults={faults} labels={{ confirmation: label }} />
        <TextField name="confirmation" label={label} faults={faults} autocomplete="off" required />
        <p>
          <button class="main">Delete the repository</button>
        </p>
      </form>
    ),
  });
}
