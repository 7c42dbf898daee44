import { DurableObject } from "cloudflare:workers";
import { randomUUID } from "node:crypto";
import {
  type Caller,
  rightOf,
  type Standing,
  type Target,
  type Token,
  type TokenScope,
} from "../base/access/caller.ts";
import type { QuotaChange } from "../base/access/quota.ts";
import { hashToken, newTokenText } from "../base/access/token-text.ts";
import { GitError } from "../base/format/errors.ts";
import type { RepositoryName } from "../base/format/repository-name.ts";
import type {
  NameRefusal,
  ListeningOwner,
  QuotaStanding,
  RepositoryChange,
  RepositoryRoute,
  RepositoryStanding,
  EntryWithForks,
  ForkPage,
  QuotaHolder,
  RepositoryDetails,
  RepositoryEntry,
  FoundPage,
  SessionHolder,
  NewToken,
} from "../contract/registry.ts";
import { RESERVATION_MS } from "./store/registry/registry-answers.ts";
import { Registry } from "./store/registry/registry.ts";
import { SESSION_TABLE, SessionTable } from "./store/registry/session-table.ts";
import { TOKEN_TABLE, TokenTable } from "./store/registry/token-table.ts";
import { CountedSql, newSqlCounters } from "./store/sql/sql.ts";
import type { RegistryRpc, KnownSession } from "../contract/objects.ts";
import type { Env } from "../contract/env.ts";
import type { RepositoryObject } from "./repository-object.ts";

/** The R2 keys of repositories begin with their ids. */
const STORED = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\//;

/** The registry of repositories, tokens and sessions: one object for the deployment, in front of
 * the tables of `Registry`, `TokenTable` and `SessionTable`. */
export class RegistryObject extends DurableObject<Env> implements RegistryRpc {
  readonly #registry: Registry;
  readonly #tokens: TokenTable;
  readonly #sessions: SessionTable;

