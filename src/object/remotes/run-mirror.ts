// The job `mirror`. A run lists the target's refs, and pushes the differences, in as many steps as
// the target needs. After any failure, the next run lists them again: only the target knows which
// refs it has.
import { equalOids, fromHex, NULL_OID_HEX } from "../../base/format/oid.ts";
import { GitError, isGitError } from "../../base/format/errors.ts";
import type { MirroredRef } from "../store/remotes/mirror-table.ts";
import type { MirrorRecord, MirroredLfs } from "../../contract/remotes.ts";
import type { Tables } from "../store/tables.ts";
import { newChunkCounters } from "../../base/chunks/chunk-store.ts";
import type { NumberSet } from "../../base/numbers/number-set.ts";
import { streamPack } from "../../base/bytes/pack-stream.ts";
import type { PackPlan } from "../../base/bytes/pack-plan.ts";
import { GitServer } from "./git-server.ts";
import { explainRemote } from "./ref-lines.ts";
import { unseal } from "./sealed.ts";
import type { RepositoryState } from "../state/repository-state.ts";
import { credentialPlace } from "./mirrors.ts";
import { type LeftLfs, type LfsRun, mirrorLfs, NOTHING_LEFT } from "./mirror-lfs.ts";
import { findHad, type PlannedStep, planStep, type StepLimits } from "./plan-step.ts";
import { planUpdates } from "./plan-updates.ts";
import { type PushReport, sendPack } from "./send-pack.ts";
import { listTargetRefs, type TargetRefs } from "./target-refs.ts";

/** Maximum duration of a run. The platform ends it after 15 minutes. */
const MIRROR_RUN_MS = 12 * 60_000;

/** Maximum size of a pack sent at once (bytes). */
const MAX_MIRROR_PACK_BYTES = 1024 ** 3;

/** Maximum number of objects in it: the limit of earlier releases as targets. */
const MAX_MIRROR_PACK_OBJECTS = 500_000;

/** Packs smaller than this (bytes) are not refused for their size. */
const MIN_REFUSED_BYTES = 1024 * 1024;

/** Packs larger than this (bytes) may have been interrupted because of their size. */
const MIN_CUT_BYTES = 32 * 1024 * 1024;

/** Maximum number of refs that one push changes. */
const MAX_UPDATES = 2_000;

/** Maximum number of times that a run tries a smaller push after a refusal. */
const MAX_RETREATS = 64;

/** Number of successive failures after which objects that the target rejects count as refused for
 * good: earlier rejections may be due to faults in transit or at the target. */
const MAX_UNTAKEN = 4;

/** Wait after the first failure (ms), doubled with each further one up to the maximum. */
const MIRROR_RETRY_MS = 5_000;
const LONGEST_RETRY_MS = 60 * 60_000;

/** Counts of a run. */
interface MirrorCounts {
  readonly pushes: number;
  readonly objects: number;
  readonly bytes: number;
}

/** Brings a target up to date. Failures are recorded in the mirror's record. */
export async function runMirror(state: RepositoryState, id: string): Promise<MirrorCounts> {
  const before = state.tables?.mirrors.find(id) ?? null;
  if (before === null) return { pushes: 0, objects: 0, bytes: 0 };
  const deadline = new AbortController();
  const late = new GitError("timeout", { what: "push", reason: `it has ${MIRROR_RUN_MS / 60_000} minutes` });
  const timer = setTimeout(() => deadline.abort(late), MIRROR_RUN_MS);
  const run = new MirrorRun(state, before, deadline.signal);
  try {
    await run.look();
  } catch (error) {
    run.fail(error);
  } finally {
    clearTimeout(timer);
    state.stepsUnderWay.delete(id);
  }
  const { pushes, objects, packBytes } = state.tables?.mirrors.find(id) ?? before;
  return {
    pushes: pushes - before.pushes,
    objects: objects - before.objects,
    bytes: packBytes - before.packBytes,
  };
}

