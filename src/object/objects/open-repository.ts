import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import type { Requester } from "../../base/access/caller.ts";
import { GitError } from "../../base/format/errors.ts";
import { type Oid, toHex } from "../../base/format/oid.ts";
import { type ChunkStore, newChunkCounters } from "../../base/chunks/chunk-store.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import type { ObjectRow } from "../store/index/object-columns.ts";
import type { Tables } from "../store/tables.ts";
import type { AdvertisedRefs } from "../state/advertised-refs.ts";
import { ObjectReader } from "./object-reader.ts";
import type { PushCost } from "../../contract/log-events.ts";
import type { RepositoryState } from "../state/repository-state.ts";

/** An existing repository, as one call of the API sees it. Only reachable objects are visible: an
 * object of a refused push, or one that no ref reaches any more, counts as missing. */
export class OpenRepository {
  readonly state: RepositoryState;
  /** The caller. */
  readonly requester: Requester;
  /** The call's R2 operations. */
  readonly operations = newChunkCounters();
  readonly chunks: ChunkStore;

  /** The meanings of ambiguous names in the call, the chosen one first. Full names of refs, byte
   * strings, and ids in hex. */
  readonly ambiguities: (readonly string[])[] = [];

  /** The pushes of the call, whether or not refs moved. */
  readonly pushes: PushCost[] = [];

  /** Runs the jobs that are due at this time (ms since 1970). */
  readonly runJobs: (nowMs: number) => Promise<void>;

  /** @throws GitError "not-found" when the repository does not exist */
  constructor(state: RepositoryState, requester: Requester, runJobs: (nowMs: number) => Promise<void>) {
    tablesOf(state);
    this.state = state;
    this.requester = requester;
    this.runJobs = runJobs;
    this.chunks = state.platform.openChunks(this.operations);
  }

  /** The tables. Read them again after each wait.
   * @throws GitError "not-found" when the repository was deleted meanwhile */
  get tables(): Tables {
    return tablesOf(this.state);
  }

  /** The refs, and the nodes that they reach. Read them again after each wait. */
  get advertised(): AdvertisedRefs {
    tablesOf(this.state);
    return this.state.advertised;
  }

  /** Reads objects whole. */
  get reader(): ObjectReader {
    return new ObjectReader(this.tables, this.chunks, this.state.platform.codec);
  }

  /** Finds the row of a reachable object; null: there is none. */
  find(oid: Oid): ObjectRow | null {
    const row = this.tables.objects.find(oid);
    return row !== null && this.isReachable(row.number) ? row : null;
  }

  /** Whether a ref reaches an object. */
  isReachable(number: ObjectNumber): boolean {
    return this.reachableAmong(NumberSet.of(number)).has(number);
  }

  /** Selects the objects that a ref reaches. For many objects, one call is far cheaper than one for
   * each. */
  reachableAmong(numbers: NumberSet): NumberSet {
    return this.tables.reachability.within(numbers, this.advertised.reachable);
  }

  /** Records the possible meanings of a name in the call.
   * @see ambiguities */
  noteMeanings(meanings: readonly string[]): void {
    if (meanings.length > 1) this.ambiguities.push(meanings);
  }

  /** Finds the object number of an id that must exist.
   * @throws GitError "storage-failed" when it is missing: every stored reference has its target */
  numberOf(oid: Oid): ObjectNumber {
    const row = this.tables.objects.find(oid);
    if (row === null)
      throw new GitError("storage-failed", { key: "object_chunks", reason: `${toHex(oid)} is missing` });
    return row.number;
  }
}

function tablesOf({ tables }: RepositoryState): Tables {
  if (tables === null) throw new GitError("not-found", { subject: "repository" });
  return tables;
}
