import { AmbiguityNote } from "../parts/ambiguity-note.tsx";
import { PlaceHeader } from "../parts/place-header.tsx";
import { RefChooser } from "../parts/ref-chooser.tsx";
import { showPage } from "../parts/show-page.tsx";
import { visibleName } from "../parts/text.ts";
import { urlParts, pathUrl } from "../parts/urls.ts";
import type { PageContext } from "../parts/web-env.ts";

/** Maximum length of the search text, in characters. */
const MAX_WANTED = 200;

/** `/{owner}/{repo}/find/{rev}`: finds files by path. */
export async function findPage(context: PageContext): Promise<Response> {
  const place = context.get("place");
  const wanted = (new URL(context.req.url).searchParams.get("q") ?? "").slice(0, MAX_WANTED);
  const page = await context.get("repository").findPage({ parts: urlParts(context), wanted });
  const { revision, choices, paths, count, isComplete } = page;
  const number = `${isComplete ? "" : "More than "}${count.toLocaleString("en")} ${count === 1 ? "file" : "files"}`;
  return showPage(context, {
    title: `Find a file · ${place.owner}/${place.name}`,
    content: (
      <>
        <PlaceHeader place={place} tab="code" />
        <AmbiguityNote place={place} page="find" ambiguities={context.get("ambiguities")} />
        <h2>Find a file</h2>
        <div class="bar">
          <RefChooser revision={revision} choices={choices} target={{ place, page: "find", path: "" }} />
        </div>
        <form
          class="row"
          role="search"
          action={pathUrl(place, "find", revision.name, "")}
          data-with="live"
          data-shows="found"
        >
          <input
            class="grow"
            type="search"
            name="q"
            value={wanted}
            maxlength={MAX_WANTED}
            aria-label="Parts of its path, in their order"
            placeholder="Parts of its path, in their order"
            autocomplete="off"
            spellcheck={false}
            autofocus
          />
          <button>Find</button>
        </form>
        <div id="found">
          <p role="status" class="muted">
            {number}
            {count > paths.length && `; the first ${paths.length}:`}
          </p>
          <ul class="found">
            {paths.map((path) => (
              <li>
                <a href={pathUrl(place, "blob", revision.name, path)}>
                  <bdi>{visibleName(path)}</bdi>
                </a>
              </li>
            ))}
          </ul>
        </div>
      </>
    ),
  });
}
