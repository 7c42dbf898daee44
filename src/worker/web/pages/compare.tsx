import { includesRight } from "../../../base/access/caller.ts";
import { visibleName, visibleLine, toHtml } from "../parts/text.ts";
import { decodeText, encodeText } from "../../../base/format/byte-string.ts";
import { GitError, isGitError, statusOf } from "../../../base/format/errors.ts";
import { isHexOid } from "../../../base/format/oid.ts";
import { type Family, type Foreign, parseRange, type Range, relate, type Relation } from "../../shared/comparison.ts";
import type { ComparePage } from "../../../contract/pages.ts";
import type { ShownConflict } from "../../../base/format/conflict.ts";
import { CommitList } from "../parts/commit-list.tsx";
import { readForm } from "../parts/forms.ts";
import { PlaceHeader } from "../parts/place-header.tsx";
import { showPage } from "../parts/show-page.tsx";
import { urlParts, compareUrl, pathUrl, placeUrl } from "../parts/urls.ts";
import type { PageContext, PagePlace } from "../parts/web-env.ts";
import { DIFF_QUERY, readAskedDiff, streamDiff } from "./shown-diff.ts";
import type { RepositoryClient } from "../../../contract/calls.ts";

/** Maximum number of commits listed. */
const MAX_COMMITS = 250;

/** Maximum size in bytes of the merge form: a message, and names. */
const MAX_FORM_BYTES = 64 * 1024;

/** The reason why a merge was refused. */
interface Refusal {
  readonly status: number;
  readonly reason: string;
  readonly conflicts: readonly ShownConflict[];
  readonly typed: TypedMerge;
}

/** Query parameters of the page. */
export const COMPARE_QUERY = ["base", "head", "at", ...DIFF_QUERY];

/** `/{owner}/{repo}/compare/{base}...{head}`: the changes of head since base. Without a range: a
 * form to choose one. */
export async function comparePage(context: PageContext): Promise<Response> {
  const place = context.get("place");
  const query = new URL(context.req.url).searchParams;
  const range = parseRange(urlParts(context).join("/"));
  const typed = query.get("head");
  if (range === null && typed !== null && typed.trim() !== "") {
    const [base, head] = [query.get("base") ?? "", typed].map((side) => encodeText(side.trim()));
    return context.redirect(compareUrl(place, base!, head!), 303);
  }
  return range === null ? showForm(context) : showRange(context, range, null);
}

/** Merges head into base. */
export async function mergeCompared(context: PageContext): Promise<Response> {
  const place = context.get("place");
  const range = parseRange(urlParts(context).join("/"));
  if (range === null) throw new GitError("invalid", { what: "range", reason: "it must be base...head" });
  const form = await readForm(context.req.raw, MAX_FORM_BYTES);
  const field = (name: string): string => form.get(name) ?? "";
  const typed = { message: field("message"), name: field("name"), email: field("email") };
  try {
    const local = context.get("repository");
    const [{ base, head, foreign }, { sides }] = await Promise.all([
      relate(local, familyOf(context), range, null),
      local.comparePage({ names: [range.base] }),
    ]);
    if (base !== field("base") || head !== field("head"))
      throw new GitError("conflict", { what: "merge", reason: "a branch has moved since: look at the changes again" });
    const person = { name: encodeText(typed.name.trim()), email: encodeText(typed.email.trim()) };
    const ident = { ...person, timeSeconds: Math.floor(Date.now() / 1_000), zone: "+0000" };
    const message = typed.message.replaceAll("\r\n", "\n").trim();
    await local.merge({
      branch: sides[0]!.short,
      head: foreign.head === null ? head : nameOf(foreign.head),
      source: foreign.head === null ? null : { repository: foreign.head.repository, branch: foreign.head.branch },
      expected: base,
      isDryRun: false,
      fastForward: field("fastForward") === "never" ? "never" : "allow",
      message: message === "" ? null : encodeText(`${message}\n`),
      author: ident,
      committer: ident,
    });
  } catch (error) {
    if (!isGitError(error) || error.code === "unauthenticated" || statusOf(error.code) >= 500) throw error;
    const conflicts = error.code === "conflict" ? (error.data.conflicts ?? []) : [];
    return showRange(context, range, { status: statusOf(error.code), reason: error.message, conflicts, typed });
  }
  return context.redirect(pathUrl(place, "commits", range.base, ""), 303);
}

