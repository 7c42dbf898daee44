import { pause } from "./time-slice.ts";

/** Items that follow each other within this time (ms) come from several clients: one that waits for
 * each response takes longer. */
const SEVERAL_WITHIN_MS = 4;

/** How long to wait for others (ms): requests sent at the same time arrive one by one, and gathered
 * items would otherwise be processed before the rest arrive. */
const OTHERS_COME_WITHIN_MS = 2;

/** How long after a shared run another one is likely (ms). */
const SEVERAL_AGAIN_MS = 1_000;

/** A mutex by name: tasks of the same name run one after the other, in order of arrival. */
export class KeyedMutex {
  /** By name, a promise that ends with the last waiting task. */
  readonly #ends = new Map<string, Promise<void>>();
  /** Gathered items that wait for the lock, by name. */
  readonly #gathered = new Map<string, unknown[]>();
  /** When an item was last gathered, and when several last ran together (ms since 1970). */
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

  /** Whether more items are likely to arrive at the same time as this one. */
  #areSeveral(nowMs: number): boolean {
    const beforeMs = this.#cameMs;
    this.#cameMs = nowMs;
    return nowMs - beforeMs <= SEVERAL_WITHIN_MS || nowMs - this.#sharedMs <= SEVERAL_AGAIN_MS;
  }
}
