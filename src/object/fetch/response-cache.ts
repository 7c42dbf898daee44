import { toHex } from "../../base/format/oid.ts";
import type { StoredResponse } from "../store/jobs/response-table.ts";
import type { FetchSource, PackDelivery } from "../../contract/fetch.ts";
import { type PackPlan, sentBytes } from "../../base/bytes/pack-plan.ts";
import type { RepositoryState } from "../state/repository-state.ts";

/** Bytes of the packs that are worth storing. Smaller ones are made as fast as they are fetched;
 * larger ones would displace everything else. */
const MIN_PACK_BYTES = 64 * 1024;
const MAX_PACK_BYTES = 128 * 1024 * 1024;

/** How long a response is kept after it was made, and after its last use. */
const KEEP_MS = 7 * 24 * 60 * 60_000;
const KEEP_UNUSED_MS = 24 * 60 * 60_000;

/** After this time the R2 object of a dropped response is deleted: clients may still be reading
 * it. */
const DELETE_AFTER_MS = 60 * 60_000;

/** How long a request counts as seen. The response of an equal one within this time is stored. */
const SEEN_MS = 10 * 60_000;

/** The most requests remembered as seen. */
const MAX_SEEN = 512;

/** How long, from its beginning, other requests wait for a response being stored. Then each is
 * served alone, because the request that stores it may have died. */
const WAIT_MS = 10_000;

/** A request that was seen. */
interface Seen {
  readonly timeMs: number;
  /** Set while its pack is being planned. */
  plan: Promise<PackPlan> | null;
  /** Set while its response is being stored. */
  making: Making | null;
}

/** A response being written to R2. */
interface Making {
  readonly key: Uint8Array;
  readonly seen: Seen;
  readonly objectKey: string;
  readonly plan: PackPlan;
  readonly startedMs: number;
  /** Null: storing it failed. */
  readonly stored: Promise<StoredResponse | null>;
  finish(stored: StoredResponse | null): void;
}

/** Shares the work of equal requests. The first is served as if it were alone, except that requests
 * arriving while its pack is planned share the plan. The second is served likewise, and its
 * response is also stored in R2, as the exact HTTP body. Requests arriving meanwhile begin their
 * responses and wait for it; later ones are served from R2. So a clone that is not repeated costs
 * no write, and a storm of clones costs one. */
export class ResponseCache {
  readonly #repository: RepositoryState;
  readonly #seen = new Map<string, Seen>();
  /** By R2 object. */
  readonly #making = new Map<string, Making>();

  constructor(repository: RepositoryState) {
    this.#repository = repository;
  }

