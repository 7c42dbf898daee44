// The calls of the API to an owner's object, as `calls.ts` has them for a repository's.
import type { Right } from "../../access/caller.ts";
import { isGitError } from "../../format/errors.ts";
import { type CallOutcome, type Client, newClient } from "../state/call-outcome.ts";
import type { EventQuery } from "../events/events.ts";
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  deliveries,
  pingWebhook,
  redeliver,
  rotateSecret,
  webhook,
  webhooks,
} from "../events/webhooks.ts";
import type { Owner } from "./owner.ts";

const OWNER_CALLS = {
  events: (owner: Owner, query: EventQuery, right: Right) => owner.events(query, right),
  webhooks,
  webhook,
  createWebhook,
  changeWebhook,
  deleteWebhook,
  rotateSecret,
  pingWebhook,
  deliveries,
  redeliver,
} satisfies Record<string, (owner: Owner, argument: never, right: Right) => Promise<unknown>>;

/** Names one of the calls. */
export type OwnerCallName = keyof typeof OWNER_CALLS;

/** An owner as the API sees it: every call as a method. */
export type OwnerClient = Client<typeof OWNER_CALLS>;

/** Makes the methods of a client.
 * @param send carries a call to the object */
export function newOwnerClient(send: (name: OwnerCallName, argument: unknown) => Promise<CallOutcome>): OwnerClient {
  return newClient(OWNER_CALLS, send);
}

/** Runs a call.
 * @param right the caller's, for all that the owner has
 * @throws any error that is not a GitError: a failure of the server itself */
export async function answerOwnerCall(
  owner: Owner,
  right: Right,
  name: OwnerCallName,
  argument: unknown,
): Promise<CallOutcome> {
  const call = OWNER_CALLS[name] as (owner: Owner, argument: unknown, right: Right) => Promise<unknown>;
  // A webhook that is about to be disabled was listening until now.
  owner.scheduleRemaining();
  try {
    return { kind: "done", value: await call(owner, argument, right), ambiguities: [] };
  } catch (error) {
    if (!isGitError(error)) throw error;
    return { kind: "failed", code: error.code, data: error.data, ambiguities: [] };
  } finally {
    owner.scheduleRemaining();
  }
}
