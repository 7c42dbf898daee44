import { includesRight } from "../../../base/access/caller.ts";
import { isFileMode } from "../../../base/format/tree.ts";
import { faultOf, type PageRevision, type PathPage } from "../../../contract/pages.ts";
import { pathUrl } from "./urls.ts";
import type { PagePlace } from "./web-env.ts";

/** Actions on a path: none without the right to write, or outside a branch.
 * @param path byte string, "" for the root
 * @param shown the kind of content at the path */
export function PathActions({
  place,
  revision: { kind, name },
  path,
  shown,
}: {
  place: PagePlace;
  revision: PageRevision;
  path: string;
  shown: PathPage["shown"] | { readonly kind: "directory" };
}) {
  if (kind !== "branch" || !includesRight(place.right, "write")) return null;
  const remove = path !== "" && <a href={pathUrl(place, "delete", name, path)}>Delete</a>;
  if (shown.kind !== "directory") {
    const isText =
      "content" in shown && isFileMode(shown.mode) && shown.content !== null && faultOf(shown.content) === null;
    return (
      <span class="push row">
        {isText && (
          <a class="button" href={pathUrl(place, "edit", name, path)}>
            Edit
          </a>
        )}
        {remove}
      </span>
    );
  }
  return (
    <details class="drop push" data-with="drop">
      <summary>Change</summary>
      <div class="panel">
        <ul>
          <li>
            <a href={pathUrl(place, "new", name, path)}>New file</a>
          </li>
          <li>
            <a href={pathUrl(place, "upload", name, path)}>Upload files</a>
          </li>
          {remove && <li>{remove}</li>}
        </ul>
      </div>
    </details>
  );
}

/** A link to the search for files by path. @param rev as the URL names it */
export function FindLink({ place, rev }: { place: PagePlace; rev: string }) {
  return (
    <a class="button" href={pathUrl(place, "find", rev, "")} data-with="key" data-key="t">
      Find a file
    </a>
  );
}