  /** Decides where the pack of a response comes from.
   * @param key SHA-1 of everything that determines the response's bytes
   * @param makePlan plans the pack
   * @throws whatever `makePlan` throws */
  async deliver(key: Uint8Array, makePlan: () => Promise<PackPlan>): Promise<PackDelivery> {
    if (this.#repository.platform.limits.maxStoredResponseBytes === 0) return toPlanned(await makePlan());
    const stored = this.#repository.tables!.responses.find(key, Date.now());
    if (stored !== null) return { kind: "stored", cache: "hit", ...stored };
    const name = toHex(key);
    const seen = this.#recall(name);
    if (seen === null) return this.#serveFirst(name, makePlan);
    const awaited = shareMaking(seen);
    if (awaited !== null) return awaited;
    const plan = await (seen.plan ?? makePlan());
    return shareMaking(seen) ?? (this.#isWorthStoring(plan) ? this.#make(key, seen, plan) : toPlanned(plan));
  }

  /** Waits for a response that is being stored. @see FetchSource.awaitResponse */
  async awaitStored(objectKey: string): ReturnType<FetchSource["awaitResponse"]> {
    const making = this.#making.get(objectKey);
    if (making === undefined) {
      const stored = this.#repository.tables?.responses.findObject(objectKey) ?? null;
      return stored === null ? null : { kind: "stored", cache: "shared", ...stored };
    }
    const stored = await withTimeout(making.stored, waitMs(making));
    return stored === null ? toPlanned(making.plan) : { kind: "stored", cache: "shared", ...stored };
  }

  /** Records the result of storing a response.
   * @param objectKey its R2 object
   * @param sizeBytes null: it failed, or its bytes are missing by now */
  finish(objectKey: string, sizeBytes: number | null): void {
    const making = this.#making.get(objectKey);
    if (making === undefined) {
      // Stored earlier, or begun before this object was restarted: then nobody waits, and the sweep
      // removes what was written.
      if (sizeBytes === null) this.#forget(objectKey);
      return;
    }
    const { key, plan, seen } = making;
    this.#making.delete(objectKey);
    seen.making = null;
    const { tables, jobs } = this.#repository;
    // If the repository was deleted meanwhile, its sweep removes the object.
    const isStored = sizeBytes !== null && tables !== null;
    const stored = isStored ? { objectKey, sizeBytes, objectCount: plan.objectCount } : null;
    let finished: StoredResponse | null = null;
    try {
      if (stored !== null) {
        this.#repository.transactAside(() => {
          tables!.responses.insert(key, stored, Date.now());
          jobs.cancel("sweep", objectKey);
          trimResponses(this.#repository, Date.now());
        });
      }
      finished = stored;
    } finally {
      making.finish(finished);
    }
    this.#repository.scheduleJobs();
  }

  /** Drops a response that could not be read. Its bytes may exist all the same. */
  #forget(objectKey: string): void {
    const { tables, jobs } = this.#repository;
    if (tables?.responses.hasObject(objectKey) !== true) return;
    this.#repository.transactAside(() => {
      tables.responses.remove(objectKey);
      jobs.add("sweep", objectKey, Date.now() + DELETE_AFTER_MS);
    });
    this.#repository.scheduleJobs();
  }

  async #serveFirst(name: string, makePlan: () => Promise<PackPlan>): Promise<PackDelivery> {
    const seen: Seen = { timeMs: Date.now(), plan: makePlan(), making: null };
    this.#seen.set(name, seen);
    for (const oldest of this.#seen.keys()) {
      if (this.#seen.size <= MAX_SEEN) break;
      this.#seen.delete(oldest);
    }
    try {
      const plan = await seen.plan!;
      if (this.#isWorthStoring(plan)) return { kind: "plan", plan, responseKey: name };
      this.#seen.delete(name);
      return toPlanned(plan);
    } catch (error) {
      this.#seen.delete(name);
      throw error;
    } finally {
      seen.plan = null;
    }
  }

  #isWorthStoring(plan: PackPlan): boolean {
    const bytes = sentBytes(plan);
    return (
      bytes >= MIN_PACK_BYTES &&
      bytes <= Math.min(MAX_PACK_BYTES, this.#repository.platform.limits.maxStoredResponseBytes)
    );
  }

  #recall(name: string): Seen | null {
    const seen = this.#seen.get(name);
    if (seen === undefined) return null;
    const sinceMs = Date.now() - (seen.making?.startedMs ?? seen.timeMs);
    if (seen.plan !== null || sinceMs <= SEEN_MS) return seen;
    this.#seen.delete(name);
    return null;
  }

  #make(key: Uint8Array, seen: Seen, plan: PackPlan): PackDelivery {
    const { jobs } = this.#repository;
    const objectKey = `${this.#repository.key}/packs/${crypto.randomUUID()}`;
    const { promise, resolve } = Promise.withResolvers<StoredResponse | null>();
    jobs.add("sweep", objectKey, Date.now() + DELETE_AFTER_MS);
    this.#repository.scheduleJobs();
    // Nothing fails from here on, so no request waits for a response that is never made.
    const making = { key, seen, objectKey, plan, startedMs: Date.now(), stored: promise, finish: resolve };
    seen.making = making;
    // Requests that have not reported by now never will.
    for (const [other, { startedMs }] of this.#making) {
      if (making.startedMs - startedMs > SEEN_MS) this.#making.delete(other);
    }
    this.#making.set(objectKey, making);
    return { kind: "store", plan, objectKey, responseKey: toHex(key) };
  }
}

/** Drops responses that are too old, unused or too many, and schedules the next time. Must run in a
 * transaction. */
export function trimResponses({ tables, jobs, platform }: RepositoryState, nowMs: number): void {
  const { responses } = tables!;
  const { maxStoredResponseBytes } = platform.limits;
  for (const objectKey of responses.trim(nowMs - KEEP_MS, nowMs - KEEP_UNUSED_MS, maxStoredResponseBytes)) {
    jobs.add("sweep", objectKey, nowMs + DELETE_AFTER_MS);
  }
  const next = responses.nextTrimMs(KEEP_MS, KEEP_UNUSED_MS);
  if (next !== null) jobs.add("trim", "", next + 1);
}

/** The delivery for a request whose response is being stored for an equal one; null: it is not. */
function shareMaking({ making }: Seen): PackDelivery | null {
  if (making === null) return null;
  const { objectKey, plan } = making;
  return waitMs(making) > 0 ? { kind: "awaited", objectKey } : toPlanned(plan);
}

/** A pack for one client, whose response is not stored. */
function toPlanned(plan: PackPlan): PackDelivery & { readonly kind: "plan" } {
  return { kind: "plan", plan, responseKey: null };
}

function waitMs({ startedMs }: Making): number {
  return startedMs + WAIT_MS - Date.now();
}

async function withTimeout<T>(promise: Promise<T | null>, timeoutMs: number): Promise<T | null> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), timeoutMs);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