async function showForm(context: PageContext): Promise<Response> {
  const place = context.get("place");
  const page = await context.get("repository").comparePage({ names: [] });
  return showPage(context, {
    title: `Compare · ${place.owner}/${place.name}`,
    content: (
      <>
        <PlaceHeader place={place} tab="compare" />
        <h2>Compare</h2>
        <ChooseForm place={place} page={page} range={null} />
      </>
    ),
  });
}

async function showRange(context: PageContext, range: Range, refusal: Refusal | null): Promise<Response> {
  const place = context.get("place");
  const local = context.get("repository");
  const query = new URL(context.req.url).searchParams;
  const ids = readIds(query.get("at"));
  const [relation, page] = await Promise.all([
    relate(local, familyOf(context), range, ids),
    local.comparePage({ names: [range.base, range.head] }),
  ]);
  const { base, head, mergeBase, foreign, repository } = relation;
  const from = range.isSinceMergeBase && mergeBase !== null ? mergeBase : base;
  if (mergeBase === null && (foreign.base !== null || foreign.head !== null))
    throw new GitError("conflict", { what: "comparison", reason: "the branches have no common ancestor" });
  const dots = range.isSinceMergeBase ? "..." : "..";
  const here = compareUrl(place, range.base, range.head, dots);
  const asked = readAskedDiff(query, here, { at: `${base}.${head}` });
  const canMerge = range.isSinceMergeBase && ids === null && relation.ahead > 0 && foreign.base === null;
  const isMergeable = canMerge && page.sides[0]!.kind === "branch" && includesRight(place.right, "write");
  const top = toHtml(
    <>
      <PlaceHeader place={place} tab="compare" />
      <h2>
        Compare <bdi>{visibleName(range.base)}</bdi> and <bdi>{visibleName(range.head)}</bdi>
      </h2>
      <ChooseForm place={place} page={page} range={range} />
      <Standing relation={relation} range={range} />
      {refusal !== null && <RefusalNote refusal={refusal} />}
      {isMergeable && (
        <MergeForm
          action={here}
          branch={page.sides[0]!.short}
          ids={relation}
          typed={refusal?.typed ?? { message: messageFor(page, foreign.head), ...(await personOf(context)) }}
          isOpen={refusal !== null}
        />
      )}
    </>,
  );
  const headPlace = foreign.head?.entry ?? place;
  const sides = { old: { place: headPlace, commit: from }, next: { place: headPlace, commit: head } };
  const isFirst = asked.start === 0 && asked.file === null;
  const more = async () => (isFirst ? listCommits(repository, relation, headPlace) : "");
  return showPage(context, {
    title: `${visibleName(range.base)}${dots}${visibleName(range.head)} · ${place.owner}/${place.name}`,
    status: refusal?.status ?? 200,
    content: await streamDiff(top, repository, { base: from, head }, asked, sides, more),
  });
}

/** Renders the commits that head has and base lacks as HTML. */
async function listCommits(
  repository: RepositoryClient,
  { bases, head, ahead }: Relation,
  place: Pick<PagePlace, "owner" | "name">,
): Promise<string> {
  if (ahead === 0) return "";
  const commits = await repository.commitsBetween({ bases, head, limit: MAX_COMMITS });
  const listed = commits.map((commit) => ({ ...commit, path: null }));
  return toHtml(
    <details class="listed" open={commits.length <= 20}>
      <summary>
        <h3>
          {ahead.toLocaleString("en")} {ahead === 1 ? "commit" : "commits"}
        </h3>
      </summary>
      <CommitList place={place} commits={listed} path="" lines={null} nowMs={Date.now()} headingLevel={4} />
      {ahead > commits.length && <p>These are the newest {commits.length}.</p>}
    </details>,
  );
}

/** Numbers of commits by which the sides differ. */
function Standing({ relation: { base, head, mergeBase, ahead, behind }, range }: { relation: Relation; range: Range }) {
  const count = (number: number) => `${number.toLocaleString("en")} ${number === 1 ? "commit" : "commits"}`;
  if (base === head) return <p>Both are the same commit.</p>;
  return (
    <p>
      <bdi>{visibleName(range.head)}</bdi> is {count(ahead)} ahead of <bdi>{visibleName(range.base)}</bdi>, and{" "}
      {count(behind)} behind.
      {mergeBase === null && " They have no common ancestor: the files are compared directly."}
    </p>
  );
}

