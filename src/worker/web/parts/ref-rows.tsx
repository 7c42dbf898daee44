// Common parts of the lists of branches and of tags.
import { decodePathParts, encodePath } from "../../../base/format/path-parts.ts";
import { GitError } from "../../../base/format/errors.ts";
import { readForm, textOf } from "./forms.ts";
import { visibleName } from "./text.ts";
import type { PageContext } from "./web-env.ts";

const MAX_FORM_BYTES = 16 * 1024;

/** A form that deletes a ref, after one more click.
 * @param name byte string
 * @param expected id in hex: a ref that has moved since is not deleted */
export function DeleteForm({ action, name, expected }: { action: string; name: string; expected: string }) {
  const shown = visibleName(name);
  return (
    <details class="drop push" data-with="drop">
      <summary>
        Delete<span class="hush"> {shown}</span>
      </summary>
      <form class="panel" method="post" action={action}>
        <input type="hidden" name="name" value={encodePath(name)} />
        <input type="hidden" name="expected" value={expected} />
        <p>
          Delete <bdi>{shown}</bdi>? What only it reaches is gone after two weeks.
        </p>
        <button>Delete it</button>
      </form>
    </details>
  );
}

/** Deletes the ref that a `DeleteForm` names, unless it has moved since the form was shown.
 * @param prefix of the kind of refs, such as `refs/heads/`
 * @throws GitError "bad-request" for another form; as `deleteRef` */
export async function deleteNamed(context: PageContext, prefix: string): Promise<void> {
  const form = await readForm(context.req.raw, MAX_FORM_BYTES);
  const [name, expected] = [textOf(form, "name"), textOf(form, "expected")];
  if (name === "" || expected === "") throw new GitError("bad-request", { reason: "a form without name or expected" });
  await context.get("repository").deleteRef({ name: prefix + decodePathParts(name).join("/"), expected });
}
