import { includesRight } from "../../../base/access/caller.ts";
import { visibleName, visibleLine } from "../parts/text.ts";
import { branchRev } from "../../../base/format/ref-name.ts";
import type { HeadPart, RepositoryPage } from "../../../contract/pages.ts";
import { type EntryWithForks, type FirstForks, MAX_COUNTED_FORKS } from "../../../contract/registry.ts";
import { CloneBox } from "../parts/clone-box.tsx";
import { CommitLine } from "../parts/commit-line.tsx";
import { FileList } from "../parts/file-list.tsx";
import { LanguagesBar } from "../parts/languages-bar.tsx";
import { FindLink, PathActions } from "../parts/path-actions.tsx";
import { PlaceHeader } from "../parts/place-header.tsx";
import { PushCommands } from "../parts/push-commands.tsx";
import { ReadmeBox } from "../parts/readme.tsx";
import { RefChooser } from "../parts/ref-chooser.tsx";
import { showPage } from "../parts/show-page.tsx";
import { cloneUrl, pathUrl, placeUrl } from "../parts/urls.ts";
import type { PageContext, PagePlace } from "../parts/web-env.ts";

/** Forks that are named beside a repository's files. */
const NAMED_FORKS = 10;

/** `/{owner}/{repo}`: the repository at the tip of its default branch. */
export async function repositoryPage(context: PageContext): Promise<Response> {
  const place = context.get("place");
  const host = context.get("host");
  const [page, known, mayCreate] = await Promise.all([
    context.get("repository").repositoryPage(),
    host.registry.readWithForks(place, NAMED_FORKS),
    host.mayCreate(),
  ]);
  const { origin } = new URL(context.req.url);
  return showPage(context, {
    title: `${place.owner}/${place.name}`,
    ...(known !== null && known.entry.description !== null && { description: visibleLine(known.entry.description) }),
    content: (
      <>
        <PlaceHeader place={place} tab="code" />
        <span data-with="pushed" data-from={`${placeUrl(place, "live")}?after=${page.lastEvent}`} />
        {page.head === null ? (
          <EmptyRepository place={place} origin={origin} page={page} />
        ) : (
          <Overview
            place={place}
            origin={origin}
            page={page}
            head={page.head}
            known={known}
            mayFork={mayCreate !== null}
          />
        )}
      </>
    ),
  });
}

function Overview({
  place,
  origin,
  page,
  head,
  known,
  mayFork,
}: {
  place: PagePlace;
  origin: string;
  page: RepositoryPage;
  head: HeadPart;
  known: EntryWithForks | null;
  mayFork: boolean;
}) {
  const { revision, commit, shown } = head;
  const nowMs = Date.now();
  const rev = revision.name;
  return (
    <div class="overview">
      <div>
        <div class="bar">
          <RefChooser revision={revision} choices={page.choices} target={{ place, page: "tree", path: "" }} />
          <FindLink place={place} rev={rev} />
          <PathActions place={place} revision={revision} path="" shown={{ kind: "directory" }} />
          <CloneBox origin={origin} place={place} />
        </div>
        <section id="listing" class="box" aria-labelledby="files" data-renewed>
          <h2 id="files" class="hush">
            Files
          </h2>
          <div class="head">
            <CommitLine place={place} commit={commit} nowMs={nowMs} />
          </div>
          <FileList place={place} rev={rev} path="" shown={shown} origin={origin} nowMs={nowMs} />
        </section>
        <div id="read" data-renewed>
          {shown.readme !== null && <ReadmeBox readme={shown.readme} where={{ place, rev, directory: "" }} />}
        </div>
      </div>
      <Facts place={place} page={page} head={head} known={known} mayFork={mayFork} />
    </div>
  );
}

/** What is said of a repository beside its files. */
function Facts({
  place,
  page,
  head,
  known,
  mayFork,
}: {
  place: PagePlace;
  page: RepositoryPage;
  head: HeadPart;
  known: EntryWithForks | null;
  mayFork: boolean;
}) {
  const { branchCount, tagCount } = page.choices;
  const { commitCount, languages, revision } = head;
  const entry = known?.entry ?? null;
  const parent = entry?.parent ?? null;
  return (
    <aside id="facts" class="facts" aria-label="About this repository" data-renewed>
      <h2>About</h2>
      {entry?.description !== null && entry !== null && <p>{visibleLine(entry.description)}</p>}
      {parent !== null && (
        <p>
          Fork of <a href={placeUrl(parent)}>{`${parent.owner}/${parent.name}`}</a>
        </p>
      )}
      {parent !== null && includesRight(place.right, "write") && (
        <form method="post" action={placeUrl(place, "sync")}>
          <button>Bring forward from there</button>
        </form>
      )}
      <ul>
        <li>
          <a href={pathUrl(place, "commits", revision.name, "")}>
            <strong>{commitCount.toLocaleString("en")}</strong> {commitCount === 1 ? "commit" : "commits"}
          </a>
        </li>
        <li>
          <a href={placeUrl(place, "branches")}>
            <strong>{branchCount.toLocaleString("en")}</strong> {branchCount === 1 ? "branch" : "branches"}
          </a>
        </li>
        <li>
          <a href={placeUrl(place, "tags")}>
            <strong>{tagCount.toLocaleString("en")}</strong> {tagCount === 1 ? "tag" : "tags"}
          </a>
        </li>
      </ul>
      {mayFork && (
        <p>
          <a class="button" href={placeUrl(place, "fork")}>
            Fork
          </a>
        </p>
      )}
      {known !== null && known.forks.count > 0 && <Forks forks={known.forks} />}
      <LanguagesBar languages={languages} />
    </aside>
  );
}

/** What has been made of the repository, as far as the visitor may read it. */
function Forks({ forks: { first, count } }: { forks: FirstForks }) {
  const total = count.toLocaleString("en");
  const isMore = count === MAX_COUNTED_FORKS;
  return (
    <section>
      <h2>{isMore ? `${total} forks or more` : `${total} ${count === 1 ? "fork" : "forks"}`}</h2>
      <ul>
        {first.map((fork) => (
          <li>
            <a href={placeUrl(fork)}>{`${fork.owner}/${fork.name}`}</a>
          </li>
        ))}
        {count > first.length && <li class="muted">and others</li>}
      </ul>
    </section>
  );
}

/** A repository whose default branch has no commit. */
function EmptyRepository({ place, origin, page }: { place: PagePlace; origin: string; page: RepositoryPage }) {
  const { branches } = page.choices;
  const branch = visibleName(page.defaultBranch ?? "main");
  return (
    <>
      {branches.length === 0 ? (
        <p>Nothing has been pushed yet.</p>
      ) : (
        <p>
          The default branch <code>{branch}</code> has no commit. There are others:{" "}
          {branches.map(({ name, rev }, i) => (
            <>
              {i > 0 && ", "}
              <a href={pathUrl(place, "tree", rev, "")}>{visibleName(name)}</a>
            </>
          ))}
        </p>
      )}
      {branches.length === 0 && page.defaultBranch !== null && includesRight(place.right, "write") && (
        <p>
          <a href={pathUrl(place, "new", branchRev(page.defaultBranch), "")}>Write a first file</a>, or push:
        </p>
      )}
      <PushCommands url={cloneUrl(origin, place)} branch={branch} />
    </>
  );
}
