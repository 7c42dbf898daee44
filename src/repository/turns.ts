/** Has those who would write the same wait for each other, in the order in which they came. */
export class Turns {
  /** Ends with the last one that waits, by what it is to write. */
  readonly #ends = new Map<string, Promise<void>>();

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
}
