// What the lists of branches and of tags share.
import { decodePathParts, encodePath } from "../../format/path-parts.ts";
import { visibleName } from "./text.ts";

/** A form that deletes a ref, behind one more click.
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

/** The name that a form was sent with, byte string. */
export function nameOfForm(form: URLSearchParams): string {
  return decodePathParts(form.get("name") ?? "").join("/");
}