  constructor(context: DurableObjectState, env: Env) {
    super(context, env);
    const sql = new CountedSql(context.storage.sql, newSqlCounters(), "registry's database");
    this.#registry = new Registry(sql, context.storage);
    sql.exec(TOKEN_TABLE);
    this.#tokens = new TokenTable(sql);
    sql.exec(SESSION_TABLE);
    void context.blockConcurrencyWhile(() => this.#begin(env));
    this.#sessions = new SessionTable(sql);
  }

  /** A registry that knows nothing begins: not where the bucket has what repositories stored.
   * @throws GitError "damaged-data" to all that ask: a lost one must not look like a new one */
  async #begin({ BUCKET }: Env): Promise<void> {
    if (this.#registry.hasBegun()) return;
    const { objects } = await BUCKET.list({ limit: 100 });
    const stored = objects.find(({ key }) => STORED.test(key));
    if (stored === undefined) return this.#registry.begin(Date.now());
    const reason =
      `it is empty, and the bucket has ${stored.key}; ` +
      "bring the database back from a backup, or empty the bucket to begin anew";
    throw new GitError("damaged-data", { what: "registry's database", reason });
  }

  find(name: RepositoryName): RepositoryRoute | null {
    return this.#registry.find(name);
  }

  async reserve(name: RepositoryName): Promise<RepositoryRoute> {
    const route = this.#registry.reserve(name, Date.now());
    await this.#wake();
    return route;
  }

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

  report(id: string, standing: RepositoryStanding): ListeningOwner | null {
    const owner = this.#registry.report(id, standing, Date.now());
    if (standing.kind === "deleted") this.#tokens.revokeAllOf(id);
    return owner;
  }

  /** @see OwnerRegistry.listen */
  listen(owner: string, sinceMs: number | null): void {
    this.#registry.listening.set(owner, sinceMs);
  }

  /** @see RegistryPort.nameOf */
  nameOf(id: string): RepositoryName | null {
    const route = this.#registry.findById(id);
    return route && { owner: route.owner, name: route.name };
  }

  /** @see RegistryPort.readStanding */
  readStanding(id: string, asked: Caller): Standing | null {
    const route = this.#registry.findById(id);
    const caller = asked.kind === "token" ? this.#renew(asked.token.id) : asked;
    if (route === null || caller === null) return null;
    const right = rightOf(caller, route);
    return right === null ? null : { caller, right, quota: route.quota };
  }

  read(name: RepositoryName): RepositoryEntry | null {
    return this.#registry.read(name);
  }

  list(owner: string | null, after: RepositoryName | null, limit: number, caller: Caller): RepositoryEntry[] {
    return this.#registry.list(owner, after, limit, caller);
  }

  search(text: string, owner: string | null, after: RepositoryName | null, limit: number, caller: Caller): FoundPage {
    return this.#registry.search(text, owner, after, limit, caller);
  }

  findRelatives(id: string, owner: string, name: string | null): RepositoryEntry[] {
    return this.#registry.findRelatives(id, owner, name);
  }

  listForks(parent: string, after: RepositoryName | null, limit: number, caller: Caller): ForkPage {
    return this.#registry.listForks(parent, after, limit, caller);
  }

  readWithForks(name: RepositoryName, limit: number, caller: Caller): EntryWithForks | null {
    return this.#registry.readWithForks(name, limit, caller);
  }

  update(id: string, change: RepositoryChange): ReturnType<Registry["update"]> {
    return this.#registry.update(id, change, Date.now());
  }

  useToken(hash: string): Token | null {
    return this.#tokens.use(hash, Date.now());
  }

  createToken(wanted: Omit<NewToken, "id">): { readonly token: Token; readonly text: string } | null {
    const text = newTokenText();
    const token = this.#tokens.create({ ...wanted, id: randomUUID() }, hashToken(text), Date.now());
    return token === null ? null : { token, text };
  }

  readToken(id: string): Token | null {
    return this.#tokens.read(id, Date.now());
  }

  targetOf(scope: TokenScope): Target | null {
    return this.#registry.targetOf(scope);
  }

  listTokens(scope: TokenScope, after: string, limit: number): Token[] {
    return this.#tokens.list(scope, after, limit, Date.now());
  }

  findUnknownTokens(ids: readonly string[], owner: string, repositoryId: string): string[] {
    return this.#tokens.findUnknown(ids, owner, repositoryId, Date.now());
  }

  revokeToken(id: string): boolean {
    this.#sessions.endAllOf(id);
    return this.#tokens.revoke(id);
  }

  createSession(hash: string, holder: SessionHolder, expiresMs: number): void {
    this.#sessions.create(hash, holder, expiresMs, Date.now());
  }

  useSession(hash: string): KnownSession | null {
    const nowMs = Date.now();
    const session = this.#sessions.find(hash, nowMs);
    if (session === null) return null;
    const { holder, expiresMs } = session;
    if ("proof" in holder) return { kind: "operator", proof: holder.proof, expiresMs };
    const token = this.#tokens.useById(holder.token, nowMs);
    return token === null ? null : { kind: "token", token, expiresMs };
  }

  endSession(hash: string): void {
    this.#sessions.end(hash);
  }

  readQuota(holder: QuotaHolder): QuotaStanding {
    return this.#registry.readQuota(holder);
  }

  setQuota(holder: QuotaHolder, change: QuotaChange): void {
    this.#registry.setQuota(holder, change);
  }

  /** A token's caller, with its present rights; null: the token is no longer valid. */
  #renew(tokenId: string): Caller | null {
    const knownMs = Date.now();
    const token = this.#tokens.read(tokenId, knownMs);
    const isGood = token !== null && (token.expiresMs === null || token.expiresMs > knownMs);
    return isGood ? { kind: "token", token, knownMs } : null;
  }

  override async alarm(): Promise<void> {
    const repositories = this.env.REPOSITORY as DurableObjectNamespace<RepositoryObject>;
    const nextMs = await this.#registry.lookIntoReservations(Date.now(), (id) => repositories.getByName(id).announce());
    if (nextMs !== null) await this.ctx.storage.setAlarm(nextMs);
  }

  /** Makes sure that the alarm will check on reservations. */
  async #wake(): Promise<void> {
    const { storage } = this.ctx;
    if ((await storage.getAlarm()) === null) await storage.setAlarm(Date.now() + RESERVATION_MS);
  }
}
