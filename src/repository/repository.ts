import type { StoredBundle } from "../store/bundle-table.ts";
import { newChunkCounters } from "../store/chunk-store.ts";
import { hasJobs } from "../store/schema.ts";
import { answerCall, type CallName, type CallOutcome } from "./calls.ts";
import type { FetchOutcome, FetchRequest, FetchSource, RefList } from "./fetch-source.ts";
import { runJobs } from "./maintenance/run-jobs.ts";
import { ObjectReader } from "./object-reader.ts";
import type { PushRequest, PushResult, PushTarget } from "./push.ts";
import { ReceivePack } from "./receive-pack.ts";
import { type RepositoryPlatform, RepositoryState } from "./repository-state.ts";
import { Slots } from "./slots.ts";
import { ResponseCache } from "./response-cache.ts";
import { UploadPack } from "./upload-pack.ts";

/** One repository: the only writer of its database, as a Durable Object is. It exists from its first successful push on. */
export class Repository implements FetchSource, PushTarget {
  readonly state: RepositoryState;
  /** One job at a time: each may rely on what it has read until it writes. */
  readonly #jobSlot = new Slots(1);
  /** Fetches share the work of equal ones. */
  readonly #responses: ResponseCache;

  constructor(platform: RepositoryPlatform) {
    this.state = new RepositoryState(platform);
    this.#responses = new ResponseCache(this.state);
  }

  async refs(prefixes: string[]): Promise<RefList | null> {
    return this.#uploadPack()?.refs(prefixes) ?? null;
  }

  async fetch(request: FetchRequest): Promise<FetchOutcome> {
    const uploadPack = this.#uploadPack();
    if (uploadPack === null) return { kind: "unknown-repository" };
    const { sqlCounters } = this.state;
    const before = sqlCounters.rowsRead;
    const answer = await this.state.holdNumbers(() => uploadPack.fetch(request));
    return answer.kind === "negotiated" ? { ...answer, rowsRead: sqlCounters.rowsRead - before } : answer;
  }

  async settleResponse(objectKey: string, sizeBytes: number | null): Promise<void> {
    this.#responses.settle(objectKey, sizeBytes);
  }

  async sizes(oids: Uint8Array): Promise<Float64Array | null> {
    return this.#uploadPack()?.sizes(oids) ?? null;
  }

  async bundles(): Promise<StoredBundle[] | null> {
    const { tables } = this.state;
    if (tables === null) return null;
    const bundle = tables.bundles.current();
    return bundle === null ? [] : [bundle];
  }

  receive(request: PushRequest): Promise<PushResult> {
    return new ReceivePack(this.state, request).run();
  }

  /** Answers one fetch; null: there is no repository. */
  #uploadPack(): UploadPack | null {
    const { tables, platform } = this.state;
    if (tables === null) return null;
    const { advertised } = this.state;
    const { objects, graph, reachability, chunks } = tables;
    const reader = new ObjectReader(tables, platform.openChunks(newChunkCounters()), platform.codec);
    return new UploadPack({
      advertised,
      objects,
      graph,
      reachability,
      chunks,
      reader,
      responses: this.#responses,
    });
  }

  /** Does what the API asks. @see answerCall */
  call(name: CallName, argument: unknown): Promise<CallOutcome> {
    return answerCall(this.state, (nowMs) => this.runJobs(nowMs), name, argument);
  }

  /** Runs the jobs that are due, and sees to the next. */
  async runJobs(nowMs: number): Promise<void> {
    const freeSlot = await this.#jobSlot.take();
    try {
      if (hasJobs(this.state.platform.sql)) await runJobs(this.state, nowMs);
    } finally {
      freeSlot();
      this.state.scheduleJobs();
    }
  }
}
