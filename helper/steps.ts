import { setTimeout as sleep } from "node:timers/promises";
import type { Api } from "./api.ts";
import { findLocal, git } from "./git.ts";
import { PackBody } from "./pack-body.ts";
import { type Part, RunningPack } from "./packs.ts";
import type { Plan, PlannedStep, Step } from "./plan.ts";
import type { Progress } from "./progress.ts";
import type { PackedStep, Saved, SavedUpload } from "./saved.ts";
import type { Sizes } from "./sizes.ts";
import { Sending } from "./sending.ts";
import { ApiError } from "./transport.ts";

/** The server's view of the session. */
export interface Status {
  readonly id: string;
  readonly complete: boolean;
  readonly steps: number;
  readonly objects: number;
  readonly tips: readonly string[];
  readonly parts: readonly { readonly part: number; readonly checksum: string }[];
  readonly underWay: unknown;
  readonly limits: { readonly partBytes: number; readonly stepBytes: number; readonly stepObjects: number };
}

/** Maximum number of packed steps that wait for the server: they take disk space. */
const AHEAD = 2;

/** Interval (ms) at which the server is asked whether an interrupted step goes on. */
const LOOK_MS = 1_000;

/** Minimum size of a part, in bytes, except for the last: after a smaller one the server does not
 * wait for the next. */
const MIN_INNER_PART_BYTES = 1024 * 1024;

/** Maximum number of tips that the server accepts in a URL. */
const MOST_SENT_TIPS = 100;

/** The server cannot index a step; smaller steps may work. */
export class TooLargeStep extends Error {
  readonly step: Step;

  constructor(step: Step, message: string) {
    super(message);
    this.step = step;
  }
}

/** Environment for sending the steps of a session. */
interface StepContext {
  readonly api: Api;
  readonly saved: Saved;
  readonly sizes: Sizes;
  readonly progress: Progress;
  /** Prints a line for the user. */
  say(line: string): void;
  /** State of the session: steps are added when they are packed, and removed when they are
   * indexed. */
  readonly upload: SavedUpload;
  /** Ids, mostly of commits, that the server has or that are packed for it. */
  readonly had: Set<string>;
}

/** A step whose pack is being made or complete. */
interface StepUnderWay {
  readonly step: Step;
  readonly packing: Promise<PackedStep>;
  /** The beginning of the pack, sent as a body; null: the whole pack is sent in parts. */
  readonly body: PackBody | null;
}

/** Packs, sends and indexes the steps of a session. Packing runs ahead of sending, and sending
 * ahead of indexing, but steps are indexed in order. */
export class StepSender {
  readonly #context: StepContext;
  readonly #sending: Sending;
  readonly #stop = new AbortController();
  /** Bodies that have not been sent. */
  readonly #bodies = new Set<PackBody>();
  #isSlow = false;
  /** The highest number of a part that the server had at the start. */
  readonly #lastThere: number;
  #last: Promise<void> = Promise.resolve();
  readonly #running: Promise<void>[] = [];
  #indexed = 0;

  constructor(context: StepContext, { parts }: Pick<Status, "parts">) {
    this.#context = context;
    const { api, saved, upload, progress } = context;
    this.#sending = new Sending(api, saved, upload.id, parts, (bytes) => progress.count(bytes));
    this.#lastThere = parts.reduce((last, { part }) => Math.max(last, part), 0);
  }

