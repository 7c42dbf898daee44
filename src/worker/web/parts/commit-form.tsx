// Common parts of all forms that make a commit: message, branch, author, and the result.
import { decodeText, encodeText } from "../../../base/format/byte-string.ts";
import { GitError, isGitError } from "../../../base/format/errors.ts";
import { isHexOid } from "../../../base/format/oid.ts";
import { isPushableRefName, branchRev } from "../../../base/format/ref-name.ts";
import type { Operation } from "../../../contract/commits.ts";
import type { ShownConflict } from "../../../base/format/conflict.ts";
import type { EditPage } from "../../../contract/pages.ts";
import { type Author, checkAuthor, keepAuthor, lastAuthor, readAuthor, toIdent } from "./author.ts";
import { Choice, type Faults, TextArea, TextField } from "./fields.tsx";
import { invalid, type Refusal, refusalOf } from "./form-faults.ts";
import { textOf } from "./forms.ts";
import { visibleName } from "./text.ts";
import { pathUrl, placeUrl } from "./urls.ts";
import type { PageContext, PagePlace } from "./web-env.ts";

/** Maximum length of a commit's subject, and of the text below it, in characters. */
const MAX_SUBJECT = 500;
const MAX_BODY = 50_000;

/** Input for a commit. */
export interface TypedCommit {
  /** "": the form's default subject. */
  readonly subject: string;
  readonly body: string;
  readonly author: Author;
  readonly target: "branch" | "new";
  /** Name of the new branch, text. */
  readonly newBranch: string;
  /** Id in hex of the commit that the form was made for; null: the repository had none. */
  readonly base: string | null;
  /** Id in hex of a later commit whose conflicting change the form has shown. */
  readonly seen: string | null;
}

/** The reason why a commit was refused. */
export interface RefusedCommit extends Refusal {
  readonly conflicts: readonly ShownConflict[];
}

/** Labels of the fields. */
export const COMMIT_LABELS = {
  subject: "Summary",
  body: "Description",
  author: "Your name",
  email: "Your email",
  newBranch: "Name of the new branch",
} as const;

/** Makes the initial input of a form. */
export async function newTypedCommit(context: PageContext, { commit, refusal }: EditPage): Promise<TypedCommit> {
  const target = refusal === null ? "branch" : "new";
  const author = await lastAuthor(context);
  return { subject: "", body: "", author, target, newBranch: "", base: commit, seen: null };
}

/** Reads the input of a form.
 * @throws GitError "bad-request" without the commit that the form was made for: others' changes
 * since then would be lost */
export function readTypedCommit(form: FormData): TypedCommit {
  const idOf = (name: string): string | null => {
    const text = textOf(form, name);
    if (text !== "" && !isHexOid(text)) throw new GitError("bad-request", { reason: `a form whose ${name} is no id` });
    return text === "" ? null : text;
  };
  if (!form.has("base")) throw new GitError("bad-request", { reason: "a form without base" });
  return {
    subject: textOf(form, "subject").trim(),
    body: textOf(form, "body").replaceAll("\r\n", "\n").trimEnd(),
    author: readAuthor(form),
    target: textOf(form, "target") === "new" ? "new" : "branch",
    newBranch: textOf(form, "newBranch").trim(),
    base: idOf("base"),
    seen: idOf("seen"),
  };
}

/** Finds the faults of an input. */
export function checkTypedCommit({ subject, body, author, target, newBranch }: TypedCommit): Faults {
  const isBranch = newBranch.isWellFormed() && isPushableRefName(`refs/heads/${encodeText(newBranch)}`, false);
  return {
    ...(subject.length > MAX_SUBJECT && { subject: `At most ${MAX_SUBJECT} characters.` }),
    ...(body.length > MAX_BODY && { body: `At most ${MAX_BODY.toLocaleString("en")} characters.` }),
    ...(`${subject}${body}`.includes("\0") && { body: "It has a NUL, which no message can hold." }),
    ...checkAuthor(author),
    ...(target === "new" && !isBranch && { newBranch: "This is no valid name of a branch." }),
  };
}

/** Makes the commit. Changes that others made meanwhile are kept: the commit is merged with them.
 * @param page for the branch of the URL
 * @param subject default subject
 * @param fields of the form, by the names in the commit's failures
 * @returns the branch that has it, as URLs name it, byte string */
