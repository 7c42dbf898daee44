import type { Requester } from "../../access/caller.ts";
import { GitError } from "../../format/errors.ts";
import { type Oid, toHex } from "../../format/oid.ts";
import { type ChunkStore, newChunkCounters } from "../../store/chunks/chunk-store.ts";
import { NumberSet } from "../../store/numbers/number-set.ts";
import type { ObjectRow } from "../../store/index/object-index.ts";
import type { Tables } from "../../store/tables.ts";
import type { AdvertisedRefs } from "../state/advertised-refs.ts";
import { ObjectReader } from "./object-reader.ts";
import type { PushCost } from "../state/repository-event.ts";
import type { RepositoryState } from "../state/repository-state.ts";

/** A repository that exists, as one call of the API sees it. Only what refs lead to can be seen: an object of a refused push, or
 * one that no ref leads to any more, is not there. */
export class OpenRepository {
  readonly state: RepositoryState;
  /** Who calls. */
  readonly requester: Requester;
  /** What the call does to R2. */
  readonly operations = newChunkCounters();
  readonly chunks: ChunkStore;

  /** What the call's names stand for, of those that stand for several things: that before all others which was taken. Full names of refs,
   * byte strings, and ids in hex. */
  readonly ambiguities: (readonly string[])[] = [];

  /** What the call published, whether refs moved or not. */
  readonly pushes: PushCost[] = [];

  /** Runs the jobs that are due at this time (ms since 1970). */
  readonly runJobs: (nowMs: number) => Promise<void>;

  /** @throws GitError "not-found" when there is no such repository */
  constructor(state: RepositoryState, requester: Requester, runJobs: (nowMs: number) => Promise<void>) {
    tablesOf(state);
    this.state = state;
    this.requester = requester;
    this.runJobs = runJobs;
    this.chunks = state.platform.openChunks(this.operations);
  }

  /** The tables; to be asked again after each wait.
   * @throws GitError "not-found" when the repository was deleted meanwhile */
  get tables(): Tables {
    return tablesOf(this.state);
  }

  /** The refs, and what they lead to; to be asked again after each wait. */
  get advertised(): AdvertisedRefs {
    tablesOf(this.state);
    return this.state.advertised;
  }

  /** Reads objects whole. */
  get reader(): ObjectReader {
    return new ObjectReader(this.tables, this.chunks, this.state.platform.codec);
  }

  /** The row of an object that a ref leads to; null: there is none. */
  find(oid: Oid): ObjectRow | null {
    const row = this.tables.objects.find(oid);
    return row !== null && this.isReachable(row.number) ? row : null;
  }

  /** Whether a ref leads to an object. */
  isReachable(number: number): boolean {
    const wanted = NumberSet.of(number);
    return this.tables.reachability.within(wanted, this.advertised.reachable).has(number);
  }

  /** Notes what a name of the call stands for. @see ambiguities */
  noteMeanings(meanings: readonly string[]): void {
    if (meanings.length > 1) this.ambiguities.push(meanings);
  }

  /** The object number of an id that is known to be there.
   * @throws GitError "storage-failed" when it is not: the store is closed under references */
  numberOf(oid: Oid): number {
    const row = this.tables.objects.find(oid);
    if (row === null)
      throw new GitError("storage-failed", { key: "object_chunks", reason: `${toHex(oid)} is missing` });
    return row.number;
  }
}

function tablesOf({ tables }: RepositoryState): Tables {
  if (tables === null) throw new GitError("not-found", { what: "repository" });
  return tables;
}
