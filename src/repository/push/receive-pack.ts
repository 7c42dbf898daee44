import { includesRight, type Requester } from "../../access/caller.ts";
import { RefRules } from "../../access/ref-rules.ts";
import { EMPTY_INDEX } from "../../codec/pack-index.ts";
import { type FsckSetting, maskRefused } from "../../codec/fsck-messages.ts";
import { FREE_CONTENT_BYTES } from "../../codec/pack-indexer.ts";
import { GitError, isGitError, type GitErrorCode } from "../../format/errors.ts";
import { MAX_DELTA_BLOB_BYTES } from "../../format/limits.ts";
import { TREE, BLOB } from "../../format/object.ts";
import { newChunkCounters, type ChunkStore } from "../../store/chunks/chunk-store.ts";
import { NumberSet } from "../../store/numbers/number-set.ts";
import type { Tables } from "../../store/tables.ts";
import { PushedObjects } from "./pushed-objects.ts";
import { indexPack, type BaseObject, type IndexedPack } from "./index-pack.ts";
import type { LargeBase } from "./made-objects.ts";
import { ObjectReader } from "../objects/object-reader.ts";
import type { PackSource, PushRequest, ReceivedPush, AppliedPush } from "../state/push.ts";
import { type RefOutcome, refuseUnpacked, refuseWhole } from "../state/ref-refusal.ts";
import { splitAtSteps } from "./push-steps.ts";
import { isStale, renewStanding } from "./renew-standing.ts";
import type { PushCost } from "../state/repository-event.ts";
import type { RepositoryState } from "../state/repository-state.ts";
import { changeOf, findUnread, type PushToApply, applyPush, type ApplyOutcome } from "./apply-push.ts";
import { ReturnedTrees } from "./returned-trees.ts";
import { QuotaCheck } from "../state/quota-check.ts";
import { keptTree } from "../objects/tree-contents.ts";

/** How long a push may take before what it wrote counts as left behind by a crash. */
const SWEEP_AFTER_MS = 60 * 60_000;

/** Push option that changes the repository's fsck setting: `git push -o fsck=lenient`. */
const FSCK_OPTION = "fsck=";

/** Failures that are the pack's own: an answer to the client, not an error of the server. */
const REFUSALS: ReadonlySet<GitErrorCode> = new Set([
  "corrupt-pack",
  "corrupt-object",
  "corrupt-delta",
  "bad-object",
  "missing-object",
  "wrong-type",
  "sha1-collision",
  "too-large",
  "unsupported",
  // An option that is not for this caller, or a right that it has lost since it began.
  "forbidden",
  "unauthenticated",
]);

/**
 * Takes one push in. Chunks first, then one transaction: the pack is indexed, checked and stored while nothing refers to
 * it, then rows, graph and refs appear at once. Where the chunks go is noted as a job before the first is written, and
 * the transaction removes it: whatever ends the push otherwise, the job sweeps what it left.
 */
export class ReceivePack {
  readonly #repository: RepositoryState;
  readonly #request: PushRequest;
  readonly #keyPrefix: string;
  /** What is known of the caller, or of those of the steps, the last time that it was asked. */
  #requesters: readonly Requester[];
  /** What the repository's fsck setting becomes, null: it stays. */
  #newFsck: FsckSetting | null = null;
  readonly #operations = newChunkCounters();
  readonly #chunks: ChunkStore;
  /** Whether the repository came into being with this push. */
  #hasCreated = false;
  /** Whether chunks lie below the key prefix that no row names (yet). */
  #hasWritten = false;

  constructor(repository: RepositoryState, request: PushRequest) {
    this.#repository = repository;
    this.#request = request;
    this.#requesters = request.steps?.map(({ requester }) => requester) ?? [request.requester];
    this.#keyPrefix = `${repository.key}/chunks/${crypto.randomUUID()}/`;
    this.#chunks = repository.platform.openChunks(this.#operations);
  }

