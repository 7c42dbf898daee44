import type { Child } from "hono/jsx";
import type { RepositoryEntry } from "../../../contract/registry.ts";
import { includesRight } from "../../../base/access/caller.ts";
import { visibleLine } from "../parts/text.ts";
import { Ago, toIso } from "../parts/times.tsx";
import { placeUrl } from "../parts/urls.ts";
import { parseRepositoryName, type RepositoryName } from "../../../base/format/repository-name.ts";
import { showMissing } from "../parts/error-page.tsx";
import { PushCommands } from "../parts/push-commands.tsx";
import { showPage } from "../parts/show-page.tsx";
import type { PageContext } from "../parts/web-env.ts";

/** Number of repositories on a page. */
const PAGE_ENTRIES = 50;

/** Maximum length of a filter, in characters: a name has at most 201. */
const MAX_FILTER = 201;

/** A page of the list. */
interface ListPage {
  readonly filter: string;
  readonly entries: readonly RepositoryEntry[];
  /** The name after which the next page begins; null: there is none. */
  readonly next: RepositoryName | null;
  readonly isFirst: boolean;
}

/** `/`: the repositories that the visitor may see. */
export async function startPage(context: PageContext): Promise<Response> {
  const page = await readPage(context, null);
  const mayCreate = await context.get("host").mayCreate();
  const { origin } = new URL(context.req.url);
  const isEmpty = page.entries.length === 0 && page.isFirst && page.filter === "";
  return showPage(context, {
    title: "Holdfast",
    content: (
      <>
        <ListHead title="Repositories" newUrl={mayCreate === null ? null : "/-/new"} />
        {isEmpty ? (
          <>
            <p>There is none yet that you may see. A repository is created by its first push:</p>
            <PushCommands url={`${origin}/me/my-repo.git`} branch="main" />
          </>
        ) : (
          <FilteredList page={page} path="/" />
        )}
      </>
    ),
  });
}

/** `/{owner}`: an owner's repositories. An owner without any repository that the visitor may see
 * looks like a missing one. */
export async function ownerPage(context: PageContext): Promise<Response> {
  const owner = context.req.param("owner")!;
  const page = await readPage(context, owner);
  if (page.entries.length === 0 && page.isFirst && page.filter === "") return showMissing(context);
  const shown = page.entries[0]?.owner ?? owner;
  const mayCreate = await context.get("host").mayCreate();
  const right =
    mayCreate === "everywhere"
      ? "operate"
      : mayCreate?.owner.toLowerCase() === shown.toLowerCase()
        ? mayCreate.right
        : null;
  return showPage(context, {
    title: shown,
    content: (
      <>
        <ListHead title={shown} newUrl={right === null ? null : `/-/new?owner=${shown}`}>
          {right !== null && includesRight(right, "admin") && (
            <a class="button" href={`/-/tokens/${shown}`}>
              Tokens
            </a>
          )}
        </ListHead>
        <FilteredList page={page} path={`/${shown}`} />
      </>
    ),
  });
}

async function readPage(context: PageContext, owner: string | null): Promise<ListPage> {
  const query = new URL(context.req.url).searchParams;
  const filter = (query.get("q") ?? "").trim().slice(0, MAX_FILTER);
  const [afterOwner, afterName] = (query.get("after") ?? "").split("/");
  const after = parseRepositoryName(afterOwner ?? "", afterName ?? "");
  const { registry } = context.get("host");
  const { entries, next } = await registry.search(filter, owner, after, PAGE_ENTRIES);
  return { filter, entries, next, isFirst: after === null };
}

/** @param newUrl of the form for a new repository; null: the visitor may create none */
function ListHead({ title, newUrl, children }: { title: string; newUrl: string | null; children?: Child }) {
  return (
    <div class="head-row">
      <h1>{title}</h1>
      <div class="row">
        {newUrl !== null && (
          <a class="button" href={newUrl}>
            New repository
          </a>
        )}
        {children}
      </div>
    </div>
  );
}

function FilteredList({ page: { filter, entries, next, isFirst }, path }: { page: ListPage; path: string }) {
  return (
    <>
      <form class="row" action={path} role="search">
        <div class="grow">
          <input
            type="search"
            name="q"
            value={filter}
            maxlength={MAX_FILTER}
            aria-label="Part of a name"
            placeholder="Part of a name"
          />
        </div>
        <button>Filter</button>
      </form>
      {entries.length === 0 ? (
        <p>{isFirst ? "No name contains this." : "There are no more."}</p>
      ) : (
        <RepositoryList entries={entries} nowMs={Date.now()} />
      )}
      {next !== null && (
        <p>
          <a
            class="button"
            href={`${path}?${new URLSearchParams({ q: filter, after: `${next.owner}/${next.name}` }).toString()}`}
          >
            More
          </a>
        </p>
      )}
    </>
  );
}

/** A list of repositories with their descriptions and the times of their last changes. */
function RepositoryList({ entries, nowMs }: { entries: readonly RepositoryEntry[]; nowMs: number }) {
  return (
    <ul class="repos">
      {entries.map((entry) => (
        <li>
          <a href={placeUrl(entry)}>
            {entry.owner} / {entry.name}
          </a>{" "}
          {entry.visibility === "private" && <span class="badge">private</span>}
          {entry.parent !== null && (
            <span class="muted">
              {" "}
              fork of <a href={placeUrl(entry.parent)}>{`${entry.parent.owner}/${entry.parent.name}`}</a>
            </span>
          )}
          {entry.description !== null && <p>{visibleLine(entry.description)}</p>}
          {entry.pushedMs !== null && (
            <p class="muted">
              Pushed to <Ago iso={toIso(entry.pushedMs)} nowMs={nowMs} />
            </p>
          )}
        </li>
      ))}
    </ul>
  );
}
