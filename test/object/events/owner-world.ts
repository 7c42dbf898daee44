import { DatabaseSync } from "node:sqlite";
import type { OwnedEvent } from "../../../src/object/events/message.ts";
import { Owner } from "../../../src/object/events/owner.ts";
import type { RepositoryEntry } from "../../../src/contract/registry.ts";
import { FaultySql } from "../faults/faulty-sql.ts";
import { NodeTransactor, NOTHING_OUTSIDE } from "../pushing.ts";

/** One owner through several processes. Every call to its database, the registry or a repository is
 * a point, and one of them may fail. */
export class OwnerWorld {
  owner!: Owner;
  /** Ids of the repositories, by name. */
  readonly repositories: readonly string[];
  /** Repositories that were visited. */
  readonly visited: string[] = [];
  /** What the registry was last told; null: nobody listens. */
  sinceMs: number | null = null;
  /** Messages that the endpoint took: repository and id of the event. */
  readonly heard: string[] = [];
  wakeMs: number | null = null;
  points = 0;
  readonly #database = new DatabaseSync(":memory:");
  readonly #fault: { readonly point: number; readonly isCrash: boolean } | null;
  #life: { isOver: boolean } = { isOver: false };

  /** @param fault at which point it occurs; null: nowhere */
  constructor(repositories: number, fault: { readonly point: number; readonly isCrash: boolean } | null = null) {
    this.repositories = Array.from({ length: repositories }, (_, i) => `r${String(i).padStart(3, "0")}`);
    this.#fault = fault;
    this.start();
  }

  /** Begins a new process: whatever the previous one still does has no effect. */
  start(): void {
    this.#life.isOver = true;
    const life: { isOver: boolean } = (this.#life = { isOver: false });
    const meet = (): void => {
      if (life.isOver) throw new Error("the process is over");
      const isHit = this.points++ === this.#fault?.point;
      if (isHit && this.#fault!.isCrash) life.isOver = true;
      if (isHit) throw new Error("planned");
    };
    this.wakeMs = null;
    const sql = new FaultySql(this.#database, meet);
    const open = (): Owner =>
      new Owner({
        name: "me",
        sql,
        transactor: new NodeTransactor(sql),
        registry: {
          listen: async (_, sinceMs) => {
            meet();
            this.sinceMs = sinceMs;
          },
          list: async (_, after, limit) => {
            meet();
            const from = this.repositories.filter((name) => after === null || name > after.name).slice(0, limit);
            return from.map((name) => ({ id: name, name, owner: "me" }) as RepositoryEntry);
          },
        },
        visit: async (id) => {
          meet();
          if (this.sinceMs === null) throw new Error("the registry does not know");
          this.visited.push(id);
        },
        receivers: {
          ...NOTHING_OUTSIDE,
          fetch: async (_, init) => {
            if (life.isOver) throw new Error("the process is over");
            const { id, data } = JSON.parse(init!.body as string) as {
              id: string;
              data: { repository: { id: string } };
            };
            this.heard.push(`${data.repository.id} ${id}`);
            return new Response(null, { status: 204 });
          },
        },
        wakeListeners: () => undefined,
        wakeAt: (timeMs) => (this.wakeMs = Math.min(this.wakeMs ?? Infinity, timeMs)),
        observe: () => undefined,
      });
    try {
      this.owner = open();
    } catch {
      // The platform makes the object again for the next request.
      if (life.isOver) this.start();
      else this.owner = open();
    }
  }

  /** Whether the process has died. */
  get isDead(): boolean {
    return this.#life.isOver;
  }

  /** Does something until it succeeds, as a client that asks again; a process that died is followed
   * by another. */
  async insist<T>(f: () => T | Promise<T>): Promise<T> {
    for (let tries = 0; ; tries++) {
      try {
        const result = await f();
        if (!this.isDead) return result;
      } catch (error) {
        if (tries > 3) throw error;
      }
      if (this.isDead) this.start();
    }
  }

  /** A repository tells an event, again and again until it is taken. */
  async tell(repository: string, push: number, timestamp = new Date().toISOString()): Promise<boolean> {
    const event: OwnedEvent = {
      repository: { id: repository, owner: "me", name: repository, defaultBranch: "main" },
      event: { id: `${push}`, type: "status", timestamp, who: "ada", data: {} },
    };
    return this.insist(() => this.owner.tell(JSON.stringify(event)));
  }

  /** Rings the alarm as often as it is set to a time up to then (ms since 1970). */
  async ring(untilMs: number): Promise<void> {
    for (let rings = 0; rings < 100; rings++) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      if (this.isDead) this.start();
      const { wakeMs } = this;
      if (wakeMs === null || wakeMs > untilMs) return;
      this.wakeMs = null;
      try {
        await this.owner.runAlarm(Math.max(wakeMs, Date.now()));
      } catch {
        // The platform repeats a failed alarm.
        this.wakeMs ??= wakeMs;
      }
    }
    throw new Error("the alarm never ends");
  }

  /** All events of the log: repository and id of each, by number. */
  async log(): Promise<string[]> {
    const { events } = await this.insist(() => this.owner.events({ after: null, limit: 100 }, "admin"));
    return events.map(({ repository: { id, event } }) => `${id} ${event}`);
  }
}
