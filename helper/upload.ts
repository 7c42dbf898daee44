import type { Api } from "./api.ts";
import { findLocal } from "./git.ts";
import { Plan } from "./plan.ts";
import type { Progress } from "./progress.ts";
import type { PackedStep, Saved, SavedUpload } from "./saved.ts";
import type { Sizes } from "./sizes.ts";
import { findUpload, listNew, noteStep, type Status, StepSender, TooLargeStep } from "./steps.ts";
import { ApiError } from "./transport.ts";

/** One ref to move. Ids are hex; null: absent. */
export interface RefMove {
  readonly name: string;
  readonly old: string | null;
  readonly new: string | null;
}

/** A push that is too large for one request. */
interface LargePush {
  readonly moves: readonly RefMove[];
  readonly atomic: boolean;
  readonly options: readonly string[];
  /** Ids of the server's refs. */
  readonly had: readonly string[];
  /** Its steps, if nothing has been sent yet. */
  readonly plan: Plan;
}

/** By name, the reason why a ref did not move; null: it moved. */
type Refusals = ReadonlyMap<string, string | null>;

/** Sends a push in steps, or continues an interrupted one.
 * @param say prints a line for the user
 * @throws ApiError, Error */
export async function sendLargePush(
  api: Api,
  saved: Saved,
  push: LargePush,
  sizes: Sizes,
  progress: Progress,
  say: (line: string) => void,
): Promise<Refusals> {
  const upload = new Upload(api, saved, push, sizes, progress, say);
  return upload.run();
}

class Upload {
  readonly #api: Api;
  readonly #saved: Saved;
  readonly #push: LargePush;
  readonly #progress: Progress;
  readonly #say: (line: string) => void;
  readonly #wanted: readonly string[];
  #sizes: Sizes;
  #upload: SavedUpload = { id: "", options: [], nextPart: 1, steps: [] };
  /** Null: it must be planned anew, since a part was sent, or its steps were too large. */
  #plan: Plan | null;
  /** The last step that the server refused as too large, and the reason; null: none. */
  #refused: { readonly tips: readonly string[]; readonly reason: string } | null = null;
  /** Ids, mostly of commits, that the server has or that are packed for it. */
  #had = new Set<string>();

  constructor(api: Api, saved: Saved, push: LargePush, sizes: Sizes, progress: Progress, say: (line: string) => void) {
    this.#api = api;
    this.#saved = saved;
    this.#push = push;
    this.#sizes = sizes;
    this.#progress = progress;
    this.#say = say;
    this.#plan = push.plan;
    this.#wanted = [...new Set(push.moves.flatMap((move) => move.new ?? []))];
  }