  get #requester(): Requester {
    return this.#requesters[0]!;
  }

  /** Takes the push in and says how it ended.
   * @throws GitError when the push could be neither accepted nor refused */
  async run(): Promise<ReceivedPush> {
    try {
      return { unpack: null, refs: await this.take(), hasCreated: this.#hasCreated };
    } catch (error) {
      if (!isGitError(error) || !REFUSALS.has(error.code)) throw error;
      return { unpack: error, refs: refuseUnpacked(this.#request.commands), hasCreated: false };
    }
  }

  /** Takes the push in.
   * @returns how its commands ended
   * @throws GitError also for what refuses the pack */
  async take(): Promise<RefOutcome[]> {
    const { pack, pushOptions } = this.#request;
    this.#newFsck = readFsckOption(pushOptions, this.#requester);
    const forbidden = this.#forbid();
    if (forbidden !== null) return forbidden;
    this.#repository.activePrefixes.add(this.#keyPrefix);
    const startMs = Date.now();
    let indexed: IndexedPack | null = null;
    try {
      indexed = pack === null ? null : await this.#index(pack);
      const indexedMs = Date.now();
      const outcome = await this.#repository.holdNumbers(() => this.#apply(indexed));
      this.#observe({
        refs: this.#request.commands.length,
        packBytes: indexed?.packBytes ?? 0,
        objects: indexed?.indexer.count ?? 0,
        indexMs: indexedMs - startMs,
        applyMs: Date.now() - indexedMs,
        peakBytes: indexed?.peakBytes ?? 0,
        operations: this.#operations,
      });
      return outcome.outcomes;
    } finally {
      indexed?.release();
      this.#repository.activePrefixes.delete(this.#keyPrefix);
      if (this.#hasWritten) this.#repository.jobs.add("sweep", this.#keyPrefix, Date.now());
      this.#repository.scheduleJobs();
    }
  }

  #observe(cost: PushCost): void {
    const request = this.#request;
    if (request.note !== undefined) request.note(cost);
    else this.#repository.platform.observe({ event: "push", request: request.requester.requestId, ...cost });
  }

  /** Refuses, with the pack unread, a push of which no ref may move, whatever is in the pack.
   * @returns null: some may, as far as can be told */
  #forbid(): RefOutcome[] | null {
    const { commands, atomic } = this.#request;
    const rules = new RefRules(this.#repository.tables?.refRules.all() ?? [], this.#requester);
    if (rules.isEmpty) return null;
    const outcomes = commands.map((command): RefOutcome => {
      const reason = rules.refuse(changeOf(command, null));
      return { name: command.name, refusal: reason === null ? null : { kind: "forbidden", reason } };
    });
    return refuseWhole(outcomes, atomic);
  }

  #index(pack: PackSource): Promise<IndexedPack> {
    const { platform } = this.#repository;
    const quotaCheck = new QuotaCheck(this.#repository.tables, this.#requester, platform.limits);
    return indexPack(pack, {
      limits: platform.limits,
      module: platform.module,
      codec: platform.codec,
      chunks: this.#chunks,
      refused: maskRefused(this.#newFsck ?? this.#repository.fsck),
      keyPrefix: this.#keyPrefix,
      beforeFirstWrite: () => {
        this.#hasWritten = true;
        this.#repository.jobs.add("sweep", this.#keyPrefix, Date.now() + SWEEP_AFTER_MS);
        this.#repository.scheduleJobs();
      },
      progress: (title, done, total) => this.#request.progress(title, done, total),
      checkQuota: (entryBytes, objects) => quotaCheck.check(entryBytes, objects),
      readBase: (oid, hold) => this.#readBase(oid, hold),
      isVetted: (oid, names) => this.#isVetted(oid, names),
    });
  }

  async #readBase(oid: Uint8Array, hold: () => Promise<void>): Promise<BaseObject | LargeBase | null> {
    const { tables, platform } = this.#repository;
    const number = tables?.objects.find(oid)?.number;
    if (number === undefined) return null;
    const row = tables!.objects.locate(NumberSet.of(number));
    const maxBlobBytes = Math.min(platform.limits.maxResidentObjectBytes, MAX_DELTA_BLOB_BYTES);
    if (row.base[0] === 0 && row.type[0] === BLOB && row.size[0]! > maxBlobBytes)
      return this.#openBase(row.size[0]!, row.chunk[0]!, row.offset[0]!, row.length[0]!);
    const kept = keptTree(oid);
    if (kept !== undefined) return { type: TREE, content: kept };
    if (row.size[0]! > FREE_CONTENT_BYTES) await hold();
    const { type, bytes } = await this.#reader().read(number);
    return { type, content: bytes };
  }

  /** A blob that is too large to be held, where it lies: what housekeeping moves stays there for long enough. */
  #openBase(sizeBytes: number, chunk: number, offset: number, lengthBytes: number): LargeBase {
    const { chunks } = this.#repository.tables!;
    const { key, start } = chunks.byIds([chunk])[0]!;
    const bytes = key === null ? chunks.hotBytesOf(chunk)! : null;
    const read = async (at: number, length: number): Promise<Uint8Array> =>
      bytes === null
        ? this.#chunks.read(key!, start + offset + at, length)
        : bytes.subarray(offset + at, offset + at + length);
    return { sizeBytes, entry: { lengthBytes, read } };
  }

  #isVetted(oid: Uint8Array, names: number): boolean {
    const { tables } = this.#repository;
    const number = tables?.objects.find(oid)?.number;
    // What is nowhere is refused as missing, not here.
    return number === undefined || (tables!.vetted.names(number) & names) === names;
  }

  async #apply(pack: IndexedPack | null): Promise<Exclude<ApplyOutcome, { kind: "unread" }>> {
    const returned = new ReturnedTrees();
    for (;;) {
      if (this.#requesters.some((requester) => isStale(requester, Date.now()))) await this.#renewStanding();
      const isNew = this.#repository.tables === null;
      const outcome = this.#repository.transact(this.#newFsck, (tables) => {
        const result = applyPush(tables, this.#describe(tables, pack), returned);
        if (result.kind === "applied") this.#scheduleJobs(tables, result);
        return { result, isKept: result.kind === "applied" };
      });
      if (outcome.kind !== "unread") {
        if (outcome.kind === "applied" && outcome.unusedKeys.length === 0) this.#hasWritten = false;
        this.#hasCreated = isNew && outcome.kind === "applied";
        return outcome;
      }
      // All that there is to be read, before the next transaction: more may come to be there meanwhile by other pushes alone.
      for (let { trees } = outcome; trees.length > 0;) {
        await returned.read(this.#reader(), trees);
        const { tables } = this.#repository;
        trees = tables === null ? [] : findUnread(tables, this.#describe(tables, pack), returned);
      }
    }
  }

  /** The push as it is to be settled now. */
  #describe(tables: Tables, pack: IndexedPack | null): PushToApply {
    const { limits } = this.#repository.platform;
    const { commands, atomic, shallow, head, steps } = this.#request;
    const chunks = pack?.chunks ?? [];
    const quotaCheck = new QuotaCheck(tables, this.#requester, limits);
    return {
      commands,
      atomic,
      isShallow: shallow.length > 0,
      pushed: new PushedObjects(pack?.indexer.index() ?? EMPTY_INDEX, tables.objects),
      written: steps === undefined ? chunks : splitAtSteps(chunks, steps),
      packBytes: pack?.packBytes ?? 0,
      timeMs: Date.now(),
      requester: this.#requester,
      steps: steps?.map((step, i) => ({ ...step, requester: this.#requesters[i]! })) ?? null,
      limits,
      checkQuota: (addedBytes, addedObjects) => quotaCheck.check(addedBytes, addedObjects),
      head: head ?? null,
    };
  }

  /** Adds the jobs that a settled push calls for; belongs in its transaction. */
  #scheduleJobs(tables: Tables, { outcomes, unusedKeys }: Extract<ApplyOutcome, { kind: "applied" }>): void {
    const { limits, worktrees } = this.#repository.platform;
    const moved = this.#request.commands.filter((_, i) => outcomes[i]!.refusal === null);
    const applied: AppliedPush = {
      tables,
      moved,
      isRefused: moved.length < outcomes.length,
      hasWritten: this.#hasWritten,
      movesHead: this.#request.head !== undefined,
      limits,
      worktrees,
      nowMs: Date.now(),
    };
    for (const follow of this.#repository.followers) follow(applied);
    if (this.#hasWritten && unusedKeys.length === 0) tables.jobs.cancel("sweep", this.#keyPrefix);
  }

  /** @throws GitError @see renewStanding */
  async #renewStanding(): Promise<void> {
    const { platform } = this.#repository;
    const renew = async (requester: Requester): Promise<Requester> =>
      isStale(requester, Date.now()) ? renewStanding(platform, requester) : requester;
    this.#requesters = await Promise.all(this.#requesters.map(renew));
    readFsckOption(this.#request.pushOptions, this.#requester);
  }

  #reader(): ObjectReader {
    const { tables, platform } = this.#repository;
    // The push has the memory of what it reads.
    return new ObjectReader(tables!, this.#chunks, platform.codec, null);
  }
}

/** Reads the fsck setting among push options, null: there is none.
 * @throws GitError "unsupported" for a setting that does not exist, "forbidden" for who may not set it */
function readFsckOption(options: readonly string[], { right }: Requester): FsckSetting | null {
  const text = options.findLast((option) => option.startsWith(FSCK_OPTION))?.slice(FSCK_OPTION.length);
  if (text === undefined) return null;
  if (text !== "strict" && text !== "default" && text !== "lenient")
    throw new GitError("unsupported", { what: `fsck=${text}`, reason: "choose strict, default or lenient" });
  if (includesRight(right, "admin")) return text;
  throw new GitError("forbidden", { what: `push option fsck=${text}`, reason: "it needs the right 'admin'" });
}
