import { visibleName } from "./text.ts";
import { type PathPageName, pathUrl } from "./urls.ts";
import type { PagePlace } from "./web-env.ts";
import type { Ambiguities } from "../../../contract/calls.ts";

/** Note about the other meanings of an ambiguous name in the URL.
 * @param path byte string, "" for the root */
export function AmbiguityNote({
  place,
  page,
  path = "",
  ambiguities,
}: {
  place: PagePlace;
  page: PathPageName;
  path?: string;
  ambiguities: Ambiguities;
}) {
  return (
    <>
      {ambiguities.map(([chosen, ...others]) => (
        <p class="note">
          This is <code>{visibleName(chosen!)}</code>. The name could also mean{" "}
          {others.map((other, i) => (
            <>
              {i > 0 && ", "}
              <a href={pathUrl(place, page, other, path)}>
                <code>{visibleName(other)}</code>
              </a>
            </>
          ))}
          .
        </p>
      ))}
    </>
  );
}
