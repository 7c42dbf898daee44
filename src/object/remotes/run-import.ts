// The job `import`. A run lists the upstream's refs, and fetches missing objects as steps of an
// upload session, which are pushes that move no ref. Once nothing is missing, it moves the refs.
// After any failure, the next run starts over, and objects of earlier steps are kept.
import type { Requester } from "../../base/access/caller.ts";
import { GitError, isGitError, type GitErrorCode } from "../../base/format/errors.ts";
import { NO_QUOTA } from "../../base/access/quota.ts";
import { UPLOAD_LIFE_MS } from "../../base/format/limits.ts";
import { fromHex, NULL_OID } from "../../base/format/oid.ts";
import { decodeText } from "../../base/format/byte-string.ts";
import type { ImportRecord } from "../../contract/remotes.ts";
import type { Tables } from "../store/tables.ts";
import { OpenRepository } from "../objects/open-repository.ts";
import { ReceivePack } from "../push/receive-pack.ts";
import { ALLOW_MISSING_LFS, explainRefusal, findRefused, type RefOutcome } from "../../contract/push.ts";
import { renewStanding } from "../push/renew-standing.ts";
import type { UploadFrame } from "../state/push.ts";
import { GitServer } from "./git-server.ts";
import { explainRemote } from "./ref-lines.ts";
import { unseal } from "./sealed.ts";
import type { RepositoryState } from "../state/repository-state.ts";
import { scheduleAllWorktrees } from "../worktree/worktrees.ts";
import { listed } from "../upload/step-pack.ts";
import { newStepFrame } from "../upload/upload-steps.ts";
import { type Advertisement, listRefs } from "./advertisement.ts";
import { fetchPack, listBoundary } from "./fetch-pack.ts";
import { bringLfs } from "./import-lfs.ts";
import { endSession } from "./import.ts";
import { planChanges, planHaves, planWants } from "./plan-import.ts";

/** Maximum duration of a step. The platform ends a run after 15 minutes. */
const STEP_MS = 12 * 60_000;

/** Depth of the first try of older commits, below a ref that is too large. */
const FIRST_DEPTH = 4_096;

/** Number of successive failures after which an import has failed, if a retry could help. */
const MAX_ATTEMPTS = 4;

/** Wait after the first failure (ms); four times as long after each further one. */
const IMPORT_RETRY_MS = 2_000;

/** A step's pack is streamed: no part of it is stored. */
const NO_PARTS = listed([]);

/** Failures that a retry may overcome. */
const PASSING: ReadonlySet<GitErrorCode> = new Set(["timeout", "unavailable", "storage-failed", "storage-full"]);

/** Runs a step of the import, or its end. Failures are recorded in the import's record.
 * @returns objects and bytes that it fetched */
export async function runImport(state: RepositoryState): Promise<{ objects: number; bytes: number }> {
  const before = state.tables?.imports.read() ?? null;
  if (before === null || before.state === "done" || before.state === "failed") return { objects: 0, bytes: 0 };
  const deadline = new AbortController();
  const late = new GitError("timeout", { what: "step of the import", reason: `it has ${STEP_MS / 60_000} minutes` });
  const timer = setTimeout(() => deadline.abort(late), STEP_MS);
  const run = new ImportRun(state, before, deadline.signal);
  try {
    await run.look();
  } catch (error) {
    run.fail(error);
  } finally {
    clearTimeout(timer);
  }
  const after = state.tables?.imports.read();
  return {
    objects: (after?.objects ?? before.objects) - before.objects,
    bytes: (after?.packBytes ?? before.packBytes) - before.packBytes,
  };
}

/** The request of a step, and the changes of the record after it. */
interface PlannedStep {
  /** Ids in hex; empty: the step requests nothing. */
  readonly wants: readonly string[];
  readonly onceHere: Partial<ImportRecord>;
  /** @throws GitError when the step cannot be smaller */
  ifTooMuch(error: GitError): Partial<ImportRecord>;
}

class ImportRun {
  readonly #state: RepositoryState;
  readonly #session: string;
  readonly #deadline: AbortSignal;

  constructor(state: RepositoryState, { session }: ImportRecord, deadline: AbortSignal) {
    this.#state = state;
    this.#deadline = deadline;
    this.#session = session;
  }

