import { setTimeout } from "node:timers/promises";
import type { EventOrigin, RequestEvent } from "../../src/host/event-log.ts";
import type { RepositoryEvent } from "../../src/repository/state/repository-event.ts";

/** A request as it is logged. */
export type LoggedRequest = RequestEvent & EventOrigin;

/** How long an event may take from the Worker's console to here: a client may be done before the Worker has spoken. */
const WAIT_MS = 30_000;
const POLL_MS = 10;

/** The Worker's console: its events wait here to be taken, all else goes on to this process's console. */
export class WorkerLog {
  readonly #events: RepositoryEvent[] = [];
  readonly #requests: LoggedRequest[] = [];

  /** Takes in one message. */
  add({ level, message }: { readonly level: string; readonly message: string }): void {
    if (message.startsWith('{"event":"request"')) this.#requests.push(JSON.parse(message) as LoggedRequest);
    else if (message.startsWith('{"event":')) this.#events.push(JSON.parse(message) as RepositoryEvent);
    else console[level === "error" || level === "warn" ? level : "log"](message);
  }

  /** Takes the oldest event of a kind that nobody has taken, waiting for it if need be.
   * @throws Error when none comes */
  async take<Kind extends RepositoryEvent["event"]>(kind: Kind): Promise<Extract<RepositoryEvent, { event: Kind }>> {
    for (const endMs = Date.now() + WAIT_MS; Date.now() < endMs; await setTimeout(POLL_MS)) {
      const index = this.#events.findIndex(({ event }) => event === kind);
      if (index >= 0) return this.#events.splice(index, 1)[0] as Extract<RepositoryEvent, { event: Kind }>;
    }
    throw new Error(`the Worker told of no ${kind}`);
  }

  /** Every request that was logged so far. */
  get requests(): readonly LoggedRequest[] {
    return this.#requests;
  }

  /** Takes every event that nobody has taken, the oldest first. */
  takeAll(): RepositoryEvent[] {
    return this.#events.splice(0);
  }
}
