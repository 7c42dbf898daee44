import { includesRight, type Requester } from "../../base/access/caller.ts";
import { RefRules } from "../../base/access/ref-rules.ts";
import { type FsckSetting, maskRefused } from "../../base/codec/fsck-messages.ts";
import { EMPTY_INDEX } from "../../base/codec/pack-index.ts";
import { GitError, isGitError, type GitErrorCode } from "../../base/format/errors.ts";
import { decodeText, encodeText } from "../../base/format/byte-string.ts";
import { newChunkCounters, type ChunkStore } from "../../base/chunks/chunk-store.ts";
import type { Tables } from "../store/tables.ts";
import { PushedObjects } from "./pushed-objects.ts";
import { checkPointers } from "./pushed-pointers.ts";
import { indexPack } from "./index-pack.ts";
import type { IndexedPack } from "./indexed-pack.ts";
import { ObjectReader } from "../objects/object-reader.ts";
import type { PackSource, PushRequest, ReceivedPush, AppliedPush } from "../state/push.ts";
import type { RefOutcome } from "../../contract/push.ts";
import { refuseUnpacked, refuseWhole } from "../state/ref-refusal.ts";
import { splitAtSteps } from "./push-steps.ts";
import { isPolicyFailure, PolicyCheck } from "./ask-policy.ts";
import { tellNewCommits } from "./new-commits.ts";
import { isStale, renewStanding } from "./renew-standing.ts";
import type { PushCost } from "../../contract/log-events.ts";
import type { RepositoryState } from "../state/repository-state.ts";
import { changeOf, findUnread, type PushToApply, applyPush, type ApplyOutcome } from "./apply-push.ts";
import { discard, type EarlyPush, isUpToDate, prepareEarly } from "./early-push.ts";
import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import { ReturnedTrees } from "./returned-trees.ts";
import { QuotaCheck } from "../state/quota-check.ts";
import { StoredBases } from "./stored-bases.ts";
import { PushedPages } from "../store/index/pushed-pages.ts";
import { finishInSlices } from "../../base/pacing/time-slice.ts";

/** After this time, whatever an unfinished push has written counts as left behind by a crash. */
const SWEEP_AFTER_MS = 60 * 60_000;

/** Failures that are the pack's fault: reported to the client, not errors of the server. */
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
  // An option that this caller may not use, or a right lost since the push began.
  "forbidden",
  "unauthenticated",
]);

/** Receives one push. Chunks first, then one transaction: the pack is indexed, checked and stored
 * while nothing refers to it, then rows, graph and refs appear at once. Before the first chunk is
 * written, a job is added that sweeps the chunks, and the transaction removes it. If the push ends
 * in any other way, the job removes what it left. */
export class ReceivePack {
  readonly #repository: RepositoryState;
  readonly #request: PushRequest;
  readonly #keyPrefix: string;
  /** The caller, or those of the steps, as of the last check. */
  #requesters: readonly Requester[];
  /** The new fsck setting of the repository; null: unchanged. */
  #newFsck: FsckSetting | null = null;
  readonly #policy: PolicyCheck;
  readonly #operations = newChunkCounters();
  readonly #chunks: ChunkStore;
  readonly #pages: PushedPages;
  /** Whether this push created the repository. */
  #hasCreated = false;
  /** Null: it is small, or was not prepared. */
  #early: EarlyPush | null = null;
  /** Whether chunks exist below the key prefix that no row names (yet). */
  #hasWritten = false;

  constructor(repository: RepositoryState, request: PushRequest) {
    this.#repository = repository;
    this.#request = request;
    this.#requesters = request.steps?.map(({ requester }) => requester) ?? [request.requester];
    this.#policy = new PolicyCheck(repository.platform, request);
    this.#keyPrefix = `${repository.key}/chunks/${crypto.randomUUID()}/`;
    this.#chunks = repository.platform.openChunks(this.#operations);
    this.#pages = new PushedPages(repository.platform.sql);
  }

