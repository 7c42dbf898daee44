import { type CommitNotes, NOTES_REF } from "../../../contract/pages.ts";
import { visibleText } from "./text.ts";
import { pathUrl } from "./urls.ts";
import type { PagePlace } from "./web-env.ts";

/** What git keeps beside a commit, as text; nothing if there is nothing. */
export function Notes({ place, notes: { notes, isWhole } }: { place: PagePlace; notes: CommitNotes }) {
  if (notes.length === 0 && isWhole) return null;
  return (
    <section aria-labelledby="notes">
      <h3 id="notes">Notes</h3>
      {notes.map(({ path, text }) =>
        text === null ? (
          <p>
            Too large to be shown here. <a href={pathUrl(place, "raw", NOTES_REF, path)}>Download it</a>
          </p>
        ) : (
          <pre class="plain" dir="auto">
            {visibleText(text)}
          </pre>
        ),
      )}
      {!isWhole && <p>The directory of the notes is too large to be searched.</p>}
    </section>
  );
}

/** What changes when notes do: part of a page's entity tag. */
export function versionOfNotes({ notes, isWhole }: CommitNotes): string {
  return [...notes.map(({ oid }) => oid), isWhole ? "" : "part"].join(".");
}
