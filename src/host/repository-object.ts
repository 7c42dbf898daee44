import { DurableObject } from "cloudflare:workers";
import wasm from "../codec/holdfast.wasm";
import { instantiateCodec } from "../codec/codec.ts";
import { lowerLimits, type Limits } from "../format/limits.ts";
import { advertiseReceivePack, receivePack } from "../protocol/receive-pack.ts";
import { textResponse } from "../protocol/error-response.ts";
import type { CallName, CallOutcome } from "../repository/calls.ts";
import type { FetchOutcome, FetchRequest, RefList } from "../repository/fetch-source.ts";
import { Repository } from "../repository/repository.ts";
import type { StoredBundle } from "../store/bundle-table.ts";
import { R2ChunkStore } from "../store/r2-chunk-store.ts";
import type { Env } from "./env.ts";
import { printEvent } from "./event-log.ts";

/**
 * One repository: its refs, its object index and its jobs, in the object's own SQLite database. Pushes come as HTTP, since
 * their bodies stream; fetches as calls that return a plan, whose bytes the Worker carries.
 */
export class RepositoryObject extends DurableObject<Env> {
  readonly #repository: Repository;
  readonly #limits: Limits;

  constructor(context: DurableObjectState, env: Env) {
    super(context, env);
    this.#limits = configuredLimits(env);
    this.#repository = new Repository({
      sql: context.storage.sql,
      transactor: context.storage,
      openChunks: (counters) => new R2ChunkStore(env.BUCKET, counters),
      module: wasm,
      codec: instantiateCodec(wasm),
      limits: this.#limits,
      // Losing an alarm loses no job: the next push sets it again.
      wakeAt: (timeMs) => void context.storage.setAlarm(timeMs),
      observe: printEvent,
    });
  }

  /** Serves git-receive-pack; the Worker has authorised the request. */
  override async fetch(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname.endsWith("/info/refs")) return advertiseReceivePack(request, this.#repository);
    if (pathname.endsWith("/git-receive-pack")) return receivePack(request, this.#repository, this.#limits);
    return textResponse(404, "not found");
  }

  /** @see FetchSource.refs */
  listRefs(prefixes: string[]): Promise<RefList | null> {
    return this.#repository.refs(prefixes);
  }

  /** @see FetchSource.fetch: a Durable Object has another method of that name */
  planFetch(request: FetchRequest): Promise<FetchOutcome> {
    return this.#repository.fetch(request);
  }

  /** @see FetchSource.settleResponse */
  settleResponse(objectKey: string, sizeBytes: number | null): Promise<void> {
    return this.#repository.settleResponse(objectKey, sizeBytes);
  }

  /** @see FetchSource.sizes */
  readSizes(oids: Uint8Array): Promise<Float64Array | null> {
    return this.#repository.sizes(oids);
  }

  /** @see FetchSource.bundles */
  listBundles(): Promise<StoredBundle[] | null> {
    return this.#repository.bundles();
  }

  /** Does what the REST API asks. @see answerCall */
  call(name: CallName, argument: unknown): Promise<CallOutcome> {
    return this.#repository.call(name, argument);
  }

  override async alarm(): Promise<void> {
    await this.#repository.runJobs(Date.now());
  }
}

/** Reads the caps that the deployment lowers: variable `LIMITS`, a JSON object of `Limits`.
 * @throws RangeError when a cap is raised or is no number, SyntaxError when it is not JSON */
export function configuredLimits(env: Env): Limits {
  return lowerLimits(JSON.parse(env.LIMITS ?? "{}") as Partial<Limits>);
}
