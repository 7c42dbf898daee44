import type { OpenRepository } from "../objects/open-repository.ts";
import { RepositoryLog } from "./repository-log.ts";
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  deliveries,
  type Hooked,
  pingWebhook,
  redeliver,
  rotateSecret,
  webhook,
  webhooks,
} from "./webhooks.ts";

/** The calls about a repository's webhooks, by name. */
export const WEBHOOK_CALLS = {
  webhooks: (repository: OpenRepository) => webhooks(hookedOf(repository)),
  webhook: onRepository(webhook),
  createWebhook: onRepository(createWebhook),
  changeWebhook: onRepository(changeWebhook),
  deleteWebhook: onRepository(deleteWebhook),
  rotateSecret: onRepository(rotateSecret),
  pingWebhook: onRepository(pingWebhook),
  deliveries: onRepository(deliveries),
  redeliver: onRepository(redeliver),
};

function onRepository<A, R>(call: (hooked: Hooked, argument: A) => R): (repository: OpenRepository, argument: A) => R {
  return (repository, argument) => call(hookedOf(repository), argument);
}

function hookedOf({ state }: OpenRepository): Hooked {
  return { log: new RepositoryLog(state), deliverer: state.teller };
}
