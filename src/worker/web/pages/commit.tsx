import { decodeText } from "../../../base/format/byte-string.ts";
import type { CommitStatuses } from "../../../contract/events.ts";
import { type CommitNotes, NOTES_REF, type CommitPage } from "../../../contract/pages.ts";
import { GitError } from "../../../base/format/errors.ts";
import { visibleLine, visibleText, bodyOf, subjectOf, toHtml } from "../parts/text.ts";
import { pathUrl, commitUrl, withQuery, urlParts } from "../parts/urls.ts";
import { HEX_OID, isHexOid } from "../../../base/format/oid.ts";
import type { PagePlace, PageContext } from "../parts/web-env.ts";
import type { IdentRecord, ShownCommit } from "../../../contract/commits.ts";
import { Parts, readPart } from "../parts/message-parts.tsx";
import { PlaceHeader } from "../parts/place-header.tsx";
import { checkQuery, readNumber } from "../parts/query.ts";
import { type Page, showPageByIds } from "../parts/show-page.tsx";
import { Ago } from "../parts/times.tsx";
import { commitPatch } from "./patch.ts";
import { DIFF_QUERY, readAskedDiff, streamDiff } from "./shown-diff.ts";

/** Maximum number of parents listed. */
const MAX_PARENTS = 100;

/** A commit's id with the ending of its patch. */
const PATCH = new RegExp(`^(${HEX_OID})\\.(patch|diff)$`);

/** Query parameters of the page. */
export const COMMIT_QUERY = ["parent", "part", ...DIFF_QUERY];

/** `/{owner}/{repo}/commit/{oid}`: a commit and its changes. Other revisions redirect to their
 * commit. */
export async function commitPage(context: PageContext): Promise<Response> {
  const rev = urlParts(context).join("/");
  const [, oid = "", format] = PATCH.exec(rev) ?? [];
  if (format === "patch" || format === "diff") {
    checkQuery(new URL(context.req.url).searchParams, []);
    return commitPatch(context, oid, format);
  }
  if (isHexOid(rev)) {
    const part = readPart(context);
    const shown = await context.get("repository").commitPage({ ref: rev, part });
    const ids = ["commit", rev, versionOf(shown.checks), versionOfNotes(shown.notes)];
    return showPageByIds(context, ids, () => readPage(context, rev, shown, part));
  }
  const named = await context.get("repository").showCommit({ ref: decodeText(rev), part: 1 });
  const { search } = new URL(context.req.url);
  return context.redirect(commitUrl(context.get("place"), named.oid) + search, 302);
}

async function readPage(context: PageContext, oid: string, shown: CommitPage, part: number): Promise<Page> {
  const place = context.get("place");
  const repository = context.get("repository");
  const query = new URL(context.req.url).searchParams;
  const { commit } = shown;
  const parent = readParent(query, commit);
  const asked = readAskedDiff(query, commitUrl(place, oid), { parent: parent === 1 ? null : `${parent}` });
  const base = commit.parents[parent - 1] ?? null;
  const head = toHtml(<CommitHead place={place} shown={shown} parent={parent} part={part} />);
  const sides = { old: base === null ? null : { place, commit: base }, next: { place, commit: oid } };
  return {
    title: `${subjectOf(commit.message) || oid} · ${place.owner}/${place.name}`,
    content: await streamDiff(head, repository, { base, head: oid }, asked, sides),
  };
}

/** Reads the number of the parent that a merge is compared with, from 1.
 * @throws GitError "invalid" */
function readParent(query: URLSearchParams, { parents }: ShownCommit): number {
  const parent = readNumber(query, "parent", 1) ?? 1;
  if (parent > Math.max(parents.length, 1))
    throw new GitError("invalid", { what: "parent", actual: parent, reason: `the commit has ${parents.length}` });
  return parent;
}

function CommitHead({
  place,
  shown,
  parent,
  part,
}: {
  place: PagePlace;
  shown: CommitPage;
  parent: number;
  part: number;
}) {
  const { commit, checks, notes } = shown;
  const { oid, message, author, committer, signature } = commit;
  const subject = part === 1 ? subjectOf(message) : `${oid}, part ${part} of its message`;
  const body = part === 1 ? bodyOf(message) : message;
  const nowMs = Date.now();
  const isSame = author.name === committer.name && author.email === committer.email && author.date === committer.date;
  return (
    <>
      <PlaceHeader place={place} tab="commits" />
      <section class="box commit" aria-labelledby="subject">
        <h2 id="subject">
          <bdi>{subject || "(no message)"}</bdi>
        </h2>
        {body !== "" && (
          <pre class="plain" dir="auto">
            {visibleText(body)}
          </pre>
        )}
        <Parts here={commitUrl(place, oid)} part={part} parts={commit.messageParts} />
        <Notes place={place} notes={notes} />
        <dl class="ids">
          <dt>Author</dt>
          <dd>
            <Person ident={author} nowMs={nowMs} />
          </dd>
          {!isSame && (
            <>
              <dt>Committer</dt>
              <dd>
                <Person ident={committer} nowMs={nowMs} />
              </dd>
            </>
          )}
          <dt>Commit</dt>
          <dd>
            <code>{oid}</code>
          </dd>
          <Parents place={place} commit={commit} parent={parent} />
          <Checks checks={checks} />
          {signature !== null && (
            <>
              <dt>Signature</dt>
              <dd>
                <details>
                  <summary>as it is stored, not verified</summary>
                  <pre tabindex={0}>
                    {visibleText(signature)}
                    {commit.signatureTruncated && " …"}
                  </pre>
                </details>
              </dd>
            </>
          )}
        </dl>
        <Links place={place} oid={oid} />
      </section>
    </>
  );
}