function ChooseForm({ place, page, range }: { place: PagePlace; page: ComparePage; range: Range | null }) {
  const { branches, tags } = page.choices;
  const side = (name: "base" | "head", label: string, value: string) => (
    <div class="grow">
      <label for={name}>{label}</label>
      <input id={name} name={name} value={value} list="refs" maxlength={1_000} required={name === "head"} />
    </div>
  );
  return (
    <form class="row choose" action={placeUrl(place, "compare")} aria-label="Choose what to compare">
      {side("base", "Base", visibleName(range?.base ?? page.defaultRev ?? ""))}
      {side("head", "Compare with it", visibleName(range?.head ?? ""))}
      <button>Compare</button>
      <datalist id="refs">
        {[...branches, ...tags].map(({ rev }) => (
          <option value={visibleName(rev)} />
        ))}
      </datalist>
    </form>
  );
}

function RefusalNote({ refusal: { reason, conflicts } }: { refusal: Refusal }) {
  return (
    <div class="fault" role="alert">
      <p>
        <strong>Nothing was merged:</strong> {visibleLine(reason)}.
      </p>
      {conflicts.length > 0 && (
        <ul>
          {conflicts.map(({ path, kind, hunks }) => (
            <li>
              <bdi>{visibleLine(path)}</bdi>: {kind}
              {hunks.length > 0 &&
                ` (from line ${hunks
                  .map(({ ours }) => ours.start)
                  .slice(0, 10)
                  .join(", ")})`}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** Writes the message that git would write. @see git-fmt-merge-msg(1) */
function messageFor({ sides }: ComparePage, foreign: Foreign | null): string {
  const [base, head] = sides.map(({ short }) => decodeText(short));
  const into = base === "main" || base === "master" ? "" : ` into ${base}`;
  if (foreign === null) return `Merge ${sides[1]!.kind} '${head}'${into}`;
  return `Merge branch '${decodeText(foreign.branch)}' of ${foreign.entry.owner}/${foreign.entry.name}${into}`;
}

/** Names a branch of another repository in messages. */
function nameOf({ entry, branch }: Foreign): string {
  return `${entry.owner}/${entry.name}:${decodeText(branch)}`;
}

async function personOf(context: PageContext): Promise<Omit<TypedMerge, "message">> {
  const visitor = await context.get("host").visitor();
  return { name: visitor.kind === "signed-in" ? visitor.name : "", email: "" };
}

/** Reads two full ids with a dot between them: the commits that a page compares, even if the names
 * have moved. */
function readIds(text: string | null): { base: string; head: string } | null {
  if (text === null) return null;
  const [base = "", head = ""] = text.split(".");
  if (!isHexOid(base) || !isHexOid(head)) throw new GitError("invalid", { what: "at", reason: "it must be two ids" });
  return { base, head };
}

function familyOf(context: PageContext): Family {
  const { registry } = context.get("host");
  const entry = async () => {
    const found = await registry.read(context.get("place"));
    if (found === null) throw new GitError("not-found", { subject: "repository" });
    return found;
  };
  return { registry, entry };
}

/** Input of the merge form, as text. */
interface TypedMerge {
  readonly message: string;
  readonly name: string;
  readonly email: string;
}

/** The form to merge head into base.
 * @param branch that gets the commits, byte string
 * @param ids of the commits that the visitor has seen, in hex: only these are merged */
function MergeForm({
  action,
  branch,
  ids,
  typed: { message, name, email },
  isOpen,
}: {
  action: string;
  branch: string;
  ids: { readonly base: string; readonly head: string };
  typed: TypedMerge;
  isOpen: boolean;
}) {
  return (
    <details class="box merge" open={isOpen}>
      <summary>
        Merge into <bdi>{visibleName(branch)}</bdi>
      </summary>
      <form method="post" action={action}>
        <input type="hidden" name="base" value={ids.base} />
        <input type="hidden" name="head" value={ids.head} />
        <label for="message">Message</label>
        <textarea id="message" name="message" rows={4}>
          {`\n${message}`}
        </textarea>
        <label for="name">Your name</label>
        <input id="name" name="name" value={name} autocomplete="name" maxlength={1_000} required />
        <label for="email">Your email</label>
        <input id="email" name="email" type="email" value={email} autocomplete="email" maxlength={1_000} required />
        <label>
          <input type="checkbox" name="fastForward" value="never" /> Make a merge commit even if the branch could simply
          move forward
        </label>
        <p>
          <button class="main">Merge</button>
        </p>
      </form>
    </details>
  );
}
