import { includesRight } from "../../../base/access/caller.ts";
import { cloneUrl, pathUrl, placeUrl } from "../parts/urls.ts";
import type { Languages } from "../../../contract/tally.ts";
import type { PagePlace, PageContext } from "../parts/web-env.ts";
import { visibleName, visibleLine } from "../parts/text.ts";
import { branchRev } from "../../../base/format/ref-name.ts";
import type { HeadPart, RepositoryPage } from "../../../contract/pages.ts";
import { type EntryWithForks, type FirstForks, MAX_COUNTED_FORKS } from "../../../contract/registry.ts";
import { CommitLine } from "../parts/commit-line.tsx";
import { FileList } from "../parts/file-list.tsx";
import { FindLink, PathActions } from "../parts/path-actions.tsx";
import { PlaceHeader } from "../parts/place-header.tsx";
import { PushCommands } from "../parts/push-commands.tsx";
import { ReadmeBox } from "../parts/readme.tsx";
import { RefChooser } from "../parts/ref-chooser.tsx";
import { showPage } from "../parts/show-page.tsx";

/** Maximum number of forks named beside a repository's files. */
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

/** Facts about a repository, beside its files. */
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

/** Forks of the repository that the visitor may read. */
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

/** Commands and URLs to clone a repository. */
function CloneBox({ origin, place }: { origin: string; place: PagePlace }) {
  const url = cloneUrl(origin, place);
  return (
    <details class="drop push" data-with="drop">
      <summary>Clone</summary>
      <div class="panel">
        <Command label="Address" id="clone-url" text={url} />
        <Command label="All of it" id="clone-all" text={`git clone ${url}`} />
        <Command label="The latest commit alone" id="clone-shallow" text={`git clone --depth=1 ${url}`} />
        <Command
          label="A large history, prepared by the server"
          id="clone-bundle"
          text={`git clone -c transfer.bundleURI=true ${url}`}
        />
      </div>
    </details>
  );
}

/** A text with a button that copies it. */
function Command({ label, id, text }: { label: string; id: string; text: string }) {
  return (
    <>
      <label for={id}>{label}</label>
      <div class="row">
        <input class="grow" id={id} value={text} readonly />
        <button type="button" data-with="copy" data-from={id} hidden>
          Copy
        </button>
      </div>
    </>
  );
}

/** Maximum number of languages named; the others are summed up. */
const MAX_NAMED = 8;

/** Colour of languages without a colour of their own, and of the rest. */
const NO_COLOR = "#8b949e";

/** Bar of a repository's languages, by their share of bytes. */
function LanguagesBar({ languages }: { languages: Languages["languages"] }) {
  // Prose and data would outweigh the languages of the code.
  const counted = languages.filter(({ type, bytes }) => bytes > 0 && (type === "programming" || type === "markup"));
  const total = counted.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total === 0) return null;
  const named = counted
    .slice(0, MAX_NAMED)
    .map(({ name, color, bytes }) => ({ name, color: color ?? NO_COLOR, bytes }));
  const rest = total - named.reduce((sum, { bytes }) => sum + bytes, 0);
  const shares = (rest > 0 ? [...named, { name: "Other", color: NO_COLOR, bytes: rest }] : named).map((share) => ({
    ...share,
    percent: (100 * share.bytes) / total,
  }));
  let x = 0;
  return (
    <section class="languages">
      <h2>Languages</h2>
      <svg class="share" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
        {shares.map(({ color, percent }) => {
          const from = x;
          x += percent;
          return <rect x={from.toFixed(2)} width={percent.toFixed(2)} height="1" fill={color} />;
        })}
      </svg>
      <ul>
        {shares.map(({ name, color, percent }) => (
          <li>
            <svg viewBox="0 0 10 10" aria-hidden="true">
              <circle cx="5" cy="5" r="5" fill={color} />
            </svg>
            {name} <span class="muted">{percent.toFixed(1)}%</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
