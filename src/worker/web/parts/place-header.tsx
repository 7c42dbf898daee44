import { includesRight, type Right } from "../../../base/access/caller.ts";
import { placeUrl } from "./urls.ts";
import type { PagePlace } from "./web-env.ts";

/** The tabs of a repository's pages; to add a tab, add a row. */
const TABS = [
  { id: "code", label: "Code", below: "", needed: "read" },
  { id: "commits", label: "Commits", below: "commits", needed: "read" },
  { id: "branches", label: "Branches", below: "branches", needed: "read" },
  { id: "tags", label: "Tags", below: "tags", needed: "read" },
  { id: "compare", label: "Compare", below: "compare", needed: "read" },
  { id: "activity", label: "Activity", below: "activity", needed: "read" },
  { id: "search", label: "Search", below: "search", needed: "read", key: "/" },
  { id: "settings", label: "Settings", below: "settings", needed: "admin" },
] as const satisfies readonly {
  readonly id: string;
  readonly label: string;
  /** Path below the repository's page. */
  readonly below: string;
  /** Right needed to see the tab. */
  readonly needed: Right;
  /** Keyboard shortcut, in browsers that run scripts. */
  readonly key?: string;
}[];

type TabId = (typeof TABS)[number]["id"];

/** The head of every page of a repository: its name, and the tabs.
 * @param tab the tab of the page */
export function PlaceHeader({ place, tab }: { place: PagePlace; tab: TabId }) {
  const { owner, name, visibility, right } = place;
  return (
    <>
      <div class="place">
        <h1>
          <a href={`/${owner}`}>{owner}</a> /{" "}
          <a href={placeUrl(place)}>
            <strong>{name}</strong>
          </a>
        </h1>
        {visibility === "private" && <span class="badge">private</span>}
      </div>
      <nav class="tabs" aria-label="Repository">
        {TABS.filter(({ needed }) => includesRight(right, needed)).map(({ id, label, below, ...more }) => (
          <a
            href={placeUrl(place, below)}
            aria-current={id === tab ? "page" : undefined}
            data-with={"key" in more && id !== tab ? "key" : undefined}
            data-key={"key" in more ? more.key : undefined}
          >
            {label}
          </a>
        ))}
      </nav>
    </>
  );
}
