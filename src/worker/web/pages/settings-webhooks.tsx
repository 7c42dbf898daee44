import { GitError } from "../../../base/format/errors.ts";
import { type Faults, FaultNote, NO_FAULTS, SelectField, TextField } from "../parts/fields.tsx";
import { refusalOf } from "../parts/form-faults.ts";
import { readForm, textOf } from "../parts/forms.ts";
import { settingsUrl, showSettings } from "../parts/settings-frame.tsx";
import { ShownOnce } from "../parts/shown-once.tsx";
import { visibleLine, visibleText } from "../parts/text.ts";
import { Ago, toIso } from "../parts/times.tsx";
import type { PageContext } from "../parts/web-env.ts";
import type { RepositoryClient } from "../../../contract/calls.ts";

const MAX_FORM_BYTES = 64 * 1024;

const LABELS = { url: "Address", format: "Format", events: "Events", secret: "Secret" } as const;

const FORMATS = { standard: "Standard Webhooks", github: "as GitHub" } as const;

type Webhook = Awaited<ReturnType<RepositoryClient["webhook"]>>;
type Delivery = Awaited<ReturnType<RepositoryClient["pingWebhook"]>>;

/** Result of a form, shown beside the list. */
interface Sent {
  readonly status: number;
  readonly faults: Faults;
  readonly typed: Readonly<Record<keyof typeof LABELS, string>>;
  /** A new secret; null: none. */
  readonly secret: string | null;
}

const NOTHING_SENT: Sent = {
  status: 200,
  faults: NO_FAULTS,
  typed: { url: "", format: "standard", events: "", secret: "" },
  secret: null,
};

/** Actions of a webhook's buttons. */
const ACTIONS: Readonly<Record<string, (repository: RepositoryClient, id: string) => Promise<unknown>>> = {
  ping: (repository, id) => repository.pingWebhook(id),
  enable: (repository, id) => repository.changeWebhook({ id, enabled: true }),
  disable: (repository, id) => repository.changeWebhook({ id, enabled: false }),
  delete: (repository, id) => repository.deleteWebhook(id),
};

/** `/{owner}/{repo}/settings/webhooks`: webhooks, and the deliveries of one (`?webhook`). */
export function webhooksPage(context: PageContext): Promise<Response> {
  return show(context, NOTHING_SENT);
}

/** `POST /{owner}/{repo}/settings/webhooks`: creates a webhook. */
export async function makeWebhook(context: PageContext): Promise<Response> {
  const form = await readForm(context.req.raw, MAX_FORM_BYTES);
  const [url, format, events, secret] = Object.keys(LABELS).map((name) => textOf(form, name).trim()) as [
    string,
    string,
    string,
    string,
  ];
  const typed = { url, format, events, secret };
  try {
    const types = events.split(/[\s,]+/).filter((type) => type !== "");
    const made = await context.get("repository").createWebhook({
      url,
      format: format === "github" ? "github" : "standard",
      events: types.length === 0 ? null : types.slice(0, 20),
      secret: secret === "" ? null : secret,
      origin: new URL(context.req.url).origin,
    });
    // No redirection: the secret is shown once, and no URL may contain it.
    return await show(context, { ...NOTHING_SENT, status: 201, secret: made.secret });
  } catch (error) {
    return show(context, { ...NOTHING_SENT, typed, ...refusalOf(error, { url: "url", secret: "secret" }) });
  }
}

/** `POST /{owner}/{repo}/settings/webhooks/change`: carries out a webhook's button. */
export async function changeWebhook(context: PageContext): Promise<Response> {
  const form = await readForm(context.req.raw, MAX_FORM_BYTES);
  const repository = context.get("repository");
  const [id, action, delivery] = [textOf(form, "id"), textOf(form, "action"), textOf(form, "delivery")];
  const url = settingsUrl(context, "webhooks");
  if (action === "rotate") {
    const { secret } = await repository.rotateSecret({ id, secret: null });
    return show(context, { ...NOTHING_SENT, secret });
  }
  if (action === "redeliver") await repository.redeliver({ id, delivery: Number(delivery) });
  else if (Object.hasOwn(ACTIONS, action)) await ACTIONS[action]!(repository, id);
  else throw new GitError("invalid", { what: "action", actual: action });
  const isShown = action === "ping" || action === "redeliver";
  return context.redirect(isShown ? `${url}?webhook=${encodeURIComponent(id)}` : url, 303);
}

