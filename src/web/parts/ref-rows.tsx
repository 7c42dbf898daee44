// What the lists of branches and of tags share.
import { decodePathParts, encodePath } from "../../format/path-parts.ts";
import { visibleName } from "./text.ts";

/** Refs on a page. */
export const PAGE_REFS = 50;

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

/** How many refs precede those that a URL asks for. */
export function readStart(query: URLSearchParams): number {
  const text = query.get("start") ?? "0";
  return /^\d{1,7}$/.test(text) ? Number(text) : 0;
}

/** The ways to the other parts of a list.
 * @param here path of the page */
export function RefPager({ here, start, total }: { here: string; start: number; total: number }) {
  const next = start + PAGE_REFS;
  if (start === 0 && next >= total) return null;
  return (
    <nav class="row" aria-label="Pages">
      {start > 0 && (
        <a class="button" href={here}>
          Newest
        </a>
      )}
      {next < total && (
        <a class="button" rel="next" href={`${here}?start=${next}`}>
          Older ({(total - next).toLocaleString("en")} left)
        </a>
      )}
    </nav>
  );
}
