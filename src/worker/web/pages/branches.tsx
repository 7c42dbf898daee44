import { includesRight } from "../../../base/access/caller.ts";
import { decodeText, encodeText } from "../../../base/format/byte-string.ts";
import { GitError, isGitError, statusOf } from "../../../base/format/errors.ts";
import { isPushableRefName, branchRev } from "../../../base/format/ref-name.ts";
import type { ListedBranch } from "../../../contract/pages.ts";
import { CommitLine } from "../parts/commit-line.tsx";
import { FeedLink } from "../parts/feed.tsx";
import { readForm } from "../parts/forms.ts";
import { PAGE_ITEMS, Pager, readStart } from "../parts/pager.tsx";
import { PlaceHeader } from "../parts/place-header.tsx";
import { deleteNamed, DeleteForm } from "../parts/ref-rows.tsx";
import { showPage } from "../parts/show-page.tsx";
import { visibleLine, visibleName } from "../parts/text.ts";
import { compareUrl, feedUrl, pathUrl, placeUrl } from "../parts/urls.ts";
import type { PageContext, PagePlace } from "../parts/web-env.ts";

const MAX_FORM_BYTES = 16 * 1024;

/** The reason why a form is shown again. */
interface Refusal {
  readonly status: number;
  readonly reason: string;
  readonly name: string;
  readonly from: string;
}

/** `/{owner}/{repo}/branches`. */
export function branchesPage(context: PageContext): Promise<Response> {
  return showBranches(context, null);
}

/** Creates a branch. */
export async function createBranch(context: PageContext): Promise<Response> {
  const form = await readForm(context.req.raw, MAX_FORM_BYTES);
  const [name, from] = [form.get("name") ?? "", form.get("from") ?? ""].map((text) => text.trim());
  try {
    const encoded = encodeText(name!);
    if (!isPushableRefName(`refs/heads/${encoded}`, false)) throw new GitError("bad-ref-name", { name: name! });
    await context.get("repository").createBranch({ name: encoded, startPoint: from || "HEAD" });
    return context.redirect(pathUrl(context.get("place"), "tree", branchRev(encoded), ""), 303);
  } catch (error) {
    if (!isGitError(error) || error.code === "unauthenticated" || statusOf(error.code) >= 500) throw error;
    return showBranches(context, { status: statusOf(error.code), reason: error.message, name: name!, from: from! });
  }
}

/** Deletes a branch. */
export async function deleteBranch(context: PageContext): Promise<Response> {
  await deleteNamed(context, "refs/heads/");
  return context.redirect(placeUrl(context.get("place"), "branches"), 303);
}

async function showBranches(context: PageContext, refusal: Refusal | null): Promise<Response> {
  const place = context.get("place");
  const start = readStart(new URL(context.req.url).searchParams);
  const { main, branches, total } = await context.get("repository").branchesPage({ start, limit: PAGE_ITEMS });
  const canWrite = includesRight(place.right, "write");
  return showPage(context, {
    title: `Branches · ${place.owner}/${place.name}`,
    status: refusal?.status ?? 200,
    content: (
      <>
        <PlaceHeader place={place} tab="branches" />
        <h2>Branches</h2>
        {canWrite && main !== null && <CreateForm place={place} main={main} refusal={refusal} />}
        {main === null && branches.length === 0 && <p>There are none yet.</p>}
        {main !== null && (
          <section class="box" aria-labelledby="default">
            <div class="head">
              <h3 id="default">Default</h3>
            </div>
            <BranchList place={place} branches={[main]} main={main} canWrite={false} />
          </section>
        )}
        {branches.length > 0 && (
          <section class="box" aria-labelledby="others">
            <div class="head">
              <h3 id="others">Others, the newest first</h3>
            </div>
            <BranchList place={place} branches={branches} main={main} canWrite={canWrite} />
          </section>
        )}
        <Pager here={placeUrl(place, "branches")} start={start} total={total} first="Newest" further="Older" />
      </>
    ),
  });
}

function BranchList({
  place,
  branches,
  main,
  canWrite,
}: {
  place: PagePlace;
  branches: readonly ListedBranch[];
  main: ListedBranch | null;
  canWrite: boolean;
}) {
  const nowMs = Date.now();
  return (
    <ul class="refs">
      {branches.map(({ name, tip, commit, ahead, behind, isDefault }) => (
        <li>
          <div class="row">
            <a class="name" href={pathUrl(place, "tree", branchRev(name), "")}>
              <bdi>{visibleName(name)}</bdi>
            </a>
            <span class="muted">
              {!isDefault && main !== null && ahead !== null && (
                <a href={compareUrl(place, branchRev(main.name), branchRev(name))}>
                  {ahead.toLocaleString("en")} ahead, {behind!.toLocaleString("en")} behind
                </a>
              )}
            </span>
            <div class="push row">
              <a href={pathUrl(place, "commits", branchRev(name), "")}>
                Commits<span class="hush"> of {visibleName(name)}</span>
              </a>
              <FeedLink href={feedUrl(place, branchRev(name))} of={visibleName(name)} />
              {canWrite && <DeleteForm action={placeUrl(place, "branches/delete")} name={name} expected={commit} />}
            </div>
          </div>
          <div class="row muted">
            <CommitLine place={place} commit={tip} nowMs={nowMs} />
          </div>
        </li>
      ))}
    </ul>
  );
}

function CreateForm({ place, main, refusal }: { place: PagePlace; main: ListedBranch; refusal: Refusal | null }) {
  return (
    <form class="row choose" method="post" action={placeUrl(place, "branches")} aria-label="New branch">
      {refusal !== null && (
        <p class="fault" role="alert">
          <strong>Nothing was created:</strong> {visibleLine(refusal.reason)}.
        </p>
      )}
      <div class="grow">
        <label for="name">New branch</label>
        <input id="name" name="name" value={refusal?.name ?? ""} maxlength={1_000} required />
      </div>
      <div class="grow">
        <label for="from">From</label>
        <input
          id="from"
          name="from"
          value={refusal?.from ?? decodeText(branchRev(main.name))}
          maxlength={1_000}
          required
        />
      </div>
      <button>Create</button>
    </form>
  );
}
