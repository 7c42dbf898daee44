import type { Ambiguities } from "../../repository/calls.ts";
import { visibleName } from "./text.ts";
import { type PathPageName, pathUrl } from "./urls.ts";
import type { PagePlace } from "./web-env.ts";

/** Says what a name in the URL could also have meant. */
export function AmbiguityNote({
  place,
  page,
  ambiguities,
}: {
  place: PagePlace;
  page: PathPageName;
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
              <a href={pathUrl(place, page, other, "")}>
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