  /** Sends the steps that were packed earlier, then those of a plan.
   * @throws TooLargeStep, ApiError, Error */
  async send(plan: Plan): Promise<void> {
    const waiting = [...this.#context.upload.steps];
    const waitingObjects = waiting.reduce((sum, step) => sum + step.objects, 0);
    const show = (): void => {
      const total = plan.isWhole ? waitingObjects + plan.objects : null;
      this.#context.progress.show("Sending objects", this.#indexed, total);
    };
    show();
    try {
      for (const step of waiting) {
        for (const part of step.parts) this.#sending.add(part);
        this.#follow({ step, packing: Promise.resolve(step), body: null }, show);
      }
      for await (const step of plan.take()) {
        while (this.#running.length > AHEAD) await this.#running.shift();
        const underWay = this.#pack(step);
        this.#follow(underWay, show);
        // A step that is refused during packing ends the packing.
        await Promise.race([underWay.packing, this.#last.then(() => underWay.packing)]);
      }
      if (plan.count + waiting.length > 1)
        this.#context.say(`Sending ${waitingObjects + plan.objects} objects in ${plan.count + waiting.length} steps`);
      show();
      for (const one of this.#running) await one;
    } finally {
      this.#stop.abort();
      this.#sending.stop();
      await Promise.allSettled([...this.#running, this.#last]);
    }
  }

  /** Has a step indexed after the previous ones. */
  #follow({ step, packing, body }: StepUnderWay, show: () => void): void {
    const before = this.#last;
    this.#last = (async () => {
      await before;
      if (body === null || !(await this.#sendBody(step, body))) {
        const packed = await packing;
        await this.#sending.awaitParts(packed.parts);
        await this.#index(packed);
      }
      this.#finish(await packing);
      show();
    })();
    // The loop in `send` awaits it, in order.
    this.#last.catch(() => this.#sending.stop());
    this.#running.push(this.#last);
  }

  #pack({ pack: begun, ...step }: PlannedStep): StepUnderWay {
    const { upload, saved, sizes, had } = this.#context;
    const from = upload.nextPart;
    const parts: Part[] = [];
    const body = this.#openBody(step, from);
    const ready = (part: Part): void => {
      parts.push(part);
      upload.nextPart = part.number + 1;
      if (body?.takes(part) !== true) this.#sending.add(part);
    };
    const packing = (async () => {
      try {
        const pack = begun ?? RunningPack.start(step.tips, await findLocal(had));
        if (this.#stop.signal.aborted) pack.stop();
        this.#stop.signal.addEventListener("abort", () => pack.stop(), { once: true });
        const pathOf = (part: number): string => saved.pathOf(part);
        await pack.write({ sizes: sizes.parts(), first: from, pathOf, ready });
      } catch (error) {
        saved.drop(parts);
        throw error;
      } finally {
        body?.end();
      }
      const packed = { ...step, parts };
      noteStep(had, step);
      upload.steps.push(packed);
      saved.write(upload);
      return packed;
    })();
    // Callers that await it get the error.
    packing.catch(() => undefined);
    return { step, packing, body };
  }

  /** Opens a body for a step's pack.
   * @param from the number of the step's first part
   * @returns null: the pack is sent in parts */
  #openBody({ tips }: Step, from: number): PackBody | null {
    const { sizes, saved } = this.#context;
    // The server may have a part of another pack under one of this pack's numbers.
    const isAlone = from > this.#lastThere && sizes.parts().next().value >= MIN_INNER_PART_BYTES;
    if (this.#isSlow || !isAlone || tips.length > MOST_SENT_TIPS) return null;
    const body = new PackBody(from, sizes.parts(), sizes.bodyBytes, (part) => saved.pathOf(part));
    this.#bodies.add(body);
    return body;
  }

  /** Sends the content of a body as parts. */
  #giveUp(body: PackBody): void {
    for (const part of body.giveUp()) this.#sending.add(part);
  }

  /** Sends a step's pack, its beginning as a body, and has it indexed meanwhile.
   * @returns false: the pack is sent in parts, which the server indexes once all have arrived */
  async #sendBody(step: Step, body: PackBody): Promise<boolean> {
    const { api, upload, progress } = this.#context;
    // The body may have been given up while an earlier step was sent.
    if (!this.#bodies.delete(body)) return false;
    try {
      const path = `/uploads/${upload.id}/packs?tips=${step.tips.join(",")}&from=${body.from}`;
      const sent = (bytes: number): void => progress.count(bytes);
      await api.ask("POST", path, { pieces: body.read() }, { tries: 1, signal: this.#stop.signal, sent });
      return true;
    } catch (error) {
      this.#isSlow ||= body.isSlow;
      if (error instanceof ApiError && isTooLarge(error)) throw new TooLargeStep(step, error.message);
      if (error instanceof ApiError && isFinal(error)) throw error;
      const isCut = !(error instanceof ApiError) && !this.#isSlow && !this.#stop.signal.aborted;
      if (isCut && (await this.#isThere(step))) return true;
      this.#giveUp(body);
      if (this.#isSlow) {
        for (const other of this.#bodies) this.#giveUp(other);
        this.#bodies.clear();
      }
      return false;
    }
  }

  /** Whether the server has a step although its answer was lost: it may have finished, or still be
   * indexing. */
  async #isThere(step: Step): Promise<boolean> {
    const { api, upload } = this.#context;
    for (;;) {
      const status = await findUpload(api, upload.id);
      if (status === null) return false;
      if (status.underWay === null) return (await listNew(step.tips, await findLocal(status.tips))) === 0;
      await sleep(LOOK_MS);
    }
  }

  /** Has a step indexed whose parts have arrived. If the connection is interrupted, the server may
   * have finished, or still be indexing. */
  async #index(step: PackedStep): Promise<void> {
    const { api, upload } = this.#context;
    const numbers = step.parts.map(({ number }) => number);
    for (;;) {
      try {
        await api.ask("POST", `/uploads/${upload.id}/steps`, { json: { parts: numbers, tips: step.tips } });
        return;
      } catch (error) {
        if (error instanceof ApiError && isTooLarge(error)) throw new TooLargeStep(step, error.message);
        const isUnsure = error instanceof ApiError && (error.status === 409 || error.status === 422);
        const status = isUnsure ? await findUpload(api, upload.id) : null;
        if (status === null) throw error;
        if (status.underWay !== null) await sleep(LOOK_MS);
        else if (numbers.every((number) => status.parts.some(({ part }) => part === number))) throw error;
        else if ((await listNew(step.tips, await findLocal(status.tips))) === 0) return;
        else throw error;
      }
    }
  }

  #finish(step: PackedStep): void {
    const { upload, saved } = this.#context;
    upload.steps = upload.steps.filter((other) => other !== step);
    saved.write(upload);
    saved.drop(step.parts);
    this.#indexed += step.objects;
  }
}

/** Whether a step exceeds a limit of the server that smaller steps may meet: not the repository's
 * quota, and not the limit on a single file. */
function isTooLarge({ status, code, limitKind }: ApiError): boolean {
  return status === 413 && code !== null && limitKind !== "quota" && limitKind !== "object";
}

/** Whether a step is refused for its content, not for the way its pack was sent. An older server
 * answers 404 to packs in bodies. */
function isFinal({ status, code }: ApiError): boolean {
  const mayPass = [404, 408, 409, 429].includes(status) || status >= 500;
  return code !== null && !mayPass && code !== "invalid" && code !== "corrupt-pack";
}

/** Updates the set of ids that the server has by a step that it will have. */
export function noteStep(had: Set<string>, { tips, covers }: Pick<Step, "tips" | "covers">): void {
  for (const oid of covers) had.delete(oid);
  for (const oid of tips) had.add(oid);
}

/** Finds an upload session. @returns null: it has ended */
export async function findUpload(api: Api, id: string): Promise<Status | null> {
  try {
    return await api.ask<Status>("GET", `/uploads/${id}`);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

/** Whether objects reach commits or tags that others do not: counts up to the first of them.
 * @returns 0 or 1 */
export async function listNew(tips: readonly string[], known: readonly string[]): Promise<number> {
  const args = ["rev-list", "--objects", "--no-object-names", "--max-count=1", "--stdin"];
  const lines = (await git(args, [...tips, ...known.map((oid) => `^${oid}`)])).split("\n");
  return lines[0] === "" ? 0 : 1;
}
