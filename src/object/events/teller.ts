import type { ListeningOwner } from "../../contract/registry.ts";
import type { Tables } from "../store/tables.ts";
import type { EventTeller } from "../state/outside.ts";
import type { RepositoryState } from "../state/repository-state.ts";
import { Deliverer } from "./deliverer.ts";
import { newestEvent, START } from "./events.ts";
import { enterListeningOwner, enterQueue } from "./inner-receivers.ts";
import { RepositoryLog } from "./repository-log.ts";

/** Notifies a repository's listeners, its webhooks, the queue and its owner's log. */
export class Teller implements EventTeller {
  readonly #state: RepositoryState;
  readonly #deliverer: Deliverer;

  constructor(state: RepositoryState) {
    this.#state = state;
    this.#deliverer = new Deliverer(new RepositoryLog(state));
    const { tables } = state;
    if (tables !== null && state.platform.outside.sendToQueue !== null)
      state.transactAside(() => enterQueue(state, tables, newestEvent(tables)));
  }

  follow(tables: Tables): void {
    // Only a repository that is being created lacks the queue's row: an existing one got it when it
    // was opened.
    enterQueue(this.#state, tables, START);
    this.#state.platform.outside.wakeListeners();
    this.#deliverer.startSoon();
  }

  start(): void {
    this.#deliverer.start();
  }

  scheduleRemaining(): void {
    this.#deliverer.scheduleRemaining();
  }

  hearOwner(owner: ListeningOwner): void {
    const { tables } = this.#state;
    if (tables === null) return;
    if (!this.#state.transactAside(() => enterListeningOwner(this.#state, tables, owner))) return;
    this.#state.scheduleJobs();
    this.#deliverer.start();
  }
}
