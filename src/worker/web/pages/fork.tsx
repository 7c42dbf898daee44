import { GitError } from "../../../base/format/errors.ts";
import { forkRepository, readEntry } from "../../shared/repository-changes.ts";
import type { RepositoryEntry } from "../../../contract/registry.ts";
import { Choice, type Faults, FaultNote, NO_FAULTS } from "../parts/fields.tsx";
import { invalid, type Refusal, refusalOf } from "../parts/form-faults.ts";
import { readForm, textOf } from "../parts/forms.ts";
import { demandMayCreate } from "../parts/may-create.ts";
import { PlaceHeader } from "../parts/place-header.tsx";
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
import { visibleName } from "../parts/text.ts";
import { placeUrl } from "../parts/urls.ts";
import type { MayCreate, PageContext } from "../parts/web-env.ts";

const MAX_FORM_BYTES = 32 * 1024;

/** Input of the fork form. */
interface TypedFork extends TypedRepository {
  /** Whether only the default branch is copied. */
  readonly isOneBranch: boolean;
}

/** `/{owner}/{repo}/fork`: a form that forks the repository. */
export async function forkPage(context: PageContext): Promise<Response> {
  const mayCreate = await demandMayCreate(context);
  if (mayCreate instanceof Response) return mayCreate;
  const parent = await readParent(context);
  const owner = mayCreate === "everywhere" ? "" : mayCreate.owner;
  const { name, description, visibility } = parent;
  const typed = { owner, name, description: description ?? "", visibility, defaultBranch: "", isOneBranch: false };
  return showForm(context, parent, mayCreate, typed);
}

/** `POST /{owner}/{repo}/fork`. */
export async function fork(context: PageContext): Promise<Response> {
  const mayCreate = await demandMayCreate(context);
  if (mayCreate instanceof Response) return mayCreate;
  const form = await readForm(context.req.raw, MAX_FORM_BYTES);
  const typed = { ...readTypedRepository(form), isOneBranch: textOf(form, "branches") === "one" };
  const parent = await readParent(context);
  const faults: Faults = checkTypedRepository(typed, false);
  if (Object.keys(faults).length > 0) return showForm(context, parent, mayCreate, typed, invalid(faults));
  const { owner, name, description, visibility, isOneBranch } = typed;
  const { defaultBranch } = parent;
  try {
    const made = await forkRepository(context.get("host").registry, parent, {
      owner,
      name,
      description: description === "" ? null : description,
      visibility,
      branches: isOneBranch && defaultBranch !== null ? [defaultBranch] : null,
      expiresMs: null,
    });
    return context.redirect(placeUrl(made), 303);
  } catch (error) {
    return showForm(context, parent, mayCreate, typed, refusalOf(error, REPOSITORY_FIELDS));
  }
}

/** `POST /{owner}/{repo}/sync`: updates the default branch from the parent. */
export async function syncFork(context: PageContext): Promise<Response> {
  const { registry } = context.get("host");
  const entry = await readParent(context);
  const { parent, defaultBranch: branch } = entry;
  if (parent === null || branch === null)
    throw new GitError("conflict", { what: "request", reason: "this is no fork of a repository that you may read" });
  const { entry: source } = await registry.openRelative(entry, parent.owner, parent.name, () => undefined);
  await context.get("repository").syncBranch({ branch, source: { repository: source.id, branch } });
  return context.redirect(placeUrl(entry), 303);
}

/** Reads the entry of the repository in the path. */
function readParent(context: PageContext): Promise<RepositoryEntry> {
  const { owner, name } = context.get("place");
  return readEntry(context.get("host").registry, owner, name);
}

function showForm(
  context: PageContext,
  parent: RepositoryEntry,
  mayCreate: NonNullable<MayCreate>,
  typed: TypedFork,
  refused: Refusal | null = null,
): Promise<Response> {
  const place = context.get("place");
  const faults = refused?.faults ?? NO_FAULTS;
  return showPage(context, {
    title: `Fork · ${place.owner}/${place.name}`,
    status: refused?.status ?? 200,
    headers: { "Cache-Control": "no-store" },
    content: (
      <>
        <PlaceHeader place={place} tab="code" />
        <form class="narrow" method="post" action={placeUrl(place, "fork")}>
          <h2>Fork</h2>
          <p>
            A fork is a repository of its own, with all that is here now. Nothing is copied: both share what is stored.
          </p>
          <FaultNote faults={faults} labels={REPOSITORY_LABELS} />
          <NameFields typed={typed} faults={faults} mayCreate={mayCreate} />
          <DetailFields typed={typed} faults={faults} isPrivate={parent.visibility === "private"} />
          <fieldset class="box padded">
            <legend>What it takes over</legend>
            <Choice type="radio" name="branches" id="branches-all" value="all" isChosen={!typed.isOneBranch}>
              All branches and tags
            </Choice>
            {parent.defaultBranch !== null && (
              <Choice type="radio" name="branches" id="branches-one" value="one" isChosen={typed.isOneBranch}>
                <bdi>{visibleName(parent.defaultBranch)}</bdi> alone, with its tags
              </Choice>
            )}
          </fieldset>
          <p class="row">
            <button class="main">Fork</button>
            <a class="button" href={placeUrl(place)}>
              Discard
            </a>
          </p>
        </form>
      </>
    ),
  });
}