  /** Fetches missing objects, as much as one step allows, and moves the refs if nothing is
   * missing. */
  async look(): Promise<void> {
    const { platform } = this.#state;
    const record = this.#requireRecord();
    const requester = await this.#renew(record);
    const sealed = this.#tables.imports.readAuthorization();
    const upstream = new GitServer({
      role: "upstream",
      service: "git-upload-pack",
      url: record.url,
      authorization: sealed === null ? null : await unseal(platform.outside.imports.secretsKey, platform.id, sealed),
      outside: platform.outside.imports,
      signal: this.#deadline,
    });
    const offer = await listRefs(upstream, record.prefixes);
    this.#update({ refs: offer.refs.size });
    const missing = planWants(this.#tables, offer.refs);
    if (missing.length > 0) {
      const step = record.depths === null ? this.#planRefs(missing) : await this.#planDepth(upstream, missing[0]!);
      const tooMuch = step.wants.length === 0 ? null : await this.#fetch(upstream, offer, step.wants, requester);
      this.#update(tooMuch === null ? step.onceHere : step.ifTooMuch(tooMuch));
    }
    const isHere = planWants(this.#tables, offer.refs).length === 0 && (await this.#bringLfs(upstream, requester));
    if (isHere) await this.#moveRefs(offer, requester);
    else this.#schedule(Date.now());
  }

  /** Fetches some LFS objects, if they are wanted.
   * @returns whether all have been requested */
  async #bringLfs(upstream: GitServer, requester: Requester): Promise<boolean> {
    const { lfs = null } = this.#requireRecord();
    if (lfs === null || lfs.after === null) return true;
    const repository = new OpenRepository(this.#state, requester, async () => undefined);
    const brought = await bringLfs(repository, upstream, { ...lfs, after: lfs.after });
    this.#update({ lfs: brought, attempts: 0 });
    return brought.after === null;
  }

  /** Plans a step that fetches whole refs; if it is too large, the next one requests half as
   * many. */
  #planRefs(missing: readonly string[]): PlannedStep {
    const { refsPerStep } = this.#requireRecord();
    const wants = missing.slice(0, refsPerStep ?? missing.length);
    return {
      wants,
      onceHere: { refsPerStep: refsPerStep === null ? null : 2 * refsPerStep },
      ifTooMuch: () =>
        wants.length > 1 ? { refsPerStep: Math.ceil(wants.length / 2) } : { depths: { low: 0, high: null } },
    };
  }

  /** Plans a step that fetches the history up to some depth below a ref that is too large. The
   * depth is found by bisection: older commits, at a larger depth, need fewer objects. */
  async #planDepth(upstream: GitServer, tip: string): Promise<PlannedStep> {
    const { low, high } = this.#requireRecord().depths!;
    const depth = low < 0 ? 0 : high === null ? Math.max(FIRST_DEPTH, 2 * low) : Math.floor((low + high) / 2);
    const boundary = depth === 0 ? [tip] : await listBoundary(upstream, tip, depth);
    return {
      wants: depth === 0 ? boundary : planWants(this.#tables, new Map(boundary.map((oid) => [oid, oid]))),
      onceHere: { depths: depth === 0 ? null : boundary.length > 0 ? { low: -1, high: depth } : { low, high: depth } },
      ifTooMuch: (error) => {
        if (high !== null && high - depth <= 1) throw error;
        return { depths: { low: depth, high } };
      },
    };
  }

  /** Records a failure, and the time of the retry. */
  fail(error: unknown): void {
    const record = this.#state.tables?.imports.read() ?? null;
    // The import was ended, or the repository deleted, and another import may have begun.
    if (record?.session !== this.#session) return;
    const reason = explainRemote("upstream", error);
    const attempts = record.attempts + 1;
    const mayPass = !isGitError(error) || PASSING.has(error.code);
    if (mayPass && attempts < MAX_ATTEMPTS) {
      this.#update({ attempts, error: reason });
      return this.#schedule(Date.now() + IMPORT_RETRY_MS * 4 ** (attempts - 1));
    }
    this.#endRun({ error: reason, attempts }, "failed");
  }

  async #fetch(
    upstream: GitServer,
    offer: Advertisement,
    wants: readonly string[],
    requester: Requester,
  ): Promise<GitError | null> {
    const state = this.#state;
    const { limits } = state.platform;
    this.#openSession();
    const progress = { title: "", done: 0, total: 0 };
    state.stepsUnderWay.set(this.#session, progress);
    const pack = await fetchPack(upstream, offer, wants, planHaves(this.#tables), limits.maxPackSizeBytes);
    const before = this.#tables.objects.lastNumber();
    try {
      const outcomes = await new ReceivePack(state, {
        ...this.#push(requester),
        commands: wants.map((oid) => ({ name: oid, old: NULL_OID, new: fromHex(oid) })),
        atomic: true,
        pack: {
          read: async (minimumBytes) => {
            this.#checkGoesOn();
            const piece = await pack.read(minimumBytes);
            if (progress.title === "") progress.done = pack.packBytes;
            return piece;
          },
          demandPace: (minBytes) => pack.demandPace(minBytes),
        },
        upload: newStepFrame({ id: this.#session, tips: wants }, NO_PARTS, () => pack.packBytes),
        progress: (title, done, total) => Object.assign(progress, { title, done, total }),
      }).take();
      const refused = findRefused(outcomes);
      if (refused !== null) {
        const reason = `it did not send all that its refs need: ${refused.name}: ${explainRefusal(refused.refusal)}`;
        throw new GitError("invalid", { what: "upstream's pack", reason });
      }
    } catch (error) {
      // A server of version 0 does not tell which commits are below a ref.
      const mayShrink = wants.length > 1 || offer.isV2;
      if (mayShrink && (isGitError(error, "too-large") || error === this.#deadline.reason)) return error as GitError;
      throw error;
    } finally {
      state.stepsUnderWay.delete(this.#session);
      await pack.cancel();
    }
    const { steps, objects, packBytes, lfs = null } = this.#requireRecord();
    this.#update({
      // The fetched objects may name more LFS objects.
      lfs: lfs === null ? null : { ...lfs, after: "", missing: 0 },
      steps: steps + 1,
      objects: objects + this.#tables.objects.lastNumber() - before,
      packBytes: packBytes + pack.packBytes,
      attempts: 0,
    });
    return null;
  }

  async #moveRefs({ refs, head }: Advertisement, requester: Requester): Promise<void> {
    const { isMirror, prefixes } = this.#requireRecord();
    const changes = planChanges(this.#tables, refs, head, isMirror ? prefixes : null);
    let outcomes: readonly RefOutcome[] = [];
    if (changes.commands.length > 0) {
      outcomes = await new ReceivePack(this.#state, {
        ...this.#push(requester),
        ...changes,
        atomic: false,
        pack: null,
        upload: this.#frame(),
        progress: () => undefined,
      }).take();
    } else if (changes.head !== undefined) this.#moveHead(changes.head);
    const refused = outcomes.filter(({ refusal }) => refusal !== null);
    const error = refused.length === 0 ? null : explainRefused(refused);
    const hasFailed = !isMirror && refused.length > 0 && refused.length === outcomes.length;
    this.#endRun({ error, attempts: 0, ...(!hasFailed && { syncedMs: Date.now() }) }, hasFailed ? "failed" : "done");
  }

  #moveHead(target: string): void {
    this.#state.transact(null, (tables) => {
      this.#checkGoesOn();
      tables.refs.setHead(target);
      scheduleAllWorktrees(tables, this.#state.platform.worktrees, Date.now());
      return { result: undefined, isKept: true };
    });
  }

  /** Frame of the push that moves the refs. */
  #frame(): UploadFrame {
    const { packBytes, objects } = this.#tables.uploads.find(this.#session) ?? { packBytes: 0, objects: 0 };
    return {
      isStep: false,
      replacedBytes: 0,
      brought: { packBytes, objects },
      check: () => this.#checkGoesOn(),
      finish: () => undefined,
    };
  }

  #push(requester: Requester) {
    return { pushOptions: [ALLOW_MISSING_LFS], shallow: [], agent: null, requester, isImport: true } as const;
  }

  /** @throws GitError as `renewStanding` */
  #renew({ caller }: ImportRecord): Promise<Requester> {
    const quota = { repository: NO_QUOTA, owner: NO_QUOTA, others: { sizeBytes: 0, objectCount: 0 } };
    const former = { requestId: `import ${this.#session}`, caller, right: "write", quota, knownMs: 0 } as const;
    return renewStanding(this.#state.platform, former);
  }

  #openSession(): void {
    const { uploads } = this.#tables;
    if (uploads.find(this.#session) !== null) return;
    const nowMs = Date.now();
    this.#state.transactAside(() => uploads.begin(this.#session, nowMs, nowMs + UPLOAD_LIFE_MS, []));
  }

  /** Ends the import, or schedules the mirror's next run. */
  #endRun(change: Partial<ImportRecord>, end: "done" | "failed"): void {
    const { isMirror, intervalMs } = this.#requireRecord();
    const tables = this.#tables;
    this.#state.transactAside(() => {
      endSession(this.#state, tables, this.#session);
      tables.imports.update({ ...this.#requireRecord(), ...change, state: isMirror ? "waiting" : end });
      if (isMirror) tables.jobs.add("import", "", Date.now() + intervalMs);
      this.#state.platform.outside.wakeListeners();
    });
  }

  #schedule(dueMs: number): void {
    this.#tables.jobs.add("import", "", dueMs);
  }

  #update(change: Partial<ImportRecord>): void {
    this.#state.transactAside(() => this.#tables.imports.update({ ...this.#requireRecord(), ...change }));
  }

  /** Reads the import's record.
   * @throws GitError "conflict" when it was ended */
  #requireRecord(): ImportRecord {
    const record = this.#tables.imports.read();
    if (record?.session === this.#session) return record;
    throw new GitError("conflict", { what: "import", reason: "it was ended" });
  }

  /** @throws GitError "conflict" when the import was ended, the deadline's error when the step took
   * too long */
  #checkGoesOn(): void {
    this.#deadline.throwIfAborted();
    this.#requireRecord();
  }

  /** @throws GitError "not-found" when the repository was deleted */
  get #tables(): Tables {
    const { tables } = this.#state;
    if (tables === null) throw new GitError("not-found", { subject: "repository" });
    return tables;
  }
}

function explainRefused(refused: readonly RefOutcome[]): string {
  const [{ name, refusal }] = refused as [RefOutcome];
  return decodeText(`${refused.length} refs were left out, the first ${name}: ${explainRefusal(refusal!)}`);
}
