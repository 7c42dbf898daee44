// What a push would make reachable, for the deployment's policy: told before the push is applied,
// out of the index of its pack, the bytes that it has written, and what is stored.
import { EMPTY_INDEX } from "../../base/codec/pack-index.ts";
import { decodeText } from "../../base/format/byte-string.ts";
import { isGitError } from "../../base/format/errors.ts";
import { COMMIT } from "../../base/format/object.ts";
import { isNullOid, toHex } from "../../base/format/oid.ts";
import type { ChunkStore } from "../../base/chunks/chunk-store.ts";
import type { GraphPosition, ObjectNumber } from "../../base/numbers/kinds.ts";
import type { Tables } from "../store/tables.ts";
import { describe } from "../diff/diff.ts";
import { diffTrees } from "../diff/tree-diff.ts";
import type { CommitRecord } from "../../contract/commits.ts";
import { sizeOf, toCommitRecord } from "../objects/commit-record.ts";
import { finishInSlices, TimeSlice } from "../../base/pacing/time-slice.ts";
import { AdvertisedRefs } from "../state/advertised-refs.ts";
import type { RefCommand } from "../../contract/push.ts";
import type { RepositoryState } from "../state/repository-state.ts";
import type { IndexedPack } from "./indexed-pack.ts";
import { type PendingNode, PendingObjects } from "./pending-objects.ts";
import { findTargets } from "./push-graph.ts";
import { PushedObjects } from "./pushed-objects.ts";

/** Commits and files that are told of one push, and characters of messages and paths. */
const MAX_COMMITS = 500;
const MAX_FILES = 5_000;
const MAX_CHARS = 1024 * 1024;

/** How long telling may take (ms); others are served meanwhile. */
const TELL_MS = 5_000;

/** Commits and tags that are looked at for that: a commit may have very many parents. */
const MAX_VISITED = 10_000;

/** A file that a commit changes. */
interface ChangedFile {
  readonly path: string;
  readonly status: string;
  /** As in the tree, octal; null: it is deleted, like what follows. */
  readonly mode: string | null;
  readonly oid: string | null;
  /** Bytes; also null of a submodule. */
  readonly size: number | null;
}

/** A commit that no ref has reached. */
interface NewCommit extends CommitRecord {
  /** Against its first parent, without renames. */
  readonly files: readonly ChangedFile[];
}

/** What a change of a ref would make reachable. */
export interface NewCommits {
  /** The newest first. */
  readonly commits: readonly NewCommit[];
  /** Whether these are all commits, with all their files, and nothing else becomes reachable. */
  readonly complete: boolean;
}

/** Tells what each change of a push would make reachable, as far as limits allow.
 * @param pack indexed, not applied; null: the push has none
 * @throws GitError "storage-failed" */
export async function tellNewCommits(
  repository: RepositoryState,
  pack: IndexedPack | null,
  chunks: ChunkStore,
  commands: readonly RefCommand[],
): Promise<NewCommits[]> {
  const tables = repository.prepareTables();
  const advertised = repository.tables === null ? new AdvertisedRefs(tables) : repository.advertised;
  const steps = PushedObjects.prepare(pack?.indexer.index() ?? EMPTY_INDEX, tables.objects);
  const pushed = (await finishInSlices(steps, () => true))!;
  const objects = new PendingObjects(
    tables,
    { pushed, written: pack?.chunks ?? [] },
    chunks,
    repository.platform.codec,
  );
  const ends = commands.flatMap((command) => [command, { ...command, new: command.old }]);
  const targets = findTargets(tables, { commands: ends, pushed });
  const teller = new Teller(tables, advertised, objects);
  const told: NewCommits[] = [];
  for (const [i, { new: to }] of commands.entries()) {
    const [target, old] = [targets[2 * i]!, targets[2 * i + 1]!];
    if (isNullOid(to)) told.push({ commits: [], complete: true });
    // The push will be refused, whatever the policy says.
    else if (target === null) told.push({ commits: [], complete: false });
    else told.push(await teller.tell(target.number, old?.number ?? null));
  }
  return told;
}

