import { DurableObject } from "cloudflare:workers";
import type { Requester } from "../base/access/caller.ts";
import wasm from "../base/codec/holdfast.wasm";
import type { Limits } from "../base/format/configured-limits.ts";
import { isGitError } from "../base/format/errors.ts";
import { receivePack } from "./receive/serve-push.ts";
import type { TokenEvent } from "../contract/events.ts";
import type { ForkRequest } from "../contract/merges.ts";
import type { FamilyMember, HistoryRequest, SharedHistory } from "./state/family.ts";
import type { FetchOutcome, FetchRequest, FetchSource, RefList, StoredBundle } from "../contract/fetch.ts";
import { pause } from "../base/pacing/time-slice.ts";
import { Repository } from "./repository.ts";
import { WORKTREE_POLICIES, type WorktreePolicy, type Env, REGISTRY_NAME, configuredLimits } from "../contract/env.ts";
import type { CopyPart, CopyPlace } from "./store/forks/table-copy.ts";
import type { ListeningOwner } from "../contract/registry.ts";
import type { RegistryPort } from "./store/registry/registry-answers.ts";
import { R2ChunkStore } from "../base/chunks/r2-chunk-store.ts";
import { type RepositoryRpc, GONE, ORIGIN_HEADER, type PushOrigin, type ForkOutcome } from "../contract/objects.ts";
import { Alarm } from "./alarm.ts";
import { printEvent } from "../contract/event-log.ts";
import { codec, traffic } from "../base/isolate.ts";
import { newOutside } from "./outside.ts";
import { admitListener, isListening } from "./listeners.ts";
import type { CallName, CallOutcome } from "../contract/calls.ts";

/** One repository: refs, object index and jobs in the object's own SQLite database. Pushes arrive
 * as HTTP, since their bodies stream; fetches as calls that return a plan, whose bytes the Worker
 * sends. */
export class RepositoryObject extends DurableObject<Env> implements RepositoryRpc {
  readonly #repository: Repository;
  readonly #limits: Limits;
  readonly #alarm: Alarm;

  constructor(context: DurableObjectState, env: Env) {
    super(context, env);
    this.#limits = configuredLimits(env);
    const alarm = (this.#alarm = new Alarm(context.storage));
    void context.blockConcurrencyWhile(() => alarm.read());
    this.#repository = new Repository({
      // Objects are addressed only by the registry's ids, used as names.
      id: context.id.name!,
      registry: env.REGISTRY.getByName(REGISTRY_NAME) as unknown as RegistryPort,
      // In the stub's type, every value in a result would be a stub as well.
      outside: newOutside(context, env),
      family: { open: (id) => env.REPOSITORY.getByName(id) as unknown as FamilyMember },
      sql: context.storage.sql,
      transactor: context.storage,
      erase: async () => {
        await context.storage.deleteAll();
        alarm.clear();
      },
      openChunks: (counters) => new R2ChunkStore(env.BUCKET, counters),
      module: wasm,
      codec,
      limits: this.#limits,
      worktrees: configuredWorktrees(env),
      traffic,
      // A lost alarm loses no job: the next request to the object sets it again.
      wakeAt: (timeMs) => alarm.set(timeMs),
      observe: (event) => printEvent(event, { repository: context.id.name! }),
    });
  }

  override async fetch(request: Request): Promise<Response> {
    if (isListening(request)) return admitListener(this.ctx, this.#repository.state.tables !== null);
    if (!(await this.#repository.admitsPush())) return new Response(request.body, { status: GONE });
    const origin = JSON.parse(decodeURIComponent(request.headers.get(ORIGIN_HEADER)!)) as PushOrigin;
    return receivePack(request, this.#repository, this.#limits, origin.requester, origin.place);
  }

  isBlank(): boolean {
    return this.#repository.isBlank;
  }

  create(defaultBranch: string): Promise<boolean> {
    return this.#repository.create(defaultBranch);
  }

  async fork(request: ForkRequest): Promise<ForkOutcome> {
    try {
      return { kind: (await this.#repository.fork(request)) ? "forked" : "taken" };
    } catch (error) {
      if (!isGitError(error)) throw error;
      return { kind: "failed", code: error.code, data: error.data };
    }
  }

  /** @see FamilyMember.beginFork */
  beginFork(holder: string, version: number): ReturnType<FamilyMember["beginFork"]> {
    return this.#repository.beginFork(holder, version);
  }

  /** @see FamilyMember.readForkPart */
  readForkPart(layout: string, place: CopyPlace): Promise<CopyPart | null> {
    return this.#repository.readForkPart(layout, place);
  }

  /** @see FamilyMember.shareHistory */
  shareHistory(request: HistoryRequest): Promise<SharedHistory | null> {
    return this.#repository.shareHistory(request);
  }

  /** @see FamilyMember.pin */
  pin(holder: string, version: number, keys: readonly string[]): Promise<boolean> {
    return this.#repository.pin(holder, version, keys);
  }

  delete(caller: Requester["caller"]): Promise<boolean> {
    return this.#repository.delete(caller);
  }

  noteToken(caller: Requester["caller"], change: TokenEvent): Promise<void> {
    return this.#repository.noteToken(caller, change);
  }

  /** @see Repository.hearOwner */
  hearOwner(owner: ListeningOwner): Promise<void> {
    return this.#repository.hearOwner(owner);
  }

  /** @see Repository.announce */
  announce(): Promise<void> {
    return this.#repository.announce();
  }

  listRefs(prefixes: string[]): Promise<RefList | null> {
    return this.#repository.refs(prefixes);
  }

  planFetch(request: FetchRequest): Promise<FetchOutcome> {
    return this.#repository.fetch(request);
  }

  finishResponse(objectKey: string, sizeBytes: number | null): Promise<void> {
    return this.#repository.finishResponse(objectKey, sizeBytes);
  }

  awaitResponse(objectKey: string): ReturnType<FetchSource["awaitResponse"]> {
    return this.#repository.awaitResponse(objectKey);
  }

  readSizes(oids: Uint8Array): Promise<Float64Array | null> {
    return this.#repository.sizes(oids);
  }

  listBundles(): Promise<StoredBundle[] | null> {
    return this.#repository.bundles();
  }

  call(name: CallName, argument: unknown, requester: Requester): Promise<CallOutcome> {
    return this.#repository.call(name, argument, requester);
  }

  override async alarm(): Promise<void> {
    this.#alarm.clear();
    // The transaction that made them due may have kept requests waiting, for which jobs make way.
    await pause();
    await this.#repository.runJobs(Date.now());
  }
}

/** Reads which branches are materialized: variable `WORKTREES`.
 * @throws RangeError for an unknown policy */
function configuredWorktrees({ WORKTREES: policy = "default-branch" }: Env): WorktreePolicy {
  if (WORKTREE_POLICIES.includes(policy)) return policy;
  throw new RangeError(`WORKTREES must be ${WORKTREE_POLICIES.join(", ")}, not ${String(policy)}`);
}
