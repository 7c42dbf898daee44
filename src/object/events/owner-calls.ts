// The functions that answer calls to an owner's object, as `calls.ts` has them for a repository's.
import type { Right } from "../../base/access/caller.ts";
import { isGitError } from "../../base/format/errors.ts";
import type { Answers, CallOutcome, OwnerCallName, OwnerClient } from "../../contract/calls.ts";
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
} from "./webhooks.ts";
import type { Owner } from "./owner.ts";

const OWNER_CALLS: Answers<OwnerClient, Owner, [right: Right]> = {
  events: (owner, query, right) => owner.events(query, right),
  webhooks,
  webhook,
  createWebhook,
  changeWebhook,
  deleteWebhook,
  rotateSecret,
  pingWebhook,
  deliveries,
  redeliver,
};

/** Runs a call.
 * @param right of the caller to everything of the owner
 * @throws any error that is not a GitError: a failure of the server itself */
export async function answerOwnerCall(
  owner: Owner,
  right: Right,
  name: OwnerCallName,
  argument: unknown,
): Promise<CallOutcome> {
  const call = OWNER_CALLS[name] as (owner: Owner, argument: unknown, right: Right) => Promise<unknown>;
  // A webhook that is about to be disabled counts as a listener until now.
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
