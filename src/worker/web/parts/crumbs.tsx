import { visibleName } from "./text.ts";
import { pathUrl } from "./urls.ts";
import type { PagePlace } from "./web-env.ts";

/** Breadcrumbs from the root to a path, each directory a link.
 * @param rev as the URL names it
 * @param path byte string, "" for the root */
export function Crumbs({ place, rev, path }: { place: PagePlace; rev: string; path: string }) {
  const parts = path === "" ? [] : path.split("/");
  return (
    <nav class="crumbs" aria-label="Path">
      <ol>
        <li>
          <a href={pathUrl(place, "tree", rev, "")}>{place.name}</a>
        </li>
        {parts.map((part, i) => (
          <li>
            {i === parts.length - 1 ? (
              <bdi aria-current="page">{visibleName(part)}</bdi>
            ) : (
              <a href={pathUrl(place, "tree", rev, parts.slice(0, i + 1).join("/"))}>
                <bdi>{visibleName(part)}</bdi>
              </a>
            )}
          </li>
        ))}
      </ol>
    </nav>
  );
}