export async function makeCommit(
  context: PageContext,
  typed: TypedCommit,
  { branch }: Pick<EditPage, "branch">,
  subject: string,
  operations: readonly Operation[],
  fields: Readonly<Record<string, string>>,
): Promise<string | RefusedCommit> {
  const { base, seen, author } = typed;
  const isNew = typed.target === "new" && base !== null;
  const repository = context.get("repository");
  const target = isNew ? encodeText(typed.newBranch) : branch;
  if (isNew && (await exists(context, target)))
    return { ...invalid({ newBranch: "A branch of this name exists." }), conflicts: [] };
  const text = [typed.subject || subject, typed.body].filter((part) => part !== "").join("\n\n");
  const ident = toIdent(author);
  try {
    await repository.commit({
      branch: target,
      startPoint: isNew ? base : null,
      base: isNew ? base : (seen ?? base),
      onConflict: isNew ? "fail" : "merge",
      message: encodeText(`${text.toWellFormed()}\n`),
      author: ident,
      committer: ident,
      allowEmpty: false,
      operations,
    });
    await keepAuthor(context, author);
    return branchRev(target);
  } catch (error) {
    const conflicts = isGitError(error, "conflict") ? (error.data.conflicts ?? []) : [];
    return { ...refusalOf(error, { branch: "newBranch", ...fields }), conflicts };
  }
}

async function exists(context: PageContext, branch: string): Promise<boolean> {
  try {
    await context.get("repository").branch(branch);
    return true;
  } catch (error) {
    if (isGitError(error, "not-found") && error.data.subject !== "repository") return false;
    throw error;
  }
}

/** The fields for a commit.
 * @param subject default subject */
export function CommitFields({
  typed,
  page: { branch, commit, refusal },
  faults,
  subject,
}: {
  typed: TypedCommit;
  page: EditPage;
  faults: Faults;
  subject: string;
}) {
  const { author, target } = typed;
  return (
    <fieldset class="box padded">
      <legend>Commit</legend>
      <TextField
        name="subject"
        label={COMMIT_LABELS.subject}
        faults={faults}
        value={typed.subject}
        placeholder={subject}
        maxlength={MAX_SUBJECT}
        hint="What is shown is taken if you write nothing."
      />
      <TextArea name="body" label={COMMIT_LABELS.body} faults={faults} text={typed.body} rows={3} />
      <div class="columns">
        <TextField
          name="author"
          label={COMMIT_LABELS.author}
          faults={faults}
          value={author.name}
          autocomplete="name"
          required
        />
        <TextField
          name="email"
          label={COMMIT_LABELS.email}
          faults={faults}
          value={author.email}
          autocomplete="email"
          required
        />
      </div>
      <input type="hidden" name="base" value={typed.base ?? ""} />
      {typed.seen !== null && <input type="hidden" name="seen" value={typed.seen} />}
      {refusal === null ? (
        <Choice type="radio" name="target" id="target-branch" value="branch" isChosen={target === "branch"}>
          To the branch <bdi>{visibleName(branch)}</bdi>
        </Choice>
      ) : (
        <p class="note">
          You cannot commit to <bdi>{visibleName(branch)}</bdi> ({refusal}).
        </p>
      )}
      {commit !== null && (
        <>
          <Choice type="radio" name="target" id="target-new" value="new" isChosen={target === "new"}>
            To a new branch, from the state shown here
          </Choice>
          <TextField name="newBranch" label={COMMIT_LABELS.newBranch} faults={faults} value={typed.newBranch} />
        </>
      )}
    </fieldset>
  );
}

/** Makes the URL that the link to discard a form leads to. */
export function wayBack(place: PagePlace, to: "tree" | "blob", { rev, commit, path }: EditPage): string {
  return commit === null ? placeUrl(place) : pathUrl(place, to, rev, path);
}

/** Converts a path to text for a field. @param path byte string */
export function toTypedPath(path: string): string {
  // As browsers do in a single-line field.
  return decodeText(path).replaceAll(/[\r\n]/g, "");
}

/** Reads the path of a field. If unchanged, it is the URL's path, which need not be UTF-8.
 * @param path of the URL, byte string
 * @returns byte string */
export function readTypedPath(typed: string, path: string): string {
  return typed === toTypedPath(path) ? path : encodeText(typed.trim().replace(/^\/+/, ""));
}
