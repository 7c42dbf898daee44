import { decodeText, encodeText } from "../../../base/format/byte-string.ts";
import { MAX_WORKTREES } from "../../../base/format/limits.ts";
import { isPushableRefName } from "../../../base/format/ref-name.ts";
import { showSize } from "../parts/file-box.tsx";
import { Choice, type Faults, FaultNote, NO_FAULTS, TextArea } from "../parts/fields.tsx";
import { invalid, type Refusal, refusalOf } from "../parts/form-faults.ts";
import { readForm, textOf } from "../parts/forms.ts";
import { settingsUrl, showSettings } from "../parts/settings-frame.tsx";
import { visibleLine, visibleName } from "../parts/text.ts";
import type { PageContext } from "../parts/web-env.ts";

const MAX_FORM_BYTES = 512 * 1024;

const LABELS = { branches: "Branches" } as const;

/** Input of the form. */
interface Typed {
  /** Whether the deployment's setting applies. */
  readonly isDefault: boolean;
  /** Names, one per line. */
  readonly branches: string;
}

/** `/{owner}/{repo}/settings/worktrees`: branches whose files are in R2. */
export function worktreesPage(context: PageContext): Promise<Response> {
  return show(context, null);
}

/** `POST /{owner}/{repo}/settings/worktrees`. */
export async function saveWorktrees(context: PageContext): Promise<Response> {
  const form = await readForm(context.req.raw, MAX_FORM_BYTES);
  const typed = { isDefault: textOf(form, "which") === "default", branches: textOf(form, "branches") };
  const names = typed.branches.split(/[\r\n]+/).flatMap((line) => (line.trim() === "" ? [] : [line.trim()]));
  const wrong = names.find(
    (name) => !name.isWellFormed() || !isPushableRefName(`refs/heads/${encodeText(name)}`, false),
  );
  const faults: Faults = {
    ...(wrong !== undefined && { branches: `${visibleLine(wrong)} is no valid name of a branch.` }),
    ...(names.length > MAX_WORKTREES && { branches: `At most ${MAX_WORKTREES}.` }),
  };
  if (!typed.isDefault && Object.keys(faults).length > 0) return show(context, { ...invalid(faults), typed });
  try {
    const branches = typed.isDefault ? null : names.map(encodeText);
    await context.get("repository").configureWorktrees({ branches });
    return context.redirect(settingsUrl(context, "worktrees"), 303);
  } catch (error) {
    return show(context, { ...refusalOf(error), typed });
  }
}

async function show(context: PageContext, refused: (Refusal & { typed: Typed }) | null): Promise<Response> {
  const { branches, worktrees, sizeBytes, maxBytes } = await context.get("repository").worktrees();
  const faults = refused?.faults ?? NO_FAULTS;
  const typed = refused?.typed ?? {
    isDefault: branches === null,
    branches: (branches ?? []).map(decodeText).join("\n"),
  };
  return showSettings(context, "worktrees", {
    status: refused?.status ?? 200,
    children: (
      <>
        <p>The files of these branches are also kept as objects of the bucket, to be served from there.</p>
        <ul>
          {worktrees.length === 0 && <li>There are none.</li>}
          {worktrees.map(({ branch, state, files, sizeBytes, error }) => (
            <li>
              <bdi>{visibleName(branch)}</bdi> <span class="badge">{state}</span> {files.toLocaleString("en")} files,{" "}
              {showSize(sizeBytes)}
              {error !== null && `: ${visibleLine(error)}`}
            </li>
          ))}
        </ul>
        <p>
          They take {showSize(sizeBytes)} of {showSize(maxBytes)}, which grows with what the repository has stored.
        </p>
        <form class="narrow" method="post" action={settingsUrl(context, "worktrees")}>
          <FaultNote faults={faults} labels={LABELS} />
          <Choice type="radio" name="which" id="which-default" value="default" isChosen={typed.isDefault}>
            As the server does by itself
          </Choice>
          <Choice type="radio" name="which" id="which-these" value="these" isChosen={!typed.isDefault}>
            These branches
          </Choice>
          <TextArea
            name="branches"
            label={LABELS.branches}
            faults={faults}
            text={typed.branches}
            rows={4}
            spellcheck={false}
            hint="One a line, whether they exist or not. None: no files are kept."
          />
          <p>
            <button class="main">Save</button>
          </p>
        </form>
      </>
    ),
  });
}
