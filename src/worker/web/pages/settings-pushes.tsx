import type { QuotaService } from "../../shared/deployment.ts";
import type { RecordedPush } from "../../../contract/tally.ts";
import { includesRight } from "../../../base/access/caller.ts";
import { showSize } from "../parts/file-box.tsx";
import { type Faults, FaultNote, NO_FAULTS, TextField } from "../parts/fields.tsx";
import { invalid, type Refusal } from "../parts/form-faults.ts";
import { readForm, textOf } from "../parts/forms.ts";
import { settingsUrl, showSettings } from "../parts/settings-frame.tsx";
import { shortId, visibleLine } from "../parts/text.ts";
import { Ago } from "../parts/times.tsx";
import { readNumber } from "../parts/query.ts";
import type { PageContext } from "../parts/web-env.ts";

const MAX_FORM_BYTES = 4 * 1024;

/** Maximum number of pushes on a page, and of refs shown for each. */
const PAGE_PUSHES = 50;
const SHOWN_REFS = 10;

type Quota = Awaited<ReturnType<QuotaService["read"]>>;

const LABELS = { maxBytes: "Bytes at most", maxObjects: "Objects at most" } as const;

/** `/{owner}/{repo}/settings/pushes`: the push log, and the quota. */
export function pushesPage(context: PageContext): Promise<Response> {
  return show(context, null);
}

/** `POST /{owner}/{repo}/settings/pushes`: sets the quota. Only for the operator. */
export async function saveQuota(context: PageContext): Promise<Response> {
  const form = await readForm(context.req.raw, MAX_FORM_BYTES);
  const typed = { maxBytes: textOf(form, "maxBytes").trim(), maxObjects: textOf(form, "maxObjects").trim() };
  const faults: Faults = Object.fromEntries(
    Object.entries(typed)
      .filter(([, text]) => text !== "" && !/^\d{1,15}$/.test(text))
      .map(([name]) => [name, "A whole number, or nothing for no limit."]),
  );
  if (Object.keys(faults).length > 0) return show(context, { ...invalid(faults), typed });
  const toLimit = (text: string): number | null => (text === "" ? null : Number(text));
  const { owner, name } = context.get("place");
  const change = { maxBytes: toLimit(typed.maxBytes), maxObjects: toLimit(typed.maxObjects) };
  await context.get("host").quotas.set({ owner, repository: name }, change);
  return context.redirect(settingsUrl(context, "pushes"), 303);
}

async function show(
  context: PageContext,
  refused: (Refusal & { typed: Readonly<Record<keyof typeof LABELS, string>> }) | null,
): Promise<Response> {
  const { owner, name, right } = context.get("place");
  const before = readNumber(new URL(context.req.url).searchParams, "before", 1, Number.MAX_SAFE_INTEGER);
  const [quota, { pushes, next }] = await Promise.all([
    context.get("host").quotas.read({ owner, repository: name }),
    context.get("repository").pushes({ ref: null, before, limit: PAGE_PUSHES }),
  ]);
  const faults = refused?.faults ?? NO_FAULTS;
  const typed = refused?.typed ?? {
    maxBytes: String(quota.maxBytes ?? ""),
    maxObjects: String(quota.maxObjects ?? ""),
  };
  const url = settingsUrl(context, "pushes");
  return showSettings(context, "pushes", {
    status: refused?.status ?? 200,
    children: (
      <>
        <PushTable pushes={pushes} />
        {next !== null && (
          <p>
            <a class="button" href={`${url}?before=${next}`}>
              Older
            </a>
          </p>
        )}
        <h3>Quota</h3>
        <QuotaFacts quota={quota} />
        {includesRight(right, "operate") && (
          <form class="narrow" method="post" action={url}>
            <FaultNote faults={faults} labels={LABELS} />
            <div class="columns">
              <TextField
                name="maxBytes"
                label={LABELS.maxBytes}
                faults={faults}
                value={typed.maxBytes}
                inputmode="numeric"
              />
              <TextField
                name="maxObjects"
                label={LABELS.maxObjects}
                faults={faults}
                value={typed.maxObjects}
                inputmode="numeric"
              />
            </div>
            <p>
              <button>Set the quota</button>
            </p>
          </form>
        )}
      </>
    ),
  });
}

function QuotaFacts({ quota: { sizeBytes, objectCount, effective } }: { quota: Quota }) {
  const { maxBytes, maxObjects } = effective;
  return (
    <p>
      {showSize(sizeBytes)} of {maxBytes === null ? "any number" : showSize(maxBytes)},{" "}
      {objectCount.toLocaleString("en")} objects of{" "}
      {maxObjects === null ? "any number" : maxObjects.toLocaleString("en")}. Only the operator changes that.
    </p>
  );
}

function PushTable({ pushes }: { pushes: readonly RecordedPush[] }) {
  if (pushes.length === 0) return <p>There was no push in the last 90 days.</p>;
  const nowMs = Date.now();
  return (
    <div class="box wide" tabindex={0} role="region" aria-label="Pushes">
      <table class="list">
        <caption class="hush">Pushes of the last 90 days</caption>
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">Who</th>
            <th scope="col">Refs</th>
            <th scope="col">Size</th>
          </tr>
        </thead>
        <tbody>
          {pushes.map(({ time, who, refs, refCount, packBytes, objects }) => (
            <tr>
              <td>
                <Ago iso={time.replace(/\.\d+Z$/, "+00:00")} nowMs={nowMs} />
              </td>
              <td>{who === null ? "anyone" : <bdi>{visibleLine(who)}</bdi>}</td>
              <td>
                {refs.slice(0, SHOWN_REFS).map((ref) => (
                  <div>
                    <bdi>{visibleLine(ref.name)}</bdi>{" "}
                    <code class="muted">
                      {ref.old === null ? "new" : shortId(ref.old)} → {ref.new === null ? "deleted" : shortId(ref.new)}
                    </code>
                  </div>
                ))}
                {refCount > SHOWN_REFS && (
                  <div class="muted">and {(refCount - SHOWN_REFS).toLocaleString("en")} more</div>
                )}
              </td>
              <td>
                {showSize(packBytes)}, {objects.toLocaleString("en")} objects
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
