import type { HunkLines, ShownConflict } from "../../../base/format/conflict.ts";
import { visibleLine, visibleText } from "./text.ts";

/** Shows what others changed in the lines that a form changes, side by side.
 * @param branch text, as it is shown */
export function ConflictNote({ conflicts, branch }: { conflicts: readonly ShownConflict[]; branch: string }) {
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
