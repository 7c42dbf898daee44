import type { Requester } from "../base/access/caller.ts";
import type { ListeningOwner } from "../contract/registry.ts";
import { GitError } from "../base/format/errors.ts";
import type { StoredBundle, FetchOutcome, FetchRequest, FetchSource, RefList } from "../contract/fetch.ts";
import { newChunkCounters } from "../base/chunks/chunk-store.ts";
import { deleteRepository } from "./events/deletion.ts";
import { addEvent } from "./events/events.ts";
import type { TokenEvent } from "../contract/events.ts";
import { Teller } from "./events/teller.ts";
import { fork } from "./forks/fork.ts";
import type { ForkRequest } from "../contract/merges.ts";
import { beginFork, readForkPart, shareHistory } from "./forks/share-history.ts";
import { setPin } from "./forks/pins.ts";
import { announce, announceNow } from "./refs/announce.ts";
import { AFTER_PUSH } from "./after-push.ts";
import { answerCall } from "./calls.ts";
import type { CopyPlace } from "./store/forks/table-copy.ts";
import type { FamilyMember, HistoryRequest } from "./state/family.ts";
import { runJobs } from "./maintenance/run-jobs.ts";
import { ObjectReader } from "./objects/object-reader.ts";
import type { PushRequest, PushTarget, ReceivedPush } from "./state/push.ts";
import { ReceivePack } from "./push/receive-pack.ts";
import type { RepositoryPlatform } from "./state/repository-platform.ts";
import { RepositoryState } from "./state/repository-state.ts";
import { Semaphore } from "../base/pacing/semaphore.ts";
import { ResponseCache } from "./fetch/response-cache.ts";
import { UploadPack } from "./fetch/upload-pack.ts";
import type { CallName, CallOutcome } from "../contract/calls.ts";

/** Calls that poll the progress of jobs: they must not delay them. */
const WATCHES_JOBS: ReadonlySet<CallName> = new Set(["maintenance", "worktrees"]);

/** One repository, the only writer of its database, as a Durable Object is. It exists from `create`
 * or its first successful push until `delete`. */
export class Repository implements FetchSource, PushTarget, FamilyMember {
  readonly state: RepositoryState;
  /** One job at a time: each may rely on what it has read until it writes. */
  readonly #jobSemaphore = new Semaphore(1);
  /** Shares the work of equal fetches. */
  readonly #responses: ResponseCache;

  constructor(platform: RepositoryPlatform) {
    this.state = new RepositoryState(platform, AFTER_PUSH);
    this.#responses = new ResponseCache(this.state);
    this.state.teller = new Teller(this.state);
  }

  refs(prefixes: string[]): Promise<RefList | null> {
    return this.#serve(async () => this.#uploadPack()?.refs(prefixes) ?? null);
  }