function Links({ place, oid }: { place: PagePlace; oid: string }) {
  const here = commitUrl(place, oid);
  return (
    <p class="row links">
      <a class="button" href={pathUrl(place, "tree", oid, "")}>
        Files at this commit
      </a>
      <a href={pathUrl(place, "commits", oid, "")}>History</a>
      <a href={`${here}.patch`}>Patch</a>
      <a href={`${here}.diff`}>Diff</a>
    </p>
  );
}

/** @param parent number of the parent that the commit is compared with, from 1 */
function Parents({ place, commit, parent }: { place: PagePlace; commit: ShownCommit; parent: number }) {
  const { oid, parents } = commit;
  return (
    <>
      {parents.slice(0, MAX_PARENTS).map((one, i) => (
        <>
          <dt>{parents.length === 1 ? "Parent" : `Parent ${i + 1}`}</dt>
          <dd>
            <a href={commitUrl(place, one)}>
              <code>{one}</code>
            </a>
            {parents.length > 1 && (
              <>
                {" "}
                {parent === i + 1 ? (
                  <span class="muted">compared below</span>
                ) : (
                  <a href={withQuery(commitUrl(place, oid), { parent: i === 0 ? null : `${i + 1}` })}>
                    compare with it
                  </a>
                )}
              </>
            )}
          </dd>
        </>
      ))}
      {parents.length > MAX_PARENTS && (
        <>
          <dt>More parents</dt>
          <dd>
            {commit.parentsTruncated && "more than "}
            {(parents.length - MAX_PARENTS).toLocaleString("en")}
          </dd>
        </>
      )}
    </>
  );
}

function Person({ ident: { name, email, date, truncated }, nowMs }: { ident: IdentRecord; nowMs: number }) {
  return (
    <>
      <strong>
        <bdi>{visibleLine(name)}</bdi>
      </strong>{" "}
      <span class="muted">
        <bdi>{`<${visibleLine(email)}>`}</bdi>
        {truncated && " (cut)"}
      </span>{" "}
      · <Ago iso={date} nowMs={nowMs} />
    </>
  );
}

/** Results of checks, in the commit's list of facts; nothing if there are none. */
function Checks({ checks: { state, statuses } }: { checks: CommitStatuses }) {
  if (statuses.length === 0) return null;
  return (
    <>
      <dt>Checks</dt>
      <dd>
        <details open={state === "failure"}>
          <summary>
            <span class="badge">{state}</span> {statuses.length} {statuses.length === 1 ? "check" : "checks"}
          </summary>
          <ul>
            {statuses.map((status) => (
              <li>
                <span class="badge">{status.state}</span> <CheckName status={status} />
                {status.description !== null && <bdi>: {visibleLine(status.description)}</bdi>}
              </li>
            ))}
          </ul>
        </details>
      </dd>
    </>
  );
}

function CheckName({ status: { context, url } }: { status: CommitStatuses["statuses"][number] }) {
  const name = <bdi>{visibleLine(context)}</bdi>;
  return url === null ? (
    name
  ) : (
    <a href={url} rel="nofollow noreferrer">
      {name}
    </a>
  );
}

/** Makes a version that changes when a status is set: part of a page's entity tag. */
function versionOf({ statuses }: CommitStatuses): string {
  const times = statuses.map(({ timestamp }) => Date.parse(timestamp));
  return `${statuses.length}.${times.reduce((a, b) => Math.max(a, b), 0)}`;
}

/** The notes that git keeps for a commit, as text; nothing if there are none. */
function Notes({ place, notes: { notes, isWhole } }: { place: PagePlace; notes: CommitNotes }) {
  if (notes.length === 0 && isWhole) return null;
  return (
    <section aria-labelledby="notes">
      <h3 id="notes">Notes</h3>
      {notes.map(({ path, text }) =>
        text === null ? (
          <p>
            Too large to be shown here. <a href={pathUrl(place, "raw", NOTES_REF, path)}>Download it</a>
          </p>
        ) : (
          <pre class="plain" dir="auto">
            {visibleText(text)}
          </pre>
        ),
      )}
      {!isWhole && <p>The directory of the notes is too large to be searched.</p>}
    </section>
  );
}

/** Makes a version that changes with the notes: part of a page's entity tag. */
function versionOfNotes({ notes, isWhole }: CommitNotes): string {
  return [...notes.map(({ oid }) => oid), isWhole ? "" : "part"].join(".");
}
