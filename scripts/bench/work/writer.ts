/** Somebody who saves. */
import type { Edit } from "./edit.ts";

/** A writer of one branch of one repository. */
export interface Writer {
  readonly url: string;
  readonly branch: string;
  /** Learns what the branch holds by now. */
  catchUp(): Promise<void>;
  /** Saves, again and again until the edit is in the branch.
   * @throws Error if it is refused for another reason than that others have saved meanwhile */
  save(edit: Edit): Promise<Saved>;
}

/** How a save went. */
export interface Saved {
  /** How long each step took (ms), all attempts together. */
  readonly steps: Readonly<Record<string, number>>;
  /** How often what others had saved was merged. */
  readonly merges: number;
  /** How often it could not be, so that the edit was made anew. */
  readonly conflicts: number;
  /** How often somebody else was faster, so that it was tried again. */
  readonly retries: number;
}

/** Attempts after which a save counts as hopeless. */
export const MAX_ATTEMPTS = 1000;

/** Times what is done under names. */
export class StepClock {
  readonly #steps: Record<string, number> = {};

  /** Runs a step, and adds what it took to what it took before. */
  async time<Result>(step: string, run: () => Promise<Result>): Promise<Result> {
    const start = performance.now();
    try {
      return await run();
    } finally {
      this.#steps[step] = (this.#steps[step] ?? 0) + performance.now() - start;
    }
  }

  /** ms by step, in the order of their first runs. */
  get steps(): Readonly<Record<string, number>> {
    return this.#steps;
  }
}
