// Common parts of the forms that create or rename repositories.
import { encodeText } from "../../../base/format/byte-string.ts";
import { isBranchName } from "../../../base/format/ref-name.ts";
import { isOwnerName, isRepositoryName, NAME_RULE } from "../../../base/format/repository-name.ts";
import { MAX_DESCRIPTION } from "../../../base/format/table-limits.ts";
import { type Faults, SelectField, TextField } from "./fields.tsx";
import { textOf } from "./forms.ts";
import type { MayCreate } from "./web-env.ts";

/** Input about a repository. */
export interface TypedRepository {
  readonly owner: string;
  readonly name: string;
  readonly description: string;
  readonly visibility: "public" | "private";
  /** Text, without `refs/heads/`. */
  readonly defaultBranch: string;
}

/** Labels of the fields. */
export const REPOSITORY_LABELS = {
  owner: "Owner",
  name: "Name",
  description: "Description",
  visibility: "Who may read it",
  defaultBranch: "Default branch",
} as const;

/** Fields of the form, by the names in failures. */
export const REPOSITORY_FIELDS = Object.fromEntries(Object.keys(REPOSITORY_LABELS).map((name) => [name, name]));

/** Reads the input of a form. */
export function readTypedRepository(form: URLSearchParams): TypedRepository {
  return {
    owner: textOf(form, "owner").trim(),
    name: textOf(form, "name").trim(),
    description: textOf(form, "description").trim(),
    visibility: textOf(form, "visibility") === "public" ? "public" : "private",
    defaultBranch: textOf(form, "defaultBranch").trim(),
  };
}

/** Finds the faults of an input.
 * @param hasBranch whether the form has a default branch */
export function checkTypedRepository(
  { owner, name, description, defaultBranch }: TypedRepository,
  hasBranch: boolean,
): Faults {
  const isBranch = defaultBranch.isWellFormed() && isBranchName(encodeText(defaultBranch));
  return {
    ...(!isOwnerName(owner) && { owner: `${NAME_RULE}; not 'api' or '-'.` }),
    ...(!isRepositoryName(name) && { name: `${NAME_RULE}.` }),
    ...(description.length > MAX_DESCRIPTION && { description: `At most ${MAX_DESCRIPTION} characters.` }),
    ...(hasBranch && !isBranch && { defaultBranch: "This is no valid name of a branch." }),
  };
}

/** Fields for owner and name.
 * @param mayCreate the owners that the visitor can choose
 * @param isFixed whether the name is read-only, too */
export function NameFields({
  typed,
  faults,
  mayCreate,
  isFixed = false,
}: {
  typed: TypedRepository;
  faults: Faults;
  mayCreate: MayCreate;
  isFixed?: boolean;
}) {
  return (
    <div class="columns">
      <TextField
        name="owner"
        label={REPOSITORY_LABELS.owner}
        faults={faults}
        value={typed.owner}
        readonly={mayCreate !== "everywhere"}
        required
      />
      <TextField
        name="name"
        label={REPOSITORY_LABELS.name}
        faults={faults}
        value={typed.name}
        autocapitalize="none"
        spellcheck={false}
        readonly={isFixed}
        required
      />
    </div>
  );
}

/** Fields for a repository's description and visibility.
 * @param isPrivate whether it can only be private */
export function DetailFields({
  typed,
  faults,
  isPrivate = false,
}: {
  typed: TypedRepository;
  faults: Faults;
  isPrivate?: boolean;
}) {
  const choices = { private: "Who has a token for it", ...(!isPrivate && { public: "Everybody" }) };
  return (
    <>
      <TextField
        name="description"
        label={REPOSITORY_LABELS.description}
        faults={faults}
        value={typed.description}
        maxlength={MAX_DESCRIPTION}
      />
      <SelectField
        name="visibility"
        label={REPOSITORY_LABELS.visibility}
        faults={faults}
        value={typed.visibility}
        choices={choices}
      />
    </>
  );
}
