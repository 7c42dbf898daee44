import { decodeText, encodeText } from "../../../base/format/byte-string.ts";
import { GitError } from "../../../base/format/errors.ts";
import { Choice, type Faults, FaultNote, NO_FAULTS, TextField } from "../parts/fields.tsx";
import { refusalOf } from "../parts/form-faults.ts";
import { readForm, textOf } from "../parts/forms.ts";
import { settingsUrl, showSettings } from "../parts/settings-frame.tsx";
import { visibleLine } from "../parts/text.ts";
import { Ago, toIso } from "../parts/times.tsx";
import type { PageContext } from "../parts/web-env.ts";
import type { RepositoryClient } from "../../../contract/calls.ts";

const MAX_FORM_BYTES = 64 * 1024;

/** Maximum number of refused refs shown for a mirror. */
const SHOWN_REFUSALS = 20;

const LABELS = { url: "Address", authorization: "Authorization", refs: "Refs" } as const;

type Mirror = Awaited<ReturnType<RepositoryClient["mirror"]>>;
type Refused = Awaited<ReturnType<RepositoryClient["mirrorRefs"]>>["refs"];

/** Result of a form, shown beside the list. A credential is never shown again. */
interface Sent {
  readonly status: number;
  readonly faults: Faults;
  readonly typed: {
    readonly url: string;
    readonly refs: string;
    readonly force: boolean;
    readonly prune: boolean;
    readonly lfs: boolean;
  };
}

const NOTHING_SENT: Sent = {
  status: 200,
  faults: NO_FAULTS,
  typed: { url: "", refs: "refs/heads/ refs/tags/", force: false, prune: false, lfs: false },
};

/** Actions of a mirror's buttons. */
const ACTIONS: Readonly<Record<string, (repository: RepositoryClient, id: string) => Promise<unknown>>> = {
  sync: (repository, id) => repository.syncMirror(id),
  delete: (repository, id) => repository.deleteMirror(id),
};

/** `/{owner}/{repo}/settings/mirrors`: mirrors of the repository on other hosts. */
export function mirrorsPage(context: PageContext): Promise<Response> {
  return show(context, NOTHING_SENT);
}

/** `POST /{owner}/{repo}/settings/mirrors`: creates a mirror. */
export async function makeMirror(context: PageContext): Promise<Response> {
  const form = await readForm(context.req.raw, MAX_FORM_BYTES);
  const url = textOf(form, "url").trim();
  const authorization = textOf(form, "authorization").trim();
  const refs = textOf(form, "refs");
  const typed = { url, refs, force: form.has("force"), prune: form.has("prune"), lfs: form.has("lfs") };
  try {
    const prefixes = refs.split(/\s+/).filter((prefix) => prefix !== "");
    await context.get("repository").createMirror({
      url,
      authorization: authorization === "" ? null : authorization,
      prefixes: prefixes.map(encodeText),
      force: typed.force,
      prune: typed.prune,
      maxPackBytes: null,
      sendsLfs: typed.lfs,
    });
  } catch (error) {
    return show(context, { typed, ...refusalOf(error, { url: "url", authorization: "authorization", refs: "refs" }) });
  }
  return context.redirect(settingsUrl(context, "mirrors"), 303);
}

/** `POST /{owner}/{repo}/settings/mirrors/change`: carries out a mirror's button. */
export async function changeMirror(context: PageContext): Promise<Response> {
  const form = await readForm(context.req.raw, MAX_FORM_BYTES);
  const action = textOf(form, "action");
  if (!Object.hasOwn(ACTIONS, action)) throw new GitError("invalid", { what: "action", actual: action });
  await ACTIONS[action]!(context.get("repository"), textOf(form, "id"));
  return context.redirect(settingsUrl(context, "mirrors"), 303);
}

async function show(context: PageContext, { status, faults, typed }: Sent): Promise<Response> {
  const repository = context.get("repository");
  const mirrors = await repository.mirrors();
  const shown = await Promise.all(
    mirrors.map(async (mirror) => ({ mirror, refused: await readRefused(repository, mirror) })),
  );
  const url = settingsUrl(context, "mirrors");
  return showSettings(context, "mirrors", {
    status,
    children: (
      <>
        <p>A mirror is a repository at another host that is sent what is pushed here.</p>
        {shown.length === 0 ? (
          <p>There are none.</p>
        ) : (
          <ul class="repos">
            {shown.map(({ mirror, refused }) => (
              <li>
                <Shown mirror={mirror} refused={refused} url={url} />
              </li>
            ))}
          </ul>
        )}
        <NewForm url={url} typed={typed} faults={faults} />
      </>
    ),
  });
}

