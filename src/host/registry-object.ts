import { DurableObject } from "cloudflare:workers";
import type { RepositoryName } from "../format/repository-name.ts";
import {
  type NameRefusal,
  Registry,
  type RepositoryChange,
  type RepositoryDetails,
  type RepositoryEntry,
  type RepositoryRoute,
  type RepositoryStanding,
  RESERVATION_MS,
} from "../store/registry.ts";
import type { Env } from "./env.ts";
import type { RepositoryObject } from "./repository-object.ts";

/** Which repositories there are: one object for the deployment, in front of the tables of `Registry`. */
export class RegistryObject extends DurableObject<Env> {
  readonly #registry: Registry;

  constructor(context: DurableObjectState, env: Env) {
    super(context, env);
    this.#registry = new Registry(context.storage.sql, context.storage);
  }

  /** @see Registry.find */
  find(name: RepositoryName): RepositoryRoute | null {
    return this.#registry.find(name);
  }

  /** @see Registry.reserve */
  async reserve(name: RepositoryName): Promise<RepositoryRoute> {
    const route = this.#registry.reserve(name, Date.now());
    await this.#wake();
    return route;
  }

  /** @see Registry.create */
  async create(
    name: RepositoryName,
    details: RepositoryDetails,
  ): Promise<{ readonly kind: "reserved"; readonly id: string } | NameRefusal> {
    const outcome = this.#registry.create(name, details, Date.now());
    await this.#wake();
    return outcome;
  }

  /** @see Registry.admit */
  admit(id: string): boolean {
    return this.#registry.admit(id, Date.now());
  }

  /** @see Registry.report */
  report(id: string, standing: RepositoryStanding): void {
    this.#registry.report(id, standing, Date.now());
  }

  /** @see Registry.read */
  read(name: RepositoryName): RepositoryEntry | null {
    return this.#registry.read(name);
  }

  /** @see Registry.list */
  list(owner: string | null, after: RepositoryName | null, limit: number): RepositoryEntry[] {
    return this.#registry.list(owner, after, limit);
  }

  /** @see Registry.update */
  update(id: string, change: RepositoryChange): ReturnType<Registry["update"]> {
    return this.#registry.update(id, change, Date.now());
  }

  override async alarm(): Promise<void> {
    const repositories = this.env.REPOSITORY as DurableObjectNamespace<RepositoryObject>;
    const nextMs = await this.#registry.lookIntoReservations(Date.now(), (id) => repositories.getByName(id).announce());
    if (nextMs !== null) await this.ctx.storage.setAlarm(nextMs);
  }

  /** Sees to it that what was reserved is looked into. */
  async #wake(): Promise<void> {
    const { storage } = this.ctx;
    if ((await storage.getAlarm()) === null) await storage.setAlarm(Date.now() + RESERVATION_MS);
  }
}
