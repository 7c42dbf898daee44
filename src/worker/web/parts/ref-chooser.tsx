import type { PageRevision, RefChoice, RefChoices } from "../../../contract/pages.ts";
import { visibleName } from "./text.ts";
import { type PathPageName, pathUrl, placeUrl } from "./urls.ts";
import type { PagePlace } from "./web-env.ts";

/** The path that a chooser shows in other revisions. */
interface ChooserTarget {
  readonly place: PagePlace;
  readonly page: PathPageName;
  /** Byte string, "" for the root. */
  readonly path: string;
}

const KINDS = { branch: "Branch", tag: "Tag", commit: "Commit" } as const;

/** Number of shown digits of a commit's id. */
const SHORT = 10;

/** Shows the revision of a page, and the revisions to choose from.
 * @param choices null: the page of a single commit offers none */
export function RefChooser({
  revision,
  choices,
  target,
}: {
  revision: PageRevision;
  choices: RefChoices | null;
  target: ChooserTarget;
}) {
  const { short, kind, commit } = revision;
  const shown = short === commit ? commit.slice(0, SHORT) : visibleName(short);
  if (choices === null)
    return (
      <span class="badge">
        {KINDS[kind]} <code>{shown}</code>
      </span>
    );
  const { branches, tags, branchCount, tagCount } = choices;
  return (
    <details class="drop" data-with="drop">
      <summary>
        <span class="muted">{KINDS[kind]}</span> <bdi class="cut">{shown}</bdi>
      </summary>
      <div class="panel">
        <input type="search" placeholder="Filter" aria-label="Filter branches and tags" data-with="filter" hidden />
        <Choices
          title="Branches"
          choices={branches}
          count={branchCount}
          kind="branch"
          current={revision}
          target={target}
        />
        <Choices title="Tags" choices={tags} count={tagCount} kind="tag" current={revision} target={target} />
      </div>
    </details>
  );
}

function Choices({
  title,
  choices,
  count,
  kind,
  current,
  target,
}: {
  title: string;
  choices: readonly RefChoice[];
  count: number;
  kind: "branch" | "tag";
  current: PageRevision;
  target: ChooserTarget;
}) {
  if (count === 0) return null;
  const { place, page, path } = target;
  const isCurrent = (name: string): boolean => current.kind === kind && current.short === name;
  return (
    <>
      <h2>{title}</h2>
      <ul>
        {choices.map(({ name, rev }) => (
          <li>
            <a class="cut" href={pathUrl(place, page, rev, path)} aria-current={isCurrent(name) ? "true" : undefined}>
              <bdi>{visibleName(name)}</bdi>
            </a>
          </li>
        ))}
      </ul>
      {count > choices.length && (
        <p>
          <a href={placeUrl(place, kind === "branch" ? "branches" : "tags")}>All {count.toLocaleString("en")}</a>
        </p>
      )}
    </>
  );
}