class MirrorRun {
  readonly #state: RepositoryState;
  readonly #id: string;
  readonly #session: string;
  readonly #deadline: AbortSignal;
  /** By name, the reason why a ref is left as it is in this run. */
  readonly #refused = new Map<string, string>();
  /** Maximum number of refs in a push; reduced when the target refuses more. */
  #maxUpdates = MAX_UPDATES;
  #retreats = 0;
  /** The reason why the target rejected the objects of some refs; null: it accepted all. */
  #untaken: GitError | null = null;
  #steps = 0;

  constructor(state: RepositoryState, { id, session }: MirrorRecord, deadline: AbortSignal) {
    this.#state = state;
    this.#id = id;
    this.#session = session;
    this.#deadline = deadline;
  }

  /** Pushes until no difference is left that may be pushed. */
  async look(): Promise<void> {
    const server = await this.#openTarget();
    const target = await listTargetRefs(server, this.#requireRecord().prefixes);
    if (this.#requireRecord().lfs?.isBehind === true) await this.#catchUpLfs(server, target);
    for (let isFirst = true; ; isFirst = false) {
      this.#deadline.throwIfAborted();
      const planned = planUpdates(this.#tables, this.#requireRecord(), target.refs, this.#refused);
      for (const [name, reason] of planned.refused) this.#refused.set(name, reason);
      const { updates, isPartial, refs, extra } = planned;
      if (isFirst) this.#transact((tables) => noteTarget(tables, this.#requireRecord(), target.refs, this.#refused));
      this.#update({ refs, extra, refused: this.#refused.size });
      if (updates.length > 0) {
        const step = planStep(this.#tables, updates, target, this.#limits);
        const { packBytes: most } = this.#limits;
        const reason = `it needs a pack of ${step.packBytes} bytes, which is too much for \`maxPackBytes\`: ${most}`;
        // A push that cannot be smaller is tried, unless it is far above the limit.
        if (!step.canShrink && step.packBytes > 2 * most) this.#refuse(step, reason);
        else await this.#push(server, target, step);
      } else if (!isPartial) break;
    }
    if (this.#untaken !== null && this.#requireRecord().failures < MAX_UNTAKEN) throw this.#untaken;
    this.#update({ failures: 0, dueMs: 0, error: null, syncedMs: Date.now() });
  }

  async #openTarget(): Promise<GitServer> {
    const { id, outside } = this.#state.platform;
    const sealed = this.#tables.mirrors.readAuthorization(this.#id);
    const place = credentialPlace(id, this.#id);
    return new GitServer({
      role: "target",
      service: "git-receive-pack",
      url: this.#requireRecord().url,
      authorization: sealed === null ? null : await unseal(outside.imports.secretsKey, place, sealed),
      outside: outside.imports,
      signal: this.#deadline,
    });
  }

  /** Records a failure, and the time of the retry. */
  fail(error: unknown): void {
    const record = this.#state.tables?.mirrors.find(this.#id) ?? null;
    if (record === null) return;
    const nowMs = Date.now();
    // A mirror that was changed meanwhile, or has made progress, runs again without a wait.
    const isNews = record.session !== this.#session || (error === this.#deadline.reason && this.#steps > 0);
    if (isNews) return this.#state.jobs.add("mirror", this.#id, nowMs);
    const waitMs = Math.min(MIRROR_RETRY_MS * 2 ** Math.min(record.failures, 20), LONGEST_RETRY_MS);
    this.#update({ failures: record.failures + 1, dueMs: nowMs + waitMs, error: explainRemote("target", error) });
    this.#state.jobs.add("mirror", this.#id, nowMs + waitMs);
  }

  async #push(server: GitServer, target: TargetRefs, step: PlannedStep): Promise<void> {
    const leftLfs = await this.#sendLfs(server, step.objects);
    const progress = { title: "", done: 0, total: step.packBytes };
    this.#state.stepsUnderWay.set(this.#id, progress);
    let report: PushReport;
    try {
      const pack = step.plan === null ? null : this.#read(step.plan, (bytes) => (progress.done += bytes));
      report = await sendPack(server, target, step.updates, pack);
    } catch (error) {
      const isRefused = isGitError(error, "too-large");
      const wasCut = isGitError(error, "unavailable") || this.#deadline.aborted;
      if (wasCut && step.canShrink && step.packBytes >= MIN_CUT_BYTES) this.#sendLess(step);
      if (isRefused) return this.#yield(step, error.message);
      throw error;
    }
    if (report.unpack !== null) return this.#yield(step, report.unpack);
    this.#steps += 1;
    this.#maxUpdates = Math.min(2 * this.#maxUpdates, MAX_UPDATES);
    this.#note(target, step, report, leftLfs);
  }

  /** Sends the LFS objects of commits that the target has already. */
  async #catchUpLfs(server: GitServer, target: TargetRefs): Promise<void> {
    const left = await this.#sendLfs(server, findHad(this.#tables, target, this.#requireRecord().prefixes));
    const { lfs = null } = this.#requireRecord();
    this.#update({ lfs: lfs && { ...lfs, ...left, isBehind: false } });
  }

  /** Sends the LFS objects that pointer files among some objects name, if LFS is mirrored.
   * @returns the objects that the target lacks */
  async #sendLfs(server: GitServer, among: NumberSet): Promise<LeftLfs> {
    const { lfs = null, failures } = this.#requireRecord();
    if (lfs === null) return NOTHING_LEFT;
    const run: LfsRun = {
      server,
      chunks: this.#state.platform.openChunks(newChunkCounters()),
      leavesRefused: failures >= MAX_UNTAKEN,
      tables: () => {
        this.#requireRecord();
        return this.#tables;
      },
      noteSent: (objects, bytes) => {
        const { lfs: now = null } = this.#requireRecord();
        this.#steps += 1;
        this.#update({ lfs: now && { ...now, objects: now.objects + objects, bytes: now.bytes + bytes } });
      },
      show: (progress) => this.#state.stepsUnderWay.set(this.#id, progress),
    };
    return mirrorLfs(run, among);
  }

  /** Tries a smaller push after the target rejected a pack. Targets do not always say whether the
   * size or an object is the reason: in the end a single ref is refused. */
  #yield(step: PlannedStep, reason: string): void {
    const isLarge = step.packBytes >= MIN_REFUSED_BYTES;
    const error = new GitError("invalid", { what: "pack for the target", reason });
    // After several failures the limit is also lowered for a push that cannot be smaller, so that
    // it is not sent forever.
    if (isLarge && (step.canShrink || this.#requireRecord().failures >= MAX_UNTAKEN)) this.#sendLess(step);
    if (step.updates.length > 1) this.#maxUpdates = Math.ceil(step.updates.length / 2);
    else if (!isLarge || !step.canShrink) {
      this.#untaken = error;
      return this.#refuse(step, `the target did not take its objects: ${reason}`);
    }
    this.#retreats += 1;
    if (this.#retreats > MAX_RETREATS) throw error;
  }

  #sendLess({ packBytes }: PlannedStep): void {
    this.#update({ maxPackBytes: Math.ceil(packBytes / 2) - 1 });
  }

  #refuse({ updates }: PlannedStep, refusal: string): void {
    for (const { name } of updates) this.#refused.set(name, refusal);
    this.#transact(({ mirrors }) => {
      for (const { name, old } of updates) mirrors.putRef(this.#id, { name, oid: toOid(old), refusal });
    });
  }

  /** Records the result of a push that the target accepted. */
  #note(target: TargetRefs, { updates, plan, packBytes }: PlannedStep, report: PushReport, left: LeftLfs): void {
    const outcomes: MirroredRef[] = [];
    for (const update of updates) {
      const { name } = update;
      const refusal = report.refs.get(name) ?? null;
      const there = toOid(refusal === null ? update.new : update.old);
      outcomes.push({ name, oid: there, refusal });
      if (refusal !== null) this.#refused.set(name, refusal);
      else if (there === null) target.refs.delete(name);
      else {
        target.refs.set(name, update.new);
        target.haves.add(update.new);
      }
    }
    const record = this.#requireRecord();
    this.#transact(({ mirrors }) => {
      for (const outcome of outcomes) mirrors.putRef(this.#id, outcome);
      mirrors.update({
        ...record,
        failures: 0,
        pushes: record.pushes + 1,
        objects: record.objects + (plan?.objectCount ?? 0),
        packBytes: record.packBytes + packBytes,
        lfs: addLeft(record.lfs ?? null, left),
      });
    });
  }

  async *#read(plan: PackPlan, note: (bytes: number) => void): AsyncGenerator<Uint8Array, void, void> {
    const { platform } = this.#state;
    for await (const slices of streamPack(plan, platform.openChunks(newChunkCounters()), platform.codec)) {
      // The mirror may have been deleted or changed since the push began.
      this.#requireRecord();
      for (const slice of slices) {
        note(slice.length);
        yield slice;
      }
    }
  }

  get #limits(): StepLimits {
    return {
      updates: this.#maxUpdates,
      // The limits that another Holdfast server has as a target.
      objects: Math.min(this.#state.platform.limits.maxPackObjects, MAX_MIRROR_PACK_OBJECTS),
      packBytes: Math.min(this.#requireRecord().maxPackBytes ?? MAX_MIRROR_PACK_BYTES, MAX_MIRROR_PACK_BYTES),
    };
  }

  #update(change: Partial<MirrorRecord>): void {
    const record = this.#requireRecord();
    const isSame = Object.entries(change).every(([key, value]) => record[key as keyof MirrorRecord] === value);
    if (!isSame) this.#transact(({ mirrors }) => mirrors.update({ ...record, ...change }));
  }

  #transact(f: (tables: Tables) => void): void {
    this.#state.transactAside(() => f(this.#tables));
  }

  /** Reads the mirror's record.
   * @throws GitError "conflict" when it was changed or deleted since the run began */
  #requireRecord(): MirrorRecord {
    const record = this.#tables.mirrors.find(this.#id);
    if (record?.session === this.#session) return record;
    throw new GitError("conflict", { what: "mirror", reason: "it was changed" });
  }

  get #tables(): Tables {
    const { tables } = this.#state;
    if (tables === null) throw new GitError("not-found", { subject: "repository" });
    return tables;
  }
}

