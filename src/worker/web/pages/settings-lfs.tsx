import { isGitError } from "../../../base/format/errors.ts";
import { showSize } from "../parts/file-box.tsx";
import { readForm, textOf } from "../parts/forms.ts";
import { settingsUrl, showSettings } from "../parts/settings-frame.tsx";
import { visibleLine } from "../parts/text.ts";
import { Ago, toIso } from "../parts/times.tsx";
import type { PageContext } from "../parts/web-env.ts";
import type { RepositoryClient } from "../../../contract/calls.ts";

const MAX_FORM_BYTES = 4 * 1024;

/** Maximum number of locks on a page. */
const PAGE_LOCKS = 100;

type Lock = Awaited<ReturnType<RepositoryClient["listLocks"]>>["locks"][number];
type State = Awaited<ReturnType<RepositoryClient["lfsState"]>>;

/** `POST /{owner}/{repo}/settings/lfs`: unlocks a file, even if another person locked it. */
export async function unlockLocked(context: PageContext): Promise<Response> {
  const id = textOf(await readForm(context.req.raw, MAX_FORM_BYTES), "id");
  try {
    await context.get("repository").unlockFile({ id, force: true, ref: null });
  } catch (error) {
    // The lock is already gone.
    if (!isGitError(error, "not-found")) throw error;
  }
  return context.redirect(settingsUrl(context, "lfs"), 303);
}

/** `/{owner}/{repo}/settings/lfs`: objects stored for Git LFS, and locks. */
export async function lfsPage(context: PageContext): Promise<Response> {
  const repository = context.get("repository");
  const after = new URL(context.req.url).searchParams.get("after") ?? "";
  const [state, { locks, next }] = await Promise.all([
    repository.lfsState(),
    repository.listLocks({ after, limit: PAGE_LOCKS }),
  ]);
  const url = settingsUrl(context, "lfs");
  return showSettings(context, "lfs", {
    children: (
      <>
        <Facts state={state} />
        <h3>Locks</h3>
        {locks.length === 0 ? <p>No file is locked.</p> : <LockTable locks={locks} url={url} />}
        {next !== null && (
          <p>
            <a class="button" href={`${url}?after=${encodeURIComponent(next)}`}>
              More
            </a>
          </p>
        )}
      </>
    ),
  });
}

function Facts({ state: { objects, sizeBytes, sharedBytes } }: { state: State }) {
  return (
    <p>
      Git LFS keeps the contents of large files beside the history: {objects.toLocaleString("en")}{" "}
      {objects === 1 ? "object" : "objects"} here, {showSize(sizeBytes)}
      {sharedBytes > 0 && `, of which others of the family keep ${showSize(sharedBytes)}`}.
    </p>
  );
}

function LockTable({ locks, url }: { locks: readonly Lock[]; url: string }) {
  const nowMs = Date.now();
  return (
    <div class="box wide" tabindex={0} role="region" aria-label="Locks">
      <table class="list">
        <caption class="hush">Locked files</caption>
        <thead>
          <tr>
            <th scope="col">File</th>
            <th scope="col">Who</th>
            <th scope="col">When</th>
            <th scope="col">
              <span class="hush">Unlock</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {locks.map(({ id, path, ownerName, lockedMs }) => (
            <tr>
              <td>
                <bdi>{visibleLine(path)}</bdi>
              </td>
              <td>
                <bdi>{visibleLine(ownerName ?? "")}</bdi>
              </td>
              <td>
                <Ago iso={toIso(lockedMs)} nowMs={nowMs} />
              </td>
              <td>
                <form method="post" action={url}>
                  <input type="hidden" name="id" value={id} />
                  <button>
                    Unlock<span class="hush"> {visibleLine(path)}</span>
                  </button>
                </form>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
