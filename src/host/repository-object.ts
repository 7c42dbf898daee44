import { DurableObject } from "cloudflare:workers";
import type { Requester } from "../access/caller.ts";
import wasm from "../codec/holdfast.wasm";
import { lowerLimits, type Limits } from "../format/configured-limits.ts";
import { type GitErrorCode, type GitErrorData, isGitError } from "../format/errors.ts";
import { type PushPlace, receivePack } from "../protocol/receive-pack.ts";
import type { TokenEvent } from "../repository/events/events.ts";
import type { ForkRequest } from "../repository/forks/fork.ts";
import type { FamilyMember, HistoryRequest, SharedHistory } from "../repository/state/family.ts";
import type { FetchOutcome, FetchRequest, FetchSource, RefList } from "../repository/state/fetch-source.ts";
import { pause } from "../repository/pacing/pause.ts";
import { Repository } from "../repository/repository.ts";
import { WORKTREE_POLICIES, type WorktreePolicy } from "../repository/state/worktree-policy.ts";
import type { CopyPart, CopyPlace } from "../store/forks/table-copy.ts";
import type { StoredBundle } from "../store/jobs/bundle-table.ts";
import type { ListeningOwner, RegistryPort } from "../store/registry/registry-answers.ts";
import { R2ChunkStore } from "../store/chunks/r2-chunk-store.ts";
import type { RepositoryRpc } from "../contract/objects.ts";
import { Alarm } from "./alarm.ts";
import { type Env, REGISTRY_NAME } from "./env.ts";
import { printEvent } from "./event-log.ts";
import { codec, traffic } from "./isolate.ts";
import { newOutside } from "./outside.ts";
import { admitListener, GONE, isListening } from "./listening.ts";
import type { CallName, CallOutcome } from "../contract/calls.ts";

/** The header that carries a `PushOrigin` to the object: percent-encoded JSON. The Worker always
 * sets it, whatever the client sent. */
export const ORIGIN_HEADER = "Holdfast-Origin";

/** Who sent a push, and to which name. */
export interface PushOrigin {
  readonly requester: Requester;
  readonly place: PushPlace;
}

/** The result of a fork, in a form that can cross from the object to the Worker. */
export type ForkOutcome =
  | { readonly kind: "forked" }
  /** The repository exists, or is being made. */
  | { readonly kind: "taken" }
  | { readonly kind: "failed"; readonly code: GitErrorCode; readonly data: GitErrorData };

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

/** Reads the limits that the deployment lowers: variable `LIMITS`, a JSON object of `Limits`.
 * @throws RangeError for a limit that is raised or not a number, SyntaxError if it is not JSON */
export function configuredLimits(env: Env): Limits {
  return lowerLimits(JSON.parse(env.LIMITS ?? "{}") as Partial<Limits>);
}

/** Reads which branches are materialized: variable `WORKTREES`.
 * @throws RangeError for an unknown policy */
export function configuredWorktrees({ WORKTREES: policy = "default-branch" }: Env): WorktreePolicy {
  if (WORKTREE_POLICIES.includes(policy)) return policy;
  throw new RangeError(`WORKTREES must be ${WORKTREE_POLICIES.join(", ")}, not ${String(policy)}`);
}