async function show(context: PageContext, { status, faults, typed, secret }: Sent): Promise<Response> {
  const repository = context.get("repository");
  const webhooks = await repository.webhooks();
  const asked = new URL(context.req.url).searchParams.get("webhook");
  const isThere = webhooks.some(({ id }) => id === asked);
  const deliveries = asked !== null && isThere ? await repository.deliveries(asked) : [];
  const url = settingsUrl(context, "webhooks");
  return showSettings(context, "webhooks", {
    status,
    children: (
      <>
        <p>A webhook is an address that is told of pushes and other events, in order.</p>
        {secret !== null && <ShownOnce what="Secret" text={secret} />}
        {webhooks.length === 0 ? (
          <p>There are none.</p>
        ) : (
          <ul class="repos">
            {webhooks.map((webhook) => (
              <li>
                <Shown webhook={webhook} url={url} />
                {webhook.id === asked && <Deliveries id={webhook.id} url={url} deliveries={deliveries} />}
              </li>
            ))}
          </ul>
        )}
        <NewForm url={url} typed={typed} faults={faults} />
      </>
    ),
  });
}

function Shown({ webhook, url }: { webhook: Webhook; url: string }) {
  const { id, format, events, disabled, failures } = webhook;
  const shownUrl = visibleLine(webhook.url);
  const state = disabled !== null ? "disabled" : failures > 0 ? "failing" : "enabled";
  return (
    <>
      <p>
        <strong>
          <bdi>{shownUrl}</bdi>
        </strong>{" "}
        <span class="badge">{state}</span>
      </p>
      <p class="muted">
        {FORMATS[format]}; {events === null ? "all events" : <bdi>{visibleLine(events.join(", "))}</bdi>}
        {disabled !== null && <bdi>; {visibleLine(disabled)}</bdi>}
        {disabled === null && failures > 0 && `; ${failures} attempts in a row have failed`}
      </p>
      <form class="row links" method="post" action={`${url}/change`} aria-label={`Webhook ${shownUrl}`}>
        <input type="hidden" name="id" value={id} />
        <a href={`${url}?webhook=${encodeURIComponent(id)}`}>Deliveries</a>
        <button name="action" value="ping">
          Ping
        </button>
        <button name="action" value={disabled === null ? "disable" : "enable"}>
          {disabled === null ? "Disable" : "Enable"}
        </button>
        <button name="action" value="rotate">
          New secret
        </button>
        <button name="action" value="delete">
          Delete
        </button>
      </form>
    </>
  );
}

function Deliveries({ id, url, deliveries }: { id: string; url: string; deliveries: readonly Delivery[] }) {
  if (deliveries.length === 0) return <p>Nothing was sent yet.</p>;
  const nowMs = Date.now();
  return (
    <ul aria-label="Deliveries">
      {deliveries.map(({ id: delivery, type, timeMs, ms, request, response, error }) => (
        <li>
          <details>
            <summary>
              <bdi>{visibleLine(type)}</bdi> <span class="badge">{error === null ? "delivered" : "failed"}</span>{" "}
              <Ago iso={toIso(timeMs)} nowMs={nowMs} />, {ms} ms
              {error !== null && <bdi>: {visibleLine(error)}</bdi>}
            </summary>
            <pre tabindex={0}>
              {Object.entries(request.headers)
                .map(([name, value]) => `${name}: ${value}`)
                .join("\n")}
              {"\n\n"}
              {visibleText(request.body)}
            </pre>
            {response !== null && (
              <pre tabindex={0}>
                {response.status} {visibleText(response.body)}
              </pre>
            )}
            <form method="post" action={`${url}/change`}>
              <input type="hidden" name="id" value={id} />
              <input type="hidden" name="delivery" value={`${delivery}`} />
              <button name="action" value="redeliver" aria-label={`Send delivery ${delivery} again`}>
                Send again
              </button>
            </form>
          </details>
        </li>
      ))}
    </ul>
  );
}

function NewForm({ url, typed, faults }: { url: string; typed: Sent["typed"]; faults: Faults }) {
  return (
    <form class="narrow" method="post" action={url}>
      <h3>A new webhook</h3>
      <FaultNote faults={faults} labels={LABELS} />
      <TextField
        name="url"
        label={LABELS.url}
        faults={faults}
        value={typed.url}
        maxlength={2_000}
        type="url"
        required
      />
      <SelectField name="format" label={LABELS.format} faults={faults} value={typed.format} choices={FORMATS} />
      <TextField
        name="events"
        label={LABELS.events}
        faults={faults}
        value={typed.events}
        maxlength={1_000}
        spellcheck={false}
        hint="Types, with blanks between them, such as push. None: all."
      />
      <TextField
        name="secret"
        label={LABELS.secret}
        faults={faults}
        value={typed.secret}
        maxlength={200}
        autocomplete="off"
        hint="Signs what is sent. Empty: one is made, and shown once."
      />
      <p>
        <button class="main">Make the webhook</button>
      </p>
    </form>
  );
}
