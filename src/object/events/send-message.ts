import { createHmac } from "node:crypto";
import { isGitError } from "../../base/format/errors.ts";
import type { DeliveryRecord, Webhook } from "../../contract/webhooks.ts";
import { isInner, QUEUE_ID } from "../store/events/webhook-table.ts";
import type { Receivers } from "../state/outside.ts";
import type { Message } from "./message.ts";

/** Timeout for a webhook's answer (ms). */
const ANSWER_MS = 10_000;

/** Maximum number of bytes of an answer that are read and stored. */
const MAX_ANSWER_BYTES = 4_096;

/** The status by which a webhook refuses all further messages. */
export const GONE = 410;

/** Prefix of a secret in the Standard Webhooks specification; base64 follows. */
export const SECRET_PREFIX = "whsec_";

/** Sends a message to a webhook, the queue or an owner's log. Redirects are not followed: they
 * could lead to addresses that webhooks may not have.
 * @returns the result; never fails */
export async function sendMessage(
  receivers: Receivers,
  webhook: Webhook,
  event: string,
  { id, type, body }: Message,
): Promise<DeliveryRecord> {
  const timeMs = Date.now();
  const about = { messageId: id, event, type, timeMs };
  if (isInner(webhook)) {
    const outcome = await sendInside(receivers, webhook, body);
    return { ...about, ms: Date.now() - timeMs, request: { headers: {}, body }, ...outcome };
  }
  const headers = headersOf(webhook, { id, type, body }, timeMs);
  const sent = { ...about, request: { headers, body } };
  try {
    const url = new URL(webhook.url);
    receivers.checkAddress(url);
    const signal = AbortSignal.timeout(ANSWER_MS);
    const answer = await receivers.fetch(url.href, { method: "POST", headers, body, redirect: "manual", signal });
    const response = { status: answer.status, body: await readStart(answer, receivers.showsAnswers) };
    return { ...sent, ms: Date.now() - timeMs, response, error: refusalOf(answer.status) };
  } catch (error) {
    return { ...sent, ms: Date.now() - timeMs, response: null, error: failureOf(error) };
  }
}

/** Explains why there is no answer. A private address, a refused connection and an unknown name
 * give the same text: otherwise a webhook would reveal to its creator networks that only the server
 * can reach. */
function failureOf(error: unknown): string {
  if (isGitError(error)) return error.message;
  const isLate = error instanceof Error && error.name === "TimeoutError";
  if (isLate) return `it did not answer within ${ANSWER_MS / 1_000} seconds`;
  return "it could not be reached at a public address, or broke the connection off";
}

/** Sends a message to the deployment's queue, or to an owner's log. */
async function sendInside(
  receivers: Receivers,
  { id, url }: Webhook,
  body: string,
): Promise<Pick<DeliveryRecord, "response" | "error">> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("it did not answer")), ANSWER_MS);
  });
  const send = async (): Promise<boolean> => {
    if (id !== QUEUE_ID) return receivers.tellOwner(url, body);
    await receivers.sendToQueue?.(body);
    return receivers.sendToQueue !== null;
  };
  try {
    if (await Promise.race([send(), late])) return { response: null, error: null };
    return { response: { status: GONE, body: "" }, error: "nobody is there" };
  } catch (error) {
    return { response: null, error: String(error) };
  } finally {
    clearTimeout(timer);
  }
}

/** Explains why a status is a failure; null: success. */
function refusalOf(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  return status >= 300 && status < 400 ? `it redirects (${status}), which is not followed` : `it answered ${status}`;
}

async function readStart({ body }: Response, isShown: boolean): Promise<string> {
  if (body === null) return "";
  if (!isShown) {
    await body.cancel();
    return "";
  }
  const reader = body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const pieces: Uint8Array[] = [];
  for (let bytes = 0; bytes < MAX_ANSWER_BYTES;) {
    const { value, done } = await reader.read();
    if (done) break;
    pieces.push(value);
    bytes += value.length;
  }
  await reader.cancel();
  return new TextDecoder().decode(Buffer.concat(pieces).subarray(0, MAX_ANSWER_BYTES));
}

function headersOf(webhook: Webhook, { id, type, body }: Message, timeMs: number): Record<string, string> {
  const common = { "Content-Type": "application/json", "User-Agent": "Holdfast" };
  if (webhook.format === "github") {
    const signature = createHmac("sha256", webhook.secret).update(body).digest("hex");
    return {
      ...common,
      "X-GitHub-Event": type,
      "X-GitHub-Delivery": id,
      "X-GitHub-Hook-ID": webhook.id,
      "X-Hub-Signature-256": `sha256=${signature}`,
    };
  }
  const timestamp = String(Math.floor(timeMs / 1_000));
  const { secret, formerSecret, formerUntilMs } = webhook;
  const secrets = formerSecret !== null && timeMs < (formerUntilMs ?? 0) ? [secret, formerSecret] : [secret];
  const sign = (text: string): string =>
    createHmac("sha256", Buffer.from(text.slice(SECRET_PREFIX.length), "base64"))
      .update(`${id}.${timestamp}.${body}`)
      .digest("base64");
  return {
    ...common,
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": secrets.map((text) => `v1,${sign(text)}`).join(" "),
  };
}
