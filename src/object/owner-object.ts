import { DurableObject } from "cloudflare:workers";
import type { Right } from "../base/access/caller.ts";
import { answerOwnerCall } from "./events/owner-calls.ts";
import { type OwnerRegistry, Owner } from "./events/owner.ts";
import type { OwnerRpc } from "../contract/objects.ts";
import { Alarm } from "./alarm.ts";
import { type Env, REGISTRY_NAME } from "../contract/env.ts";
import { printEvent } from "../contract/event-log.ts";
import { admitListener, wakeListeners } from "./listeners.ts";
import { newOutside } from "./outside.ts";
import type { RepositoryObject } from "./repository-object.ts";
import type { CallOutcome, OwnerCallName } from "../contract/calls.ts";

/** One owner to whose events somebody listens: their log and its webhooks, in the object's own
 * SQLite database. An owner to whom nobody has ever listened has none. */
export class OwnerObject extends DurableObject<Env> implements OwnerRpc {
  readonly #owner: Owner;
  readonly #alarm: Alarm;

  constructor(context: DurableObjectState, env: Env) {
    super(context, env);
    const alarm = (this.#alarm = new Alarm(context.storage));
    void context.blockConcurrencyWhile(() => alarm.read());
    const name = context.id.name!;
    const repositories = env.REPOSITORY as DurableObjectNamespace<RepositoryObject>;
    this.#owner = new Owner({
      name,
      // In the stub's type, every value in a result would be a stub as well.
      registry: env.REGISTRY.getByName(REGISTRY_NAME) as unknown as OwnerRegistry,
      sql: context.storage.sql,
      transactor: context.storage,
      receivers: newOutside(context, env),
      visit: (id, owner) => repositories.getByName(id).hearOwner(owner),
      wakeListeners: () => wakeListeners(context),
      wakeAt: (timeMs) => alarm.set(timeMs),
      observe: (event) => printEvent(event, { owner: name }),
    });
  }

  override async fetch(): Promise<Response> {
    return admitListener(this.ctx, true);
  }

  /** @see Outside.tellOwner */
  async tell(event: string): Promise<boolean> {
    return this.#owner.tell(event);
  }

  call(name: OwnerCallName, argument: unknown, right: Right): Promise<CallOutcome> {
    return answerOwnerCall(this.#owner, right, name, argument);
  }

  override async alarm(): Promise<void> {
    this.#alarm.clear();
    await this.#owner.runAlarm(Date.now());
  }
}