function addLeft(lfs: MirroredLfs | null, { missing, refused, refusal }: LeftLfs): MirroredLfs | null {
  return (
    lfs && {
      ...lfs,
      missing: lfs.missing + missing,
      refused: lfs.refused + refused,
      refusal: refusal ?? lfs.refusal,
    }
  );
}

function toOid(hex: string): Uint8Array | null {
  return hex === NULL_OID_HEX ? null : fromHex(hex);
}

/** Records the refs that a target lists, and those that it is not sent; writes only changes. Must
 * run in a transaction.
 * @param there ids in hex by name
 * @param refused reasons by name */
function noteTarget(
  { refs, mirrors }: Tables,
  { id, prefixes }: MirrorRecord,
  there: ReadonlyMap<string, string>,
  refused: ReadonlyMap<string, string>,
): void {
  const unknown = new Set(refs.withPrefixes(prefixes).names);
  const describe = (name: string): MirroredRef => {
    const oid = there.get(name);
    return { name, oid: oid === undefined ? null : fromHex(oid), refusal: refused.get(name) ?? null };
  };
  const changed: MirroredRef[] = [];
  for (const former of mirrors.refs(id)) {
    const isHere = unknown.delete(former.name);
    const now = isHere ? describe(former.name) : { name: former.name, oid: null, refusal: null };
    if (!isSame(former, now)) changed.push(now);
  }
  for (const name of unknown) {
    const now = describe(name);
    if (now.oid !== null || now.refusal !== null) changed.push(now);
  }
  for (const ref of changed) mirrors.putRef(id, ref);
}

function isSame(a: MirroredRef, b: MirroredRef): boolean {
  const hasSameOid = a.oid === null || b.oid === null ? a.oid === b.oid : equalOids(a.oid, b.oid);
  return hasSameOid && a.refusal === b.refusal;
}
