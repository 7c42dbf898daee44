import { pause } from "./pause.ts";

/** Those who come one after the other with no more between them (ms) are several: one who waits for each answer takes longer. */
const SEVERAL_WITHIN_MS = 4;

/** How long one waits for the others (ms): what comes at once is heard of by and by, while what was heard of is done without a wait. */
const OTHERS_COME_WITHIN_MS = 2;

/** How long after several took a turn together it is likely that they come again (ms). */
const SEVERAL_AGAIN_MS = 1_000;

/** Has those who would write the same wait for each other, in the order in which they came. */
export class KeyedMutex {
  /** Ends with the last one that waits, by what it is to write. */
  readonly #ends = new Map<string, Promise<void>>();
  /** What has been gathered and waits for its turn, by what is to be written. */
  readonly #gathered = new Map<string, unknown[]>();
  /** When something was gathered last, and when several last had their turn together (ms since 1970). */
  #cameMs = -Infinity;
  #sharedMs = -Infinity;

  /** Runs `f` when everything that came before, for the same, has ended. */
  async take<Result>(name: string, f: () => Promise<Result>): Promise<Result> {
    const before = this.#ends.get(name);
    const { promise: end, resolve: leave } = Promise.withResolvers<void>();
    this.#ends.set(name, end);
    await before;
    try {
      return await f();
    } finally {
      if (this.#ends.get(name) === end) this.#ends.delete(name);
      leave();
    }
  }

  /** Has what comes for the same while it waits take its turn together, which is that of the first.
   * @param f takes all that came until the turn began, in that order, and does not throw; one function for all that comes for a name */
  gather<Item>(name: string, item: Item, f: (items: readonly Item[]) => Promise<void>): void {
    const areSeveral = this.#areSeveral(Date.now());
    const gathered = this.#gathered.get(name) as Item[] | undefined;
    if (gathered !== undefined) {
      gathered.push(item);
      return;
    }
    const items = [item];
    this.#gathered.set(name, items);
    void this.take(name, async () => {
      if (areSeveral) await pause(OTHERS_COME_WITHIN_MS);
      this.#gathered.delete(name);
      this.#sharedMs = items.length > 1 ? Date.now() : -Infinity;
      await f(items);
    });
  }

  /** Whether others are likely to come at the same time as one who comes now. */
  #areSeveral(nowMs: number): boolean {
    const beforeMs = this.#cameMs;
    this.#cameMs = nowMs;
    return nowMs - beforeMs <= SEVERAL_WITHIN_MS || nowMs - this.#sharedMs <= SEVERAL_AGAIN_MS;
  }
}
