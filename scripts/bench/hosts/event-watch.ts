/** When a server did what it tells of. */
import type { RepositoryEvent } from "../../../src/repository/state/repository-event.ts";
import type { Host } from "./host.ts";

/** Something that took time. */
export interface Happening {
  readonly name: string;
  /** As `performance.now()` tells them. */
  readonly startMs: number;
  readonly endMs: number;
}

/** How often events are looked for: they have no times of their own. */
const POLL_MS = 10;

/** How late this process may come to it before that counts as a pause. */
const PAUSE_MS = 20;

/** Watches a host's events, and this process's own pauses. */
export class EventWatch {
  readonly #host: Host;
  readonly #timer: NodeJS.Timeout;
  readonly events: RepositoryEvent[] = [];
  readonly happenings: Happening[] = [];
  #lastMs = performance.now();

  /** Starts with events to come; those before are dropped. */
  constructor(host: Host) {
    this.#host = host;
    host.takeEvents();
    this.#timer = setInterval(() => this.#look(), POLL_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#look();
  }

  #look(): void {
    const endMs = performance.now();
    if (endMs - this.#lastMs > POLL_MS + PAUSE_MS) {
      this.happenings.push({ name: "pause of this client", startMs: this.#lastMs + POLL_MS, endMs });
    }
    this.#lastMs = endMs;
    for (const event of this.#host.takeEvents()) {
      this.events.push(event);
      const [name, ms] = describe(event);
      if (ms > 0) this.happenings.push({ name, startMs: endMs - ms, endMs });
    }
  }
}

function describe(event: RepositoryEvent): [name: string, ms: number] {
  switch (event.event) {
    case "job":
      return [`job ${event.kind}`, event.ms];
    case "bundle":
      return ["bundle", event.buildMs];
    case "call":
      return [`call ${event.name}`, event.ms];
    case "push":
      return ["push", event.indexMs + event.applyMs];
    case "fetch":
      return ["plan of a fetch", event.planMs];
    case "job-failed":
    case "read":
    case "backup":
      return [event.event, 0];
  }
}