  get #requester(): Requester {
    return this.#requesters[0]!;
  }

  /** Receives the push and reports the result.
   * @throws GitError when the push could be neither accepted nor refused */
  async run(): Promise<ReceivedPush> {
    try {
      return { unpack: null, refs: await this.take(), hasCreated: this.#hasCreated };
    } catch (error) {
      if (!isGitError(error) || !(REFUSALS.has(error.code) || isPolicyFailure(error))) throw error;
      return { unpack: error, refs: refuseUnpacked(this.#request.commands), hasCreated: false };
    }
  }

  /** Receives the push.
   * @returns the outcomes of its commands
   * @throws GitError also for errors that refuse the pack */
  async take(): Promise<RefOutcome[]> {
    const { pack, pushOptions } = this.#request;
    this.#newFsck = readFsckOption(pushOptions, this.#requester);
    const forbidden = this.#forbid();
    if (forbidden !== null) return forbidden;
    // Without a policy, what brings no objects moves before anything else can come between.
    const denied = this.#policy.isAsked ? await this.#askPolicy() : null;
    if (denied !== null) return denied;
    this.#repository.activePrefixes.add(this.#keyPrefix);
    const startMs = Date.now();
    let indexed: IndexedPack | null = null;
    try {
      indexed = pack === null ? null : await this.#index(pack);
      if (indexed !== null) checkPointers(indexed.indexer.index(), this.#repository.tables?.lfs ?? null, pushOptions);
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
      await finishInSlices(this.#pages.clear(), () => true);
      if (this.#early !== null) discard(this.#repository, this.#early);
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

  /** Refuses, without reading the pack, a push of which no ref may move, whatever the pack holds.
   * @returns null: some may, as far as is known yet */
  #forbid(): RefOutcome[] | null {
    const { commands, atomic, upload } = this.#request;
    const mirrored = this.#refuseMirrored(this.#repository.tables);
    if (mirrored !== null)
      return commands.map(({ name }) => ({ name, refusal: { kind: "forbidden", reason: mirrored } }));
    if (upload?.isStep === true) return null;
    const rules = new RefRules(this.#repository.tables?.refRules.all() ?? [], this.#requester);
    if (rules.isEmpty) return null;
    const outcomes = commands.map((command): RefOutcome => {
      const reason = rules.refuse(changeOf(command, null));
      return { name: command.name, refusal: reason === null ? null : { kind: "forbidden", reason } };
    });
    return refuseWhole(outcomes, atomic);
  }

  /** @returns why nobody may change a mirror's refs here; null: it is none, or the mirror does */
  #refuseMirrored(tables: Tables | null): string | null {
    const record = tables?.imports.read() ?? null;
    if (this.#request.isImport === true || record === null || !record.isMirror) return null;
    return `this repository mirrors ${encodeText(record.url)} and takes no other changes; DELETE its import to release it`;
  }

  /** @returns the outcomes if the policy lets no ref move; null: some may
   * @throws GitError @see PolicyCheck.askByNames */
  async #askPolicy(): Promise<RefOutcome[] | null> {
    await this.#policy.askByNames();
    const outcomes = this.#request.commands.map(({ name }): RefOutcome => {
      const reason = this.#policy.denied.get(name);
      return { name, refusal: reason === undefined ? null : { kind: "forbidden", reason } };
    });
    return refuseWhole(outcomes, this.#request.atomic);
  }

  #index(pack: PackSource): Promise<IndexedPack> {
    const { platform } = this.#repository;
    const quotaCheck = this.#checkQuota(this.#repository.tables);
    const bases = new StoredBases(this.#repository, this.#chunks, () => this.#reader());
    return indexPack(pack, {
      limits: platform.limits,
      traffic: platform.traffic,
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
      pages: this.#pages,
      progress: (title, done, total) => this.#request.progress(title, done, total),
      checkQuota: (entryBytes, objects) => quotaCheck.check(entryBytes, objects),
      readBase: (oid, hold) => bases.read(oid, hold),
      isVetted: (oid, names) => bases.isVetted(oid, names),
    });
  }

  async #apply(pack: IndexedPack | null): Promise<Exclude<ApplyOutcome, { kind: "unread" }>> {
    const returned = new ReturnedTrees();
    for (;;) {
      if (this.#policy.isAsked)
        await this.#policy.askByCommits((commands) => tellNewCommits(this.#repository, pack, this.#chunks, commands));
      this.#early = pack === null ? null : await this.#prepare(pack, returned);
      if (this.#requesters.some((requester) => isStale(requester, Date.now()))) await this.#renewStanding();
      const prepared = this.#early !== null && isUpToDate(this.#repository, this.#early) ? this.#early : null;
      const isNew = this.#repository.tables === null;
      const { upload } = this.#request;
      // A step is checked as its session wants it; the setting changes when the session ends.
      const newFsck = upload?.isStep === true ? null : this.#newFsck;
      const outcome = this.#pages.hold(() =>
        this.#repository.transact(
          newFsck,
          (tables) => {
            upload?.check(tables);
            // It may have become a mirror since the push began.
            const mirrored = this.#refuseMirrored(tables);
            if (mirrored !== null)
              throw new GitError("forbidden", { what: "this change", reason: decodeText(mirrored) });
            const push = this.#describe(tables, pack, prepared?.pushed);
            const result = applyPush(tables, push, returned, prepared?.push);
            if (result.kind === "applied") {
              this.#scheduleJobs(tables, result);
              upload?.finish(tables);
            }
            return { result, isKept: result.kind === "applied" };
          },
          (prepared?.push.index?.staged ?? null) === null ? null : prepared!.tables,
        ),
      );
      if (outcome.kind !== "unread") {
        if (outcome.kind === "applied" && outcome.unusedKeys.length === 0) this.#hasWritten = false;
        this.#hasCreated = isNew && outcome.kind === "applied";
        return outcome;
      }
      await this.#readTrees(pack, returned, outcome.trees);
    }
  }

  /** Prepares a push if it is large, in slices between which other requests run. */
  async #prepare(pack: IndexedPack, returned: ReturnedTrees): Promise<EarlyPush | null> {
    return prepareEarly(this.#repository, {
      index: pack.indexer.index(),
      returned,
      describe: (tables, pushed) => this.#describe(tables, pack, pushed),
      readTrees: (trees) => this.#readTrees(pack, returned, trees),
    });
  }

  /** Reads all stored trees that are needed now, before the next transaction: only other pushes can
   * add to them meanwhile.
   * @param asked the first of them */
  async #readTrees(pack: IndexedPack | null, returned: ReturnedTrees, asked: readonly ObjectNumber[]): Promise<void> {
    for (let trees = asked; trees.length > 0;) {
      await returned.read(this.#reader(), trees);
      const { tables } = this.#repository;
      trees = tables === null ? [] : findUnread(tables, this.#describe(tables, pack), returned);
    }
  }

  /** The push in the form in which it is applied now. */
  #describe(tables: Tables, pack: IndexedPack | null, pushed?: PushedObjects): PushToApply {
    const { limits } = this.#repository.platform;
    const { commands, atomic, shallow, head, merged, steps, upload } = this.#request;
    const chunks = pack?.chunks ?? [];
    const quotaCheck = this.#checkQuota(tables);
    return {
      commands,
      atomic,
      isShallow: shallow.length > 0,
      pushed: pushed ?? PushedObjects.compare(pack?.indexer.index() ?? EMPTY_INDEX, tables.objects),
      written: steps === undefined ? chunks : splitAtSteps(chunks, steps),
      packBytes: pack?.packBytes ?? 0,
      upload: upload ?? null,
      timeMs: Date.now(),
      requester: this.#requester,
      steps: steps?.map((step, i) => ({ ...step, requester: this.#requesters[i]! })) ?? null,
      limits,
      checkQuota: (addedBytes, addedObjects) => quotaCheck.check(addedBytes, addedObjects),
      denied: this.#policy.denied,
      head: head ?? null,
      merged: merged ?? null,
    };
  }

  #checkQuota(tables: Tables | null): QuotaCheck {
    const { limits } = this.#repository.platform;
    return new QuotaCheck(tables, this.#requester, limits, this.#request.upload?.replacedBytes);
  }

  /** Adds the jobs that an applied push needs. Must run in its transaction. */
  #scheduleJobs(tables: Tables, { outcomes, unusedKeys }: Extract<ApplyOutcome, { kind: "applied" }>): void {
    const { limits, worktrees } = this.#repository.platform;
    const done = this.#request.commands.filter((_, i) => outcomes[i]!.refusal === null);
    const isStep = this.#request.upload?.isStep === true;
    const applied: AppliedPush = {
      tables,
      moved: isStep ? [] : done,
      isStep,
      isRefused: done.length < outcomes.length,
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
    // The push has reserved the memory for what it reads.
    return new ObjectReader(tables!, this.#chunks, platform.codec, null);
  }
}

/** The push option that changes the repository's fsck setting: `git push -o fsck=lenient`. */
const FSCK_OPTION = "fsck=";

/** Reads the fsck setting among push options; null: none.
 * @throws GitError "unsupported" for an unknown setting, "forbidden" when the caller may not set
 * it */
function readFsckOption(options: readonly string[], { right }: Requester): FsckSetting | null {
  const text = options.findLast((option) => option.startsWith(FSCK_OPTION))?.slice(FSCK_OPTION.length);
  if (text === undefined) return null;
  if (text !== "strict" && text !== "default" && text !== "lenient")
    throw new GitError("unsupported", { what: `fsck=${text}`, reason: "choose strict, default or lenient" });
  if (includesRight(right, "admin")) return text;
  throw new GitError("forbidden", { what: `push option fsck=${text}`, reason: "it needs the right 'admin'" });
}
