import { pause } from "./time-slice.ts";

/** Time within which successive items come from several clients, in ms: a client that waits for
 * each response takes longer. */
const SEVERAL_WITHIN_MS = 4;

/** Time to wait for further items, in ms. Requests sent at the same time arrive one by one;
 * without the wait, the first would be processed before the rest arrive. */
const OTHERS_COME_WITHIN_MS = 2;

/** Time after a shared run within which another one is likely, in ms. */
const SEVERAL_AGAIN_MS = 1_000;

/** A mutex by name: tasks of the same name run one after the other, in order of arrival. */
export class KeyedMutex {
  /** Promises by name, each of which ends with the last waiting task. */
  readonly #ends = new Map<string, Promise<void>>();
  /** Gathered items that wait for the lock, by name. */
  readonly #gathered = new Map<string, unknown[]>();
  /** Times of the last gathered item, and of the last run with several items (ms since 1970). */
  #cameMs = -Infinity;
  #sharedMs = -Infinity;

  /** Runs `f` when all earlier tasks of the same name have ended. */
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

  /** Gathers items of the same name while the first waits for the lock, and runs them together.
   * @param f receives all items gathered until it gets the lock, in order, and must not throw; the
   * same function for every item of a name */
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

  /** Whether more items are likely to arrive together with this one. */
  #areSeveral(nowMs: number): boolean {
    const beforeMs = this.#cameMs;
    this.#cameMs = nowMs;
    return nowMs - beforeMs <= SEVERAL_WITHIN_MS || nowMs - this.#sharedMs <= SEVERAL_AGAIN_MS;
  }
}
