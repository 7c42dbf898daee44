import { setTimeout } from "node:timers/promises";
import type { EventOrigin, RequestEvent } from "../../src/contract/event-log.ts";
import type { RepositoryEvent } from "../../src/contract/log-events.ts";

/** A logged request. */
export type LoggedRequest = RequestEvent & EventOrigin;

/** How long an event may take to arrive from the Worker's console: a client may be done earlier. */
const WAIT_MS = 30_000;
const POLL_MS = 10;

/** The Worker's console. Events are kept here until they are taken; anything else is printed on
 * this process's console. */
export class WorkerLog {
  readonly #events: RepositoryEvent[] = [];
  readonly #requests: LoggedRequest[] = [];

  readonly #note: (message: string) => void;

  /** @param note gets every message, too */
  constructor(note: (message: string) => void = () => undefined) {
    this.#note = note;
  }

  /** Adds one message. */
  add({ level, message }: { readonly level: string; readonly message: string }): void {
    this.#note(message);
    if (message.startsWith('{"event":"error"')) console.error(message);
    if (message.startsWith('{"event":"request"')) this.#requests.push(JSON.parse(message) as LoggedRequest);
    else if (message.startsWith('{"event":')) this.#events.push(JSON.parse(message) as RepositoryEvent);
    else console[level === "error" || level === "warn" ? level : "log"](message);
  }

  /** Takes the oldest remaining event of a kind, waiting for it if needed.
   * @throws Error when none arrives */
  async take<Kind extends RepositoryEvent["event"]>(kind: Kind): Promise<Extract<RepositoryEvent, { event: Kind }>> {
    for (const endMs = Date.now() + WAIT_MS; Date.now() < endMs; await setTimeout(POLL_MS)) {
      const index = this.#events.findIndex(({ event }) => event === kind);
      if (index >= 0) return this.#events.splice(index, 1)[0] as Extract<RepositoryEvent, { event: Kind }>;
    }
    throw new Error(`the Worker logged no ${kind}`);
  }

  /** All requests logged so far. */
  get requests(): readonly LoggedRequest[] {
    return this.#requests;
  }

  /** Takes all remaining events, the oldest first. */
  takeAll(): RepositoryEvent[] {
    return this.#events.splice(0);
  }
}