  async run(): Promise<Refusals> {
    for (;;) {
      const status = await this.#open();
      const sizes = this.#sizes.within(status.limits);
      if (!sizes.isSame(this.#sizes)) await this.#dropPlan();
      this.#sizes = sizes;
      try {
        await this.#sendSteps(status);
        break;
      } catch (error) {
        if (!(error instanceof TooLargeStep)) throw error;
        const smaller = this.#sizes.smallerThan(error.step);
        if (smaller === null) throw error;
        this.#refused = { tips: error.step.tips, reason: error.message };
        this.#sizes = smaller;
        await this.#dropPlan();
        this.#forgetSteps();
      }
    }
    return this.#complete();
  }

  /** Continues the interrupted session, or begins another. */
  async #open(): Promise<Status> {
    const isCut = this.#upload.id === "";
    const known = isCut ? this.#saved.read() : this.#upload;
    if (known !== null) {
      const status = await findUpload(this.#api, known.id);
      const isSame = known.options.join("\n") === this.#push.options.join("\n");
      if (status !== null && !status.complete && isSame) {
        this.#upload = known;
        if (status.steps + known.steps.length > 0) await this.#dropPlan();
        await this.#resume(status);
        if (isCut && status.objects > 0) this.#say(`Going on with an upload: ${status.objects} objects are there`);
        return status;
      }
    }
    this.#saved.dropAll();
    const { moves, atomic, options } = this.#push;
    const status = await this.#begin({ refs: moves, atomic, options });
    this.#upload = { id: status.id, options, nextPart: 1, steps: [] };
    this.#saved.write(this.#upload);
    this.#had = new Set(this.#push.had);
    return status;
  }

  async #begin(wanted: object): Promise<Status> {
    try {
      return await this.#api.ask<Status>("POST", "/uploads", { json: wanted });
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 404)) throw error;
    }
    await this.#createRepository();
    return this.#api.ask<Status>("POST", "/uploads", { json: wanted });
  }

  async #createRepository(): Promise<void> {
    const { owner, name } = this.#api.place;
    try {
      await this.#api.ask("POST", "//repos", { json: { owner, name } });
      this.#say(`Created ${owner}/${name}`);
    } catch (error) {
      // Another push has created the repository meanwhile, or this one, whose answer was lost.
      if (!(error instanceof ApiError && error.status === 409)) throw error;
    }
  }

  /** Keeps the packed steps that must still be sent: the server may have indexed some, and the user
   * may now push other commits. */
  async #resume({ tips }: Status): Promise<void> {
    const there = await findLocal([...this.#push.had, ...tips]);
    this.#had = new Set([...this.#push.had, ...tips]);
    const { steps: packed } = this.#upload;
    const first = await firstIndex(packed, async (step) => (await listNew(step.tips, there)) > 0);
    this.#saved.drop(packed.slice(0, first).flatMap(({ parts }) => parts));
    this.#upload.steps = packed.slice(first);
    const isWanted = (step: PackedStep): Promise<boolean> =>
      listNew(step.tips, this.#wanted).then((count) => count === 0);
    for (const step of this.#upload.steps) if (!(await isWanted(step))) return this.#forgetSteps();
    for (const step of this.#upload.steps) noteStep(this.#had, step);
    this.#saved.write(this.#upload);
  }

  async #sendSteps(status: Status): Promise<void> {
    const plan = (this.#plan ??= Plan.cut(this.#wanted, [...this.#had], this.#sizes.step));
    try {
      // A single commit that is too large is not sent again.
      const next = this.#refused === null ? null : await plan.first();
      if (next !== null && next.tips.join() === this.#refused?.tips.join()) throw new Error(this.#refused.reason);
      const context = {
        api: this.#api,
        saved: this.#saved,
        sizes: this.#sizes,
        progress: this.#progress,
        say: this.#say,
        upload: this.#upload,
        had: this.#had,
      };
      await new StepSender(context, status).send(plan);
    } finally {
      await this.#dropPlan();
    }
  }

  /** Drops the packed steps. The numbers of their parts are not used again. */
  #forgetSteps(): void {
    this.#saved.drop(this.#upload.steps.flatMap(({ parts }) => parts));
    this.#upload.steps = [];
    this.#saved.write(this.#upload);
  }

  async #dropPlan(): Promise<void> {
    await this.#plan?.stop();
    this.#plan = null;
  }

  async #complete(): Promise<Refusals> {
    const { moves, atomic } = this.#push;
    const { id } = this.#upload;
    const result = await this.#api.ask<{ refs: { name: string; refused: string | null }[] }>(
      "POST",
      `/uploads/${id}/complete`,
      { json: { refs: moves, atomic } },
    );
    if (result.refs.some(({ refused }) => refused === null)) {
      // The server would end the session by itself after a day.
      await this.#api.ask("DELETE", `/uploads/${id}`).catch(() => undefined);
      this.#saved.clear();
    }
    return new Map(result.refs.map(({ name, refused }) => [name, refused]));
  }
}

/** Returns the index of the first value that meets a condition; if none does, the number of
 * values. */
async function firstIndex<T>(values: readonly T[], meets: (value: T) => Promise<boolean>): Promise<number> {
  for (const [i, value] of values.entries()) if (await meets(value)) return i;
  return values.length;
}