  fetch(request: FetchRequest): Promise<FetchOutcome> {
    return this.#serve(async () => {
      const uploadPack = this.#uploadPack();
      if (uploadPack === null) return { kind: "unknown-repository" };
      const { sqlCounters } = this.state;
      const before = sqlCounters.rowsRead;
      const answer = await this.state.holdNumbers(() => uploadPack.fetch(request));
      return answer.kind === "negotiated" ? { ...answer, rowsRead: sqlCounters.rowsRead - before } : answer;
    });
  }

  async finishResponse(objectKey: string, sizeBytes: number | null): Promise<void> {
    this.#responses.finish(objectKey, sizeBytes);
  }

  awaitResponse(objectKey: string): ReturnType<FetchSource["awaitResponse"]> {
    return this.#serve(() => this.#responses.awaitStored(objectKey));
  }

  sizes(oids: Uint8Array): Promise<Float64Array | null> {
    return this.#serve(async () => this.#uploadPack()?.sizes(oids) ?? null);
  }

  async bundles(): Promise<StoredBundle[] | null> {
    const { tables } = this.state;
    if (tables === null) return null;
    const bundle = tables.bundles.current();
    return bundle === null ? [] : [bundle];
  }

  /** Whether its database is empty, as that of a repository which never was. */
  get isBlank(): boolean {
    return this.state.tables === null && !this.state.isDeleted;
  }

  /** Whether a push is accepted: the repository exists, or the registry reserves a name for it.
   * Once false, it stays false: it was deleted, or its database is lost. */
  async admitsPush(): Promise<boolean> {
    const { tables, isDeleted, platform } = this.state;
    if (isDeleted || tables !== null) return !isDeleted;
    const isReserved = await platform.registry.admit(platform.id);
    // Another push may have created it meanwhile.
    return isReserved || this.state.tables !== null;
  }

  receive(request: PushRequest): Promise<ReceivedPush> {
    return this.#serve(() => this.#receive(request));
  }

  async #receive(request: PushRequest): Promise<ReceivedPush> {
    const { state } = this;
    const endCreate = state.holds.begin("create");
    try {
      const isNew = state.tables === null;
      // Checked here, where the push already counts as running: until it ends, the name stays
      // reserved.
      if (isNew && !(await this.admitsPush())) throw new GitError("not-found", { subject: "repository" });
      const result = await new ReceivePack(state, request).run();
      if (isNew && state.tables !== null) await announceNow(state);
      return result;
    } finally {
      endCreate();
      // The last job may have ended meanwhile, and left the database to be removed.
      await this.#eraseRemains();
    }
  }

  /** Creates the repository, empty.
   * @param defaultBranch without `refs/heads/`, byte string
   * @returns whether it did not exist; also false when the registry reserves no name for it */
  async create(defaultBranch: string): Promise<boolean> {
    if (!(await this.admitsPush()) || !this.state.create(`refs/heads/${defaultBranch}`)) return false;
    await announceNow(this.state);
    return true;
  }

  /** Makes the repository, which must not exist, a fork of another one.
   * @returns whether it did not exist; also false when the registry reserves no name for it
   * @throws GitError
   * @see fork */
  async fork(request: ForkRequest): Promise<boolean> {
    const { state } = this;
    if (!(await this.admitsPush())) return false;
    // Another request may have begun meanwhile.
    if (state.tables !== null || state.holds.has("pin")) return false;
    const endCreate = state.holds.begin("create");
    try {
      await fork(state, request);
    } finally {
      endCreate();
      await this.#eraseRemains();
    }
    await announceNow(state);
    return true;
  }

  async beginFork(holder: string, version: number): ReturnType<FamilyMember["beginFork"]> {
    return beginFork(this.state, holder, version);
  }

  async readForkPart(layout: string, place: CopyPlace): ReturnType<FamilyMember["readForkPart"]> {
    return readForkPart(this.state, layout, place);
  }

  async shareHistory(request: HistoryRequest): ReturnType<FamilyMember["shareHistory"]> {
    return shareHistory(this.state, request);
  }

  async pin(holder: string, version: number, keys: readonly string[]): Promise<boolean> {
    try {
      return setPin(this.state, holder, version, keys);
    } finally {
      // It may have been the last that kept a deleted repository.
      await this.#eraseRemains();
    }
  }

  /** Deletes the repository at once; jobs remove its bytes, and tell its webhooks.
   * @param caller who does it; null: unknown
   * @returns whether it existed */
  async delete(caller: Requester["caller"] | null = null): Promise<boolean> {
    const existed = await deleteRepository(this.state, caller);
    // Also if it was already deleted: a repeated request may be the first to reach the registry.
    if (this.state.isDeleted) await announceNow(this.state);
    return existed;
  }

  /** Records that somebody made or revoked a token for the repository. The registry has done it. */
  async noteToken(caller: Requester["caller"], change: TokenEvent): Promise<void> {
    const { state } = this;
    const { tables } = state;
    if (tables === null) return;
    state.transactAside(() => addEvent(state, tables, { caller }, "token", { ...change }));
  }

  /** Hears that somebody listens to the repository's owner. */
  async hearOwner(owner: ListeningOwner): Promise<void> {
    this.state.teller.hearOwner(owner);
  }

  /** Reports the repository's state to the registry. @see announce */
  announce(): Promise<void> {
    return announce(this.state);
  }

  /** Serves one fetch; null: there is no repository. */
  #uploadPack(): UploadPack | null {
    const { tables, platform } = this.state;
    if (tables === null) return null;
    const { advertised } = this.state;
    const reader = new ObjectReader(tables, platform.openChunks(newChunkCounters()), platform.codec);
    return new UploadPack({
      advertised,
      objects: tables.objects,
      chunks: tables.chunks,
      reader,
      responses: this.#responses,
      // Not read for the refs alone.
      get graph() {
        return tables.graph;
      },
      get reachability() {
        return tables.reachability;
      },
    });
  }

  /** Runs a call of the API. @see answerCall */
  call(name: CallName, argument: unknown, requester: Requester): Promise<CallOutcome> {
    const answer = (): Promise<CallOutcome> =>
      answerCall(this.state, requester, (nowMs) => this.runJobs(nowMs), name, argument);
    return WATCHES_JOBS.has(name) ? answer() : this.#serve(answer);
  }

  /** Runs a request, for which jobs make way. */
  async #serve<T>(f: () => Promise<T>): Promise<T> {
    const end = this.state.platform.traffic.begin();
    try {
      return await f();
    } finally {
      end();
    }
  }

  /** Runs the due jobs, and schedules the next. */
  async runJobs(nowMs: number): Promise<void> {
    const permit = await this.#jobSemaphore.acquire();
    try {
      if (this.state.hasJobs) await runJobs(this.state, nowMs);
      await this.#eraseRemains();
    } finally {
      permit.release();
      this.state.scheduleJobs();
    }
  }

  /** Removes the database of a repository that does not exist (deleted, or never created) once no
   * jobs remain, and the registry knows. */
  async #eraseRemains(): Promise<void> {
    const { tables, platform, holds, hasJobs, pins, isDeleted, announcement } = this.state;
    if (tables !== null || holds.has("create") || !hasJobs || !pins.isEmpty()) return;
    if (isDeleted && !announcement.isTold) return;
    if (this.state.jobs.nextDueMs() === null) await platform.erase();
  }
}