class Teller {
  readonly #tables: Tables;
  readonly #advertised: AdvertisedRefs;
  readonly #objects: PendingObjects;
  readonly #endMs = Date.now() + TELL_MS;
  #commits = 0;
  #files = 0;
  #chars = 0;
  #visited = 0;

  constructor(tables: Tables, advertised: AdvertisedRefs, objects: PendingObjects) {
    this.#tables = tables;
    this.#advertised = advertised;
    this.#objects = objects;
  }

  /** Tells what a ref would reach.
   * @param old where it is; null: nowhere */
  async tell(target: ObjectNumber, old: ObjectNumber | null): Promise<NewCommits> {
    const { numbers, isWhole } = this.#list(target, old);
    const commits: NewCommit[] = [];
    let complete = isWhole;
    try {
      for (const number of numbers) {
        const commit = this.#isSpent ? null : await this.#describe(number);
        if (commit === null) return { commits, complete: false };
        commits.push(commit);
      }
    } catch (error) {
      if (!isGitError(error) || error.code !== "too-large") throw error;
      complete = false;
    }
    return { commits, complete };
  }

  get #isSpent(): boolean {
    return this.#files >= MAX_FILES || this.#chars >= MAX_CHARS || Date.now() > this.#endMs;
  }

  #list(target: ObjectNumber, old: ObjectNumber | null): { numbers: ObjectNumber[]; isWhole: boolean } {
    const numbers: ObjectNumber[] = [];
    const seen = new Set<ObjectNumber>(old === null ? [] : [old]);
    const waiting: [ObjectNumber, PendingNode][] = [];
    let isWhole = true;
    const visit = (number: ObjectNumber): void => {
      if (seen.has(number) || this.#isReachable(number)) return;
      seen.add(number);
      const node = this.#objects.node(number);
      if (node === null || ++this.#visited > MAX_VISITED) isWhole = false;
      else waiting.push([number, node]);
    };
    visit(target);
    while (waiting.length > 0) {
      const [number, { type, next }] = takeNewest(waiting);
      if (type === COMMIT && ++this.#commits > MAX_COMMITS) return { numbers, isWhole: false };
      if (type === COMMIT) numbers.push(number);
      for (const one of next) visit(one);
    }
    return { numbers, isWhole };
  }

  #isReachable(number: ObjectNumber): boolean {
    const position = this.#tables.graph.position(number);
    return position >= 0 && this.#advertised.reachable.has(position as GraphPosition);
  }

  /** @returns null: it is more than may be told */
  async #describe(number: ObjectNumber): Promise<NewCommit | null> {
    const objects = this.#objects;
    const record = toCommitRecord(toHex(objects.oid(number)), await objects.read(number));
    const { tree, next } = objects.node(number)!;
    const parent = next[0] === undefined ? 0 : objects.node(next[0])!.tree;
    const diff = await diffTrees(objects, parent, tree, MAX_FILES - this.#files, new TimeSlice());
    const files = diff.changes.map((change): ChangedFile => {
      const { status, mode, oid } = describe(change);
      const size = change.next === null || change.next.number === 0 ? null : objects.sizeBytes(change.next.number);
      return { path: decodeText(change.path), status, mode, oid, size };
    });
    this.#files += files.length;
    this.#chars += sizeOf(record) + files.reduce((sum, { path }) => sum + path.length, 0);
    return diff.isTruncated || this.#chars > MAX_CHARS ? null : { ...record, files };
  }
}

function takeNewest(waiting: [ObjectNumber, PendingNode][]): [ObjectNumber, PendingNode] {
  const newest = waiting.reduce(
    (best, [, node], i) => (node.timeSeconds > waiting[best]![1].timeSeconds ? i : best),
    0,
  );
  return waiting.splice(newest, 1)[0]!;
}