async function readRefused(repository: RepositoryClient, { id, refused }: Mirror): Promise<Refused> {
  if (refused === 0) return [];
  return (await repository.mirrorRefs({ id, after: null, limit: SHOWN_REFUSALS, isRefused: true })).refs;
}

function Shown({ mirror, refused, url }: { mirror: Mirror; refused: Refused; url: string }) {
  const { id, state, error, syncedMs, refs, prefixes, force, prune, underWay, lfs } = mirror;
  const shownUrl = visibleLine(mirror.url);
  const words = [force && "forced", prune && "prunes", lfs !== null && "Git LFS"].filter((word) => word !== false);
  return (
    <>
      <p>
        <strong>
          <bdi>{shownUrl}</bdi>
        </strong>{" "}
        <span class="badge">{state}</span>
        {words.map((word) => (
          <>
            {" "}
            <span class="badge">{word}</span>
          </>
        ))}
      </p>
      <p class="muted">
        <bdi>{visibleLine(decodeText(prefixes.join(" ")))}</bdi>; {refs} refs
        {syncedMs !== null && (
          <>
            ; up to date <Ago iso={toIso(syncedMs)} nowMs={Date.now()} />
          </>
        )}
        {underWay !== null && `; ${underWay.done} of ${underWay.total} bytes are sent`}
        {lfs !== null && <bdi>; {describeLfs(lfs)}</bdi>}
        {error !== null && <bdi>; {visibleLine(error)}</bdi>}
      </p>
      {refused.length > 0 && <Refusals refused={refused} count={mirror.refused} />}
      <form class="row links" method="post" action={`${url}/change`} aria-label={`Mirror ${shownUrl}`}>
        <input type="hidden" name="id" value={id} />
        <button name="action" value="sync">
          Send now
        </button>
        <button name="action" value="delete">
          Delete
        </button>
      </form>
    </>
  );
}

function describeLfs({ objects, missing, refused, refusal }: NonNullable<Mirror["lfs"]>): string {
  const parts = [`${objects} objects of Git LFS were sent`];
  if (missing > 0) parts.push(`${missing} are not here`);
  if (refused > 0) parts.push(`${refused} are refused, such as ${visibleLine(refusal ?? "")}`);
  return parts.join(", ");
}

function Refusals({ refused, count }: { refused: Refused; count: number }) {
  return (
    <details open>
      <summary>{count === 1 ? "One ref is not as here" : `${count} refs are not as here`}</summary>
      <ul aria-label="Refused">
        {refused.map(({ name, refusal }) => (
          <li>
            <bdi>{visibleLine(decodeText(name))}</bdi>: <bdi>{visibleLine(refusal ?? "")}</bdi>
          </li>
        ))}
      </ul>
    </details>
  );
}

function NewForm({ url, typed, faults }: { url: string; typed: Sent["typed"]; faults: Faults }) {
  return (
    <form class="narrow" method="post" action={url}>
      <h3>A new mirror</h3>
      <FaultNote faults={faults} labels={LABELS} />
      <TextField
        name="url"
        label={LABELS.url}
        faults={faults}
        value={typed.url}
        maxlength={2_000}
        type="url"
        required
        hint="Where git would push to."
      />
      <TextField
        name="authorization"
        label={LABELS.authorization}
        faults={faults}
        type="password"
        maxlength={8_000}
        autocomplete="off"
        hint="The header that the other host wants, such as Bearer and a token. Stored encrypted, never shown."
      />
      <TextField
        name="refs"
        label={LABELS.refs}
        faults={faults}
        value={typed.refs}
        maxlength={100_000}
        spellcheck={false}
        required
        hint="What the names of the refs to send begin with, with blanks between them."
      />
      <Choice type="checkbox" name="force" value="on" isChosen={typed.force}>
        Overwrite what has other commits there
      </Choice>
      <Choice type="checkbox" name="prune" value="on" isChosen={typed.prune}>
        Delete refs there that are not here
      </Choice>
      <Choice type="checkbox" name="lfs" value="on" isChosen={typed.lfs}>
        Send objects of Git LFS, too
      </Choice>
      <p>
        <button class="main">Make the mirror</button>
      </p>
    </form>
  );
}
